package kfm.ai

import data.kfm.access
import data.kfm.config
import data.kfm.subject

# METADATA
# title: The answer point
# description: Which sentences of the draft may leave, and in which form?
# entrypoint: true
answer := decision(answer_reasons | sentence_reasons, answer_obligations, [id | some id in cited])

answer_reasons contains each if some each in request_reasons

# METADATA
# title: The input was made for this point
# custom:
#  id: A01
#  code: POINT_MISMATCH
#  severity: deny
#  owner: security
#  reader: The request was put to the wrong policy point.
answer_reasons contains reason("A01", "POINT_MISMATCH") if not at_answer

# METADATA
# title: The query and the evidence decision are named
# custom:
#  id: A02
#  code: PRIOR_MISSING
#  severity: deny
#  owner: security
#  reader: The decision that this one builds on is missing.
answer_reasons contains reason("A02", "PRIOR_MISSING") if not evidence_bound

# METADATA
# title: The draft is a list of numbered sentences
# custom:
#  id: A03
#  code: ANSWER_INVALID
#  severity: deny
#  owner: editorial
#  reader: The draft could not be read by the policy.
answer_reasons contains reason("A03", "ANSWER_INVALID") if not sentences_valid

at_answer if input.point == "answer"

evidence_bound if {
	query_bound
	is_string(input.prior.evidence)
	input.prior.evidence != ""
}

sentences_valid if {
	is_array(input.answer.sentences)
	every i, sentence in input.answer.sentences {
		sentence.i == i
		is_array(sentence.citations)
		is_array(sentence.findings)
	}
}

# METADATA
# title: The items that a sentence may cite, by id
# description: Admitted by the evidence point, and their facts are whole and still hold.
citable[item.id] := item if {
	some item in input.evidence
	item.id in wanted
	unique(item, item_places)
	item.id in prior_admit
	is_string(item.class_id)
	item.class_id != ""
	access.tenant_ok(item)
	config.labels[item.label] <= subject.clearance_rank + 1
	access.groups_ok(item)
	access.handling_ok(item)
	item_current(item)
}

wanted contains id if {
	some sentence in input.answer.sentences
	some id in sentence.citations
}

prior_admit := {id | some id in input.prior.admit}

# METADATA
# title: The sentences that may stay
# description: A phrase of the fixed catalogue, or supported by citations that are all citable.
kept contains i if {
	sentences_valid
	some i, sentence in input.answer.sentences
	from_catalogue(sentence)
	clean(sentence)
}

kept contains i if {
	sentences_valid
	some i, sentence in input.answer.sentences
	cites(sentence)
	citations_known(sentence)
	citations_admitted(sentence)
	citations_hold(sentence)
	supported(sentence)
	claims_hold(sentence)
	appeals_hold(sentence)
	clean(sentence)
}

from_catalogue(sentence) if {
	is_string(sentence.catalogue)
	sentence.catalogue != ""
	count(sentence.citations) == 0
}

cites(sentence) if count(sentence.citations) > 0

citations_known(sentence) if {
	known := item_places
	every id in sentence.citations {
		known[id]
	}
}

citations_admitted(sentence) if {
	every id in sentence.citations {
		id in prior_admit
	}
}

citations_hold(sentence) if {
	holding := citable
	every id in sentence.citations {
		holding[id]
	}
}

supported(sentence) if {
	is_number(sentence.support_milli)
	sentence.support_milli >= config.limits.support_milli
}

# METADATA
# title: Everything that the sentence claims is borne out, or of a kind that the data tolerate
claims_hold(sentence) if {
	claims_told(sentence)
	every claim in sentence.claims {
		claim_holds(claim, sentence)
	}
}

claims_told(sentence) if {
	is_array(sentence.claims)
	count(sentence.claims) > 0
	every claim in sentence.claims {
		claim.verdict in {"borne_out", "judged", "contradicted", "not_in_source", "not_checkable"}
	}
}

claim_holds(claim, _) if claim.verdict == "borne_out"

# METADATA
# title: The data may tolerate what a reader judged, no source says or nobody can check, never what is contradicted
claim_holds(claim, sentence) if {
	claim.verdict in {"judged", "not_in_source", "not_checkable"}
	some rule in config.claims.tolerated
	rule.verdict == claim.verdict
	claim.kind in rule.kinds
	object.get(input.request, "purpose", config.default_purpose) in rule.purposes
	holding := citable
	every id in sentence.citations {
		config.labels[holding[id].label] <= config.labels[rule.label]
	}
}

# METADATA
# title: A claim of the sentence fell with that verdict
fell_by(sentence, verdict) if {
	some claim in sentence.claims
	claim.verdict == verdict
	not claim_holds(claim, sentence)
}

# METADATA
# title: What the sentence asks of its reader was asked for or is tolerated, or everything that it cites is trusted
appeals_hold(sentence) if {
	appeals_told(sentence)
	every kind in sentence.appeals.kinds {
		appeal_welcome(kind, sentence)
	}
}

appeals_hold(sentence) if {
	appeals_told(sentence)
	trusted(sentence)
}

appeals_told(sentence) if {
	is_array(sentence.appeals.kinds)
	is_array(sentence.appeals.asked)
	is_array(sentence.appeals.collections)
}

appeal_welcome(kind, sentence) if kind in sentence.appeals.asked

appeal_welcome(kind, _) if kind in config.appeals.tolerated

# METADATA
# title: The data trust every collection that the sentence cites
trusted(sentence) if {
	count(sentence.appeals.collections) > 0
	every name in sentence.appeals.collections {
		config.appeals.trust[name] >= config.appeals.least_trust
	}
}

quoted(sentence) if sentence.appeals.quoted == true

clean(sentence) if {
	is_array(sentence.findings)
	every finding in sentence.findings {
		placed(finding)
		not finding.kind in config.leaks
	}
}

# METADATA
# title: A finding that says what it is and where; one that does not cannot be cut out, so its sentence goes
placed(finding) if {
	is_string(finding.kind)
	is_number(finding.start)
	is_number(finding.end)
}

cited contains id if {
	some i in kept
	some id in input.answer.sentences[i].citations
}

falling[i] := sentence if {
	sentences_valid
	some i, sentence in input.answer.sentences
	not i in kept
}

# METADATA
# title: No sentence carries a canary or the system prompt
# custom:
#  id: A04
#  code: LEAK
#  severity: drop
#  owner: security
#  reader: A sentence that disclosed protected text was removed.
sentence_reasons contains falls("A04", "LEAK", i) if {
	some i, sentence in falling
	not clean(sentence)
}

# METADATA
# title: A sentence cites, or is a phrase of the catalogue
# custom:
#  id: A05
#  code: UNCITED_SENTENCE
#  severity: drop
#  owner: editorial
#  reader: A sentence without a citation was removed.
sentence_reasons contains falls("A05", "UNCITED_SENTENCE", i) if {
	some i, sentence in falling
	not cites(sentence)
}

# METADATA
# title: A citation names an item of this request
# custom:
#  id: A06
#  code: UNKNOWN_CITATION
#  severity: drop
#  owner: editorial
#  reader: A sentence that cites nothing known was removed.
sentence_reasons contains falls("A06", "UNKNOWN_CITATION", i) if {
	some i, sentence in falling
	not citations_known(sentence)
}

# METADATA
# title: A citation names an item that the evidence point admitted
# custom:
#  id: A07
#  code: CITATION_NOT_ADMITTED
#  severity: drop
#  owner: editorial
#  reader: A sentence that cites unusable evidence was removed.
sentence_reasons contains falls("A07", "CITATION_NOT_ADMITTED", i) if {
	some i, sentence in falling
	not citations_admitted(sentence)
}

# METADATA
# title: The facts of a cited item still hold
# custom:
#  id: A08
#  code: CITATION_STALE
#  severity: drop
#  owner: editorial
#  reader: A sentence whose evidence no longer holds was removed.
sentence_reasons contains falls("A08", "CITATION_STALE", i) if {
	some i, sentence in falling
	citations_known(sentence)
	citations_admitted(sentence)
	not citations_hold(sentence)
}

# METADATA
# title: The cited evidence supports the sentence
# custom:
#  id: A09
#  code: UNSUPPORTED_SENTENCE
#  severity: drop
#  owner: editorial
#  reader: A sentence that its evidence does not support was removed.
sentence_reasons contains falls("A09", "UNSUPPORTED_SENTENCE", i) if {
	some i, sentence in falling
	cites(sentence)
	not supported(sentence)
}

# METADATA
# title: What the sentence claims was checked
# custom:
#  id: A13
#  code: CLAIMS_UNCHECKED
#  severity: drop
#  owner: editorial
#  reader: A sentence whose claims were not checked was removed.
sentence_reasons contains falls("A13", "CLAIMS_UNCHECKED", i) if {
	some i, sentence in falling
	cites(sentence)
	not claims_told(sentence)
}

# METADATA
# title: No evidence contradicts a claim of the sentence
# custom:
#  id: A14
#  code: CLAIM_CONTRADICTED
#  severity: drop
#  owner: editorial
#  reader: A sentence that its evidence contradicts was removed.
#  lint: {denial-without-helper: "A13 drops a sentence without known verdicts."}
sentence_reasons contains falls("A14", "CLAIM_CONTRADICTED", i) if {
	some i, sentence in falling
	fell_by(sentence, "contradicted")
}

# METADATA
# title: The evidence says what the sentence claims
# custom:
#  id: A15
#  code: CLAIM_NOT_IN_SOURCE
#  severity: drop
#  owner: editorial
#  reader: A sentence that claims more than its evidence says was removed.
#  lint: {denial-without-helper: "A13 drops a sentence without known verdicts."}
sentence_reasons contains falls("A15", "CLAIM_NOT_IN_SOURCE", i) if {
	some i, sentence in falling
	fell_by(sentence, "not_in_source")
}

# METADATA
# title: What the sentence claims can be checked
# custom:
#  id: A16
#  code: CLAIM_NOT_CHECKABLE
#  severity: drop
#  owner: editorial
#  reader: A sentence with a claim that cannot be checked was removed.
#  lint: {denial-without-helper: "A13 drops a sentence without known verdicts."}
sentence_reasons contains falls("A16", "CLAIM_NOT_CHECKABLE", i) if {
	some i, sentence in falling
	fell_by(sentence, "not_checkable")
}

# METADATA
# title: A source says what the sentence claims, or a reader's judgement is enough
# custom:
#  id: A21
#  code: CLAIM_ONLY_JUDGED
#  severity: drop
#  owner: editorial
#  reader: A sentence in words that no source has was removed, though it was judged to be true.
#  lint: {denial-without-helper: "A13 drops a sentence without known verdicts."}
sentence_reasons contains falls("A21", "CLAIM_ONLY_JUDGED", i) if {
	some i, sentence in falling
	fell_by(sentence, "judged")
}

# METADATA
# title: What the sentence asks of its reader was looked for
# custom:
#  id: A18
#  code: APPEALS_UNCHECKED
#  severity: drop
#  owner: security
#  reader: A sentence that was not checked for links, contacts and orders was removed.
sentence_reasons contains falls("A18", "APPEALS_UNCHECKED", i) if {
	some i, sentence in falling
	cites(sentence)
	not appeals_told(sentence)
}

# METADATA
# title: A sentence of an untrusted source asks nothing of its reader that the question did not ask for
# custom:
#  id: A19
#  code: APPEAL_UNASKED
#  severity: drop
#  owner: security
#  reader: A sentence with a link, a contact, a payment or an order that nobody asked for was removed.
sentence_reasons contains falls("A19", "APPEAL_UNASKED", i) if {
	some i, sentence in falling
	appeals_told(sentence)
	not appeals_hold(sentence)
}

falls(rule, code, i) := {
	"rule": rule,
	"code": code,
	"severity": "drop",
	"target": {"kind": "sentence", "ref": format_int(i, 10)},
	"params": {},
}

answer_obligations contains {
	"op": "drop_sentence",
	"target": {"kind": "sentence", "ref": format_int(i, 10)},
	"rule": rule,
	"params": {},
} if {
	some i, _ in falling

	# The lowest rule that speaks; never undefined, so that a sentence which is not kept is always dropped.
	speaking := {each.rule | some each in sentence_reasons; each.target.ref == format_int(i, 10)}
	rule := min(speaking | {"A09" | count(speaking) == 0})
}

# METADATA
# title: Personal data in a sentence is redacted
# custom:
#  id: A10
#  code: PII_FOUND
#  severity: oblige
#  owner: editorial
#  reader: Personal data was removed.
answer_obligations contains {
	"op": "redact",
	"target": {"kind": "sentence", "ref": format_int(i, 10)},
	"rule": "A10",
	"params": {"kind": finding.kind, "start": finding.start, "end": finding.end},
} if {
	not subject.capable("pii")
	some i in kept
	some finding in input.answer.sentences[i].findings
	personal(finding)
	placed(finding)
}

# METADATA
# title: What a trusted source asks of its reader is marked as its words
# custom:
#  id: A20
#  code: APPEAL_QUOTED
#  severity: oblige
#  owner: security
#  reader: A sentence that addresses the reader is marked as a quotation.
answer_obligations contains {
	"op": "mark_quotation",
	"target": {"kind": "sentence", "ref": format_int(i, 10)},
	"rule": "A20",
	"params": {},
} if {
	some i in kept
	sentence := input.answer.sentences[i]
	some kind in sentence.appeals.kinds
	not appeal_welcome(kind, sentence)
	not quoted(sentence)
}

# METADATA
# title: An answer that stands on sensitive items says so
# custom:
#  id: A11
#  code: SENSITIVE_OUTPUT
#  severity: oblige
#  owner: editorial
#  reader: The answer rests on sensitive material; handle it accordingly.
answer_obligations contains {
	"op": "append_notice",
	"target": {"kind": "answer", "ref": ""},
	"rule": "A11",
	"params": {"catalogue": config.notice.catalogue},
} if {
	some id in cited
	sensitive(citable[id])
	not noticed
}

sensitive(item) if config.labels[item.label] >= config.labels[config.notice.label]

sensitive(item) if count(item.handling) > 0

noticed if {
	some sentence in input.answer.sentences
	sentence.catalogue == config.notice.catalogue
}

# METADATA
# title: Nothing that stands on evidence is left
# custom:
#  id: A12
#  code: NOTHING_LEFT
#  severity: oblige
#  owner: editorial
#  reader: No supported statement is left.
answer_obligations contains {
	"op": "abstain",
	"target": {"kind": "answer", "ref": ""},
	"rule": "A12",
	"params": {},
} if count(cited) == 0

# METADATA
# title: What stands on evidence is about something else than what was asked
# custom:
#  id: A17
#  code: BESIDE_THE_POINT
#  severity: oblige
#  owner: editorial
#  reader: What was found does not answer the question.
answer_obligations contains {
	"op": "abstain",
	"target": {"kind": "answer", "ref": ""},
	"rule": "A17",
	"params": {},
} if {
	count(cited) > 0
	count(answering) == 0
}

# METADATA
# title: The sentences that stay and say something of what was asked
answering contains i if {
	some i in kept
	input.answer.sentences[i].answers == true
}
