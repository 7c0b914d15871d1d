package kfm.ai_test

import data.kfm.ai

test_answer_releases if {
	decision := ai.answer with input as asked("answer")
	decision == {"effect": "allow", "reasons": set(), "obligations": set(), "admit": ["e1"]}
}

test_answer_without_support_abstains if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/support_milli", 0)
	codes(decision) == {"UNSUPPORTED_SENTENCE"}
	ops(decision) == {"drop_sentence", "abstain"}
	decision.admit == []
}

test_answer_with_a_foreign_citation if {
	decision := ai.answer with input as changed("answer", "/prior/admit", ["e2"])
	codes(decision) == {"CITATION_NOT_ADMITTED"}
}

test_answer_sentence_that_leaks_is_dropped if {
	finding := {"kind": "canary", "start": 0, "end": 3}
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/findings", [finding])
	codes(decision) == {"LEAK"}
	"drop_sentence" in ops(decision)
	decision.admit == []
}

test_answer_notice if {
	decision := ai.answer with input as changed("answer", "/evidence/0/label", "internal")
	ops(decision) == {"append_notice"}
}
