package kfm.ai_test

import data.kfm.ai

# An allowed input of each point; the tests beside each rule file change one thing.

asker := {
	"id": "u1",
	"tenant": "t1",
	"roles": ["contributor"],
	"groups": [],
	"capabilities": [],
	"clearance": "internal",
	"session_expires_ms": null,
}

class := {
	"id": "k1",
	"tenant": "t1",
	"collection": "census",
	"label": "public",
	"handling": [],
	"groups": [],
	"owner_group": null,
	"allow_list": [],
}

item := {
	"id": "e1",
	"class_id": "k1",
	"tenant": "t1",
	"label": "public",
	"handling": [],
	"groups": [],
	"lifecycle": "active",
	"valid_until_ms": null,
	"sha256": "aa",
	"indexed_sha256": "aa",
	"findings": [],
	"injection": {"score_milli": 0, "rules": []},
}

sentence := {
	"i": 0,
	"catalogue": null,
	"citations": ["e1"],
	"support_milli": 900,
	"findings": [],
	"claims": [{"kind": "figure", "verdict": "borne_out"}],
	"answers": true,
	"appeals": {"kinds": [], "asked": [], "collections": ["census"], "quoted": false},
}

asked(point) := {
	"schema": "exhibit.policy.input/1",
	"point": point,
	"now_ms": 1000,
	"request": {"id": "r1", "collections": []},
	"subject": asker,
	"prompt": {"chars": 9, "verdict": "ALLOW", "risk": 0, "classes": []},
	"classes": [class],
	"evidence": [item],
	"answer": {"model": "m", "markers": [1], "sentences": [sentence]},
	"prior": {"query": "q", "evidence": "e", "admit": prior_admit[point]},
}

prior_admit := {"query": [], "evidence": ["k1"], "answer": ["e1"]}

changed(point, path, value) := json.patch(asked(point), [{"op": "replace", "path": path, "value": value}])

codes(decision) := {reason.code | some reason in decision.reasons}

ops(decision) := {obligation.op | some obligation in decision.obligations}

nothings := [{}, [], null, "", 0]

# METADATA
# custom: {rules: [Q01, Q07]}
test_the_empty_query_is_denied if {
	every nothing in nothings {
		decision := ai.query with input as nothing
		decision.effect == "deny"
	}
}

# METADATA
# custom: {rules: [Q01, E01, E02, E03]}
test_the_empty_evidence_is_denied if {
	every nothing in nothings {
		decision := ai.evidence with input as nothing
		decision.effect == "deny"
	}
}

# METADATA
# custom: {rules: [Q01, A01, A02, A03]}
test_the_empty_answer_is_denied if {
	every nothing in nothings {
		decision := ai.answer with input as nothing
		decision.effect == "deny"
	}
}

# METADATA
# custom: {rules: [Q02]}
test_a_denial_carries_nothing_else if {
	decision := ai.evidence with input as changed("evidence", "/subject/id", "")
	decision == {
		"effect": "deny",
		"reasons": [ai.reason("Q02", "SUBJECT_INVALID")],
		"obligations": [],
		"admit": [],
	}
}

# METADATA
# custom: {rules: [Q12]}
test_a_duplicate_class_is_not_admitted if {
	decision := ai.query with input as changed("query", "/classes", [class, class])
	decision.obligations[_].params.classes == []
}
