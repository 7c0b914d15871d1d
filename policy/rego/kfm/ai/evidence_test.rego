package kfm.ai_test

import data.kfm.ai

# METADATA
# custom: {rules: [E05]}
test_evidence_admits if {
	decision := ai.evidence with input as asked("evidence")
	decision == {"effect": "allow", "reasons": [], "obligations": [], "admit": ["e1"]}
}

# METADATA
# custom: {rules: [E05, E06, E07, E08, E09, E10, E11, E12]}
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

# METADATA
# custom: {rules: [E05]}
test_evidence_out_of_scope if {
	decision := ai.evidence with input as changed("evidence", "/prior/admit", [])
	codes(decision) == {"CLASS_OUT_OF_SCOPE"}
	decision.admit == []
}

# METADATA
# custom: {rules: [E14, E15, E16]}
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

# METADATA
# custom: {rules: [E04]}
test_evidence_with_one_id_for_two_items if {
	decision := ai.evidence with input as changed("evidence", "/evidence", [item, item])
	codes(decision) == {"ID_INVALID"}
	decision.admit == []
}

# METADATA
# custom: {rules: [E13]}
test_evidence_that_instructs_is_dropped if {
	decision := ai.evidence with input as changed("evidence", "/evidence/0/injection/score_milli", 500)
	codes(decision) == {"INJECTION_SUSPECTED"}
	ops(decision) == {"drop"}
	decision.admit == []
}

# METADATA
# custom: {rules: [E17]}
test_evidence_that_was_not_examined if {
	every findings in [null, "none", [{}], [{"start": 0, "end": 3}]] {
		decision := ai.evidence with input as changed("evidence", "/evidence/0/findings", findings)
		codes(decision) == {"FINDINGS_MISSING"}
		decision.admit == []
	}
}
