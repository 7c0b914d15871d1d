package kfm.ai_test

import data.kfm.ai

test_a_marker_allows if ai.allow_answer with input as {"answer": "Topeka [1]."}

test_no_marker_refuses if {
	every text in ["", "Topeka.", "Topeka [].", "Topeka [a].", "Topeka [1"] {
		not ai.allow_answer with input as {"answer": text}
	}
}

test_an_admitted_citation_allows if {
	draft := {"sentences": [{"citations": ["e1"]}]}
	ai.allow_answer with input as {"answer": draft, "prior": {"admit": ["e1"]}}
	not ai.allow_answer with input as {"answer": draft, "prior": {"admit": ["e2"]}}
	not ai.allow_answer with input as {"answer": draft}
}
