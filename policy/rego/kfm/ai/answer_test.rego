package kfm.ai_test

import data.kfm.ai

# METADATA
# custom: {rules: [A12]}
test_answer_releases if {
	decision := ai.answer with input as asked("answer")
	decision == {"effect": "allow", "reasons": set(), "obligations": set(), "admit": ["e1"]}
}

# METADATA
# custom: {rules: [A09, A12]}
test_answer_without_support_abstains if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/support_milli", 0)
	codes(decision) == {"UNSUPPORTED_SENTENCE"}
	ops(decision) == {"drop_sentence", "abstain"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A07]}
test_answer_with_a_foreign_citation if {
	decision := ai.answer with input as changed("answer", "/prior/admit", ["e2"])
	codes(decision) == {"CITATION_NOT_ADMITTED"}
}

# METADATA
# custom: {rules: [A04]}
test_answer_sentence_that_leaks_is_dropped if {
	finding := {"kind": "canary", "start": 0, "end": 3}
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/findings", [finding])
	codes(decision) == {"LEAK"}
	"drop_sentence" in ops(decision)
	decision.admit == []
}

# METADATA
# custom: {rules: [A11]}
test_answer_notice if {
	decision := ai.answer with input as changed("answer", "/evidence/0/label", "internal")
	ops(decision) == {"append_notice"}
}

# METADATA
# custom: {rules: [A05]}
test_answer_without_citation_is_dropped if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/citations", [])
	codes(decision) == {"UNCITED_SENTENCE"}
	"drop_sentence" in ops(decision)
}

# METADATA
# custom: {rules: [A06]}
test_answer_with_an_unknown_citation if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/citations", ["e9"])
	codes(decision) == {"UNKNOWN_CITATION", "CITATION_NOT_ADMITTED"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A08]}
test_answer_with_a_citation_that_no_longer_holds if {
	decision := ai.answer with input as changed("answer", "/evidence/0/lifecycle", "withdrawn")
	codes(decision) == {"CITATION_STALE"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A10]}
test_answer_with_personal_data_is_redacted if {
	finding := {"kind": "pii.email", "start": 2, "end": 9}
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/findings", [finding])
	ops(decision) == {"redact"}
	decision.obligations[_].params == {"kind": "pii.email", "start": 2, "end": 9}
}

# METADATA
# custom: {rules: [A13]}
test_answer_with_unchecked_claims_is_dropped if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/claims", [])
	codes(decision) == {"CLAIMS_UNCHECKED"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A14]}
test_answer_with_a_contradicted_claim_is_dropped if {
	claims := [{"kind": "prose", "verdict": "contradicted"}]
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/claims", claims)
	codes(decision) == {"CLAIM_CONTRADICTED"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A15]}
test_answer_with_a_claim_of_no_source_is_dropped if {
	claims := [{"kind": "prose", "verdict": "not_in_source"}]
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/claims", claims)
	codes(decision) == {"CLAIM_NOT_IN_SOURCE"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A16]}
test_answer_with_a_figure_that_cannot_be_checked_is_dropped if {
	claims := [{"kind": "figure", "verdict": "not_checkable"}]
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/claims", claims)
	codes(decision) == {"CLAIM_NOT_CHECKABLE"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A16]}
test_answer_with_prose_that_cannot_be_checked_stays if {
	claims := [{"kind": "prose", "verdict": "not_checkable"}]
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/claims", claims)
	decision.effect == "allow"
}

# METADATA
# custom: {rules: [A21]}
test_answer_with_a_judged_paraphrase_stays if {
	claims := [{"kind": "paraphrase", "verdict": "judged"}]
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/claims", claims)
	decision.effect == "allow"
}

# METADATA
# custom: {rules: [A21]}
test_answer_with_a_judged_figure_is_dropped if {
	claims := [{"kind": "figure", "verdict": "judged"}]
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/claims", claims)
	codes(decision) == {"CLAIM_ONLY_JUDGED"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A17]}
test_answer_beside_the_point_abstains if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/answers", false)
	ops(decision) == {"abstain"}
	decision.admit == ["e1"]
}

# METADATA
# custom: {rules: [A18]}
test_answer_whose_appeals_nobody_looked_for_is_dropped if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/appeals", {})
	codes(decision) == {"APPEALS_UNCHECKED"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A19]}
test_answer_with_a_link_that_nobody_asked_for_is_dropped if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/appeals/kinds", ["link"])
	codes(decision) == {"APPEAL_UNASKED"}
	decision.admit == []
}

# METADATA
# custom: {rules: [A19]}
test_answer_with_a_link_that_was_asked_for_stays if {
	appeals := {"kinds": ["link"], "asked": ["link"], "collections": ["census"], "quoted": false}
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/appeals", appeals)
	decision.effect == "allow"
}

trusting := {"tolerated": ["contact"], "least_trust": 2, "trust": {"census": 2, "notes": 1}}

# METADATA
# custom: {rules: [A19, A20]}
test_answer_with_a_link_of_a_trusted_source_is_marked_as_a_quotation if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/appeals/kinds", ["link"])
		with data.kfm.config.appeals as trusting
	ops(decision) == {"mark_quotation"}
	decision.admit == ["e1"]
}

# METADATA
# custom: {rules: [A20]}
test_answer_that_is_marked_as_a_quotation_is_marked_once if {
	appeals := {"kinds": ["link"], "asked": [], "collections": ["census"], "quoted": true}
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/appeals", appeals)
		with data.kfm.config.appeals as trusting
	decision.effect == "allow"
}

# METADATA
# custom: {rules: [A19]}
test_answer_that_also_cites_a_source_of_less_trust_is_dropped if {
	some names in [["census", "notes"], ["elsewhere"], []]
	appeals := {"kinds": ["link"], "asked": [], "collections": names, "quoted": false}
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/appeals", appeals)
		with data.kfm.config.appeals as trusting
	codes(decision) == {"APPEAL_UNASKED"}
}

# METADATA
# custom: {rules: [A19]}
test_answer_with_a_tolerated_appeal_stays if {
	decision := ai.answer with input as changed("answer", "/answer/sentences/0/appeals/kinds", ["contact"])
		with data.kfm.config.appeals as trusting
	decision.effect == "allow"
}
