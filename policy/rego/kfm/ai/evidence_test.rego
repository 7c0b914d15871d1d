package kfm.ai_test

import data.kfm.ai

test_evidence_admits if {
	decision := ai.evidence with input as asked("evidence")
	decision == {"effect": "allow", "reasons": [], "obligations": [], "admit": ["e1"]}
}

test_evidence_without_one_guard_is_not_admitted if {
	guards := [
		"id", "class_id", "tenant", "label", "handling", "groups", "lifecycle", "valid_until_ms", "sha256",
		"indexed_sha256", "injection",
	]
	every key in guards {
		decision := ai.evidence with input as changed("evidence", "/evidence/0", object.remove(item, [key]))
		decision.admit == []
	}
}

test_evidence_out_of_scope if {
	decision := ai.evidence with input as changed("evidence", "/prior/admit", [])
	codes(decision) == {"CLASS_OUT_OF_SCOPE"}
	decision.admit == []
}

test_evidence_obligations if {
	tagged := ai.evidence with input as changed("evidence", "/evidence/0/handling", ["sensitive_location", "pii"])
	ops(tagged) == {"generalise_geometry", "redact"}
	tagged.admit == ["e1"]
	suspicious := ai.evidence with input as changed("evidence", "/evidence/0/injection/score_milli", 499)
	ops(suspicious) == {"datamark"}
	hostile := ai.evidence with input as changed("evidence", "/evidence/0/injection/score_milli", 500)
	ops(hostile) == {"drop"}
	hostile.admit == []
}
