package kfm.ai

import data.kfm.access
import data.kfm.config
import data.kfm.subject

# METADATA
# title: The evidence point
# description: >-
#  Which of the found items may be used, and what must be done to them first? Ids come in any order: whoever asks puts
#  them in order, since the module's own sort takes a time that grows with the square.
# entrypoint: true
evidence := decision(
	array.concat([each | some each in evidence_reasons], item_reasons),
	item_obligations,
	[id | some id, _ in admitted],
)

evidence_reasons contains each if some each in (request_reasons | gate_reasons)

# METADATA
# title: The input was made for this point
# custom:
#  id: E01
#  code: POINT_MISMATCH
#  severity: deny
#  owner: stewardship
#  reader: The request was put to the wrong policy point.
evidence_reasons contains reason("E01", "POINT_MISMATCH") if not at_evidence

# METADATA
# title: The query decision is named
# custom:
#  id: E02
#  code: PRIOR_MISSING
#  severity: deny
#  owner: stewardship
#  reader: The decision that this one builds on is missing.
evidence_reasons contains reason("E02", "PRIOR_MISSING") if not query_bound

# METADATA
# title: The evidence is a list
# custom:
#  id: E03
#  code: EVIDENCE_INVALID
#  severity: deny
#  owner: stewardship
#  reader: The evidence could not be read by the policy.
evidence_reasons contains reason("E03", "EVIDENCE_INVALID") if not evidence_valid

at_evidence if input.point == "evidence"

evidence_valid if is_array(input.evidence)

query_bound if {
	is_string(input.prior.query)
	input.prior.query != ""
	is_array(input.prior.admit)
}

# METADATA
# title: The classes of the query decision that the subject may still see
# description: >-
#  The classes are taken whole. A look-up by key in a rule that is not evaluated yet makes the OPA server evaluate that
#  rule for the one key, over all the records again, and so grows with the square of their number.
scope contains id if {
	classes := classes_admitted
	some id in input.prior.admit
	classes[id]
}

item_places[item.id] contains i if {
	is_array(input.evidence)
	some i, item in input.evidence
	access.identified(item)
}

# METADATA
# title: The items that may be used, by id
# description: Every guard is a positive statement that must be proved.
admitted[item.id] := item if {
	some item in input.evidence
	unique(item, item_places)
	item_in_scope(item)
	item_open(item)
	item_current(item)
	injection_ok(item)
	examined(item)
}

# METADATA
# title: Tenant, label, groups and handling of one item
item_open(item) if {
	data.kfm.access.tenant_ok(item)
	item_label_ok(item)
	data.kfm.access.groups_ok(item)
	data.kfm.access.handling_ok(item)
}

# METADATA
# title: Lifecycle, expiry and digest of one item
item_current(item) if {
	lifecycle_ok(item)
	unexpired(item)
	unchanged(item)
}

# METADATA
# title: The item's class is in the scope of the query decision and is still one that the subject may see
item_in_scope(item) if {
	item.class_id in scope
}

# METADATA
# title: The label rule with the owner and the allow list of the item's class
item_label_ok(item) if config.labels[item.label] <= subject.clearance_rank

item_label_ok(item) if {
	config.labels[item.label] == subject.clearance_rank + 1
	data.kfm.access.named(classes_admitted[item.class_id])
}

lifecycle_ok(item) if item.lifecycle in config.lifecycle

unexpired(item) if item.valid_until_ms == null

unexpired(item) if {
	is_number(item.valid_until_ms)
	is_number(input.now_ms)
	input.now_ms < item.valid_until_ms
}

unchanged(item) if {
	is_string(item.sha256)
	item.sha256 != ""
	item.sha256 == item.indexed_sha256
}

injection_ok(item) if {
	is_number(item.injection.score_milli)
	item.injection.score_milli <= config.limits.injection_milli
}

# METADATA
# title: The item was searched for personal data, and each finding says what it is
examined(item) if {
	is_array(item.findings)
	every finding in item.findings {
		is_string(finding.kind)
	}
}

# The reasons below exist for the record: an item is left out because a guard was not proved, not because a reason exists.
# They are collected as rule ids by item and become objects in one pass, since a set of objects costs a hash of each object.

item_codes := {
	"E04": "ID_INVALID",
	"E05": "CLASS_OUT_OF_SCOPE",
	"E06": "TENANT_MISMATCH",
	"E07": "LABEL_ABOVE_CLEARANCE",
	"E08": "GROUP_REQUIRED",
	"E09": "HANDLING_REFUSED",
	"E10": "NOT_ACTIVE",
	"E11": "EXPIRED",
	"E12": "CHANGED_SINCE_INDEXING",
	"E13": "INJECTION_SUSPECTED",
	"E17": "FINDINGS_MISSING",
}

item_reasons := [{
	"rule": rule,
	"code": code,
	"severity": "drop",
	"target": {"kind": "evidence", "ref": id},
	"params": {},
} |
	some id, rules in failing
	some rule in rules
	code := item_codes[rule]
]

refused[item.id] := item if {
	usable := admitted
	some item in input.evidence
	unique(item, item_places)
	not usable[item.id]
}

# METADATA
# title: The item's id is its own
# custom:
#  id: E04
#  code: ID_INVALID
#  severity: drop
#  owner: security
#  reader: Two items of evidence share one id.
#  lint:
#   denial-without-helper: An item is left out because `unique` is not proved; this is its reason for the record.
failing[id] contains "E04" if {
	some id, places in item_places
	count(places) > 1
}

# METADATA
# title: The item's class is in scope
# custom:
#  id: E05
#  code: CLASS_OUT_OF_SCOPE
#  severity: drop
#  owner: security
#  reader: The item is outside the scope of this request.
failing[id] contains "E05" if {
	some id, item in refused
	not item_in_scope(item)
}

# METADATA
# title: The item belongs to the subject's tenant
# custom:
#  id: E06
#  code: TENANT_MISMATCH
#  severity: drop
#  owner: stewardship
#  reader: The item belongs to another tenant.
failing[id] contains "E06" if {
	some id, item in refused
	not access.tenant_ok(item)
}

# METADATA
# title: The clearance reaches the item's label
# custom:
#  id: E07
#  code: LABEL_ABOVE_CLEARANCE
#  severity: drop
#  owner: stewardship
#  reader: The item's label is above the account's clearance.
failing[id] contains "E07" if {
	some id, item in refused
	not item_label_ok(item)
}

# METADATA
# title: The subject is in one of the item's groups
# custom:
#  id: E08
#  code: GROUP_REQUIRED
#  severity: drop
#  owner: stewardship
#  reader: The item is open to named groups only.
failing[id] contains "E08" if {
	some id, item in refused
	not access.groups_ok(item)
}

# METADATA
# title: Every handling tag is known and can be met
# custom:
#  id: E09
#  code: HANDLING_REFUSED
#  severity: drop
#  owner: stewardship
#  reader: The item's handling tags do not permit this use.
failing[id] contains "E09" if {
	some id, item in refused
	not access.handling_ok(item)
}

# METADATA
# title: The item is active
# custom:
#  id: E10
#  code: NOT_ACTIVE
#  severity: drop
#  owner: stewardship
#  reader: The item is not active.
failing[id] contains "E10" if {
	some id, item in refused
	not lifecycle_ok(item)
}

# METADATA
# title: The item has not expired
# custom:
#  id: E11
#  code: EXPIRED
#  severity: drop
#  owner: stewardship
#  reader: The item has expired.
failing[id] contains "E11" if {
	some id, item in refused
	not unexpired(item)
}

# METADATA
# title: The document is the one that was indexed
# custom:
#  id: E12
#  code: CHANGED_SINCE_INDEXING
#  severity: drop
#  owner: security
#  reader: The document has changed since it was indexed.
failing[id] contains "E12" if {
	some id, item in refused
	not unchanged(item)
}

# METADATA
# title: The item does not look like an instruction
# custom:
#  id: E13
#  code: INJECTION_SUSPECTED
#  severity: drop
#  owner: security
#  reader: The item reads like an instruction and was left out.
failing[id] contains "E13" if {
	some id, item in refused
	not injection_ok(item)
}

# METADATA
# title: The item was searched for personal data
# custom:
#  id: E17
#  code: FINDINGS_MISSING
#  severity: drop
#  owner: security
#  reader: The item was not searched for personal data.
failing[id] contains "E17" if {
	some id, item in refused
	not examined(item)
}

item_obligations := array.concat(
	array.concat([item_obligation("drop", id, "E13", {}) | some id, rules in failing; "E13" in rules], handling_obligations),
	array.concat(pii_obligations, datamark_obligations),
)

item_obligation(op, id, rule, params) := {
	"op": op,
	"target": {"kind": "evidence", "ref": id},
	"rule": rule,
	"params": params,
}

# METADATA
# title: A handling tag that the subject does not satisfy is met by its obligation
# custom:
#  id: E14
#  code: HANDLING_OBLIGATION
#  severity: oblige
#  owner: stewardship
#  reader: The item may be used in a reduced form only.
handling_obligations := [item_obligation(duty.op, id, "E14", duty.params) |
	some id, item in admitted
	some tag in item.handling
	not access.tag_satisfied(tag)
	duty := config.handling[tag].obligation
]

# METADATA
# title: Personal data that was found in the item is redacted
# custom:
#  id: E15
#  code: PII_FOUND
#  severity: oblige
#  owner: stewardship
#  reader: Personal data was removed.
pii_obligations := [item_obligation("redact", id, "E15", {"kinds": kinds}) |
	not subject.capable("pii")
	some id, item in admitted
	kinds := sort({finding.kind | some finding in item.findings; personal(finding)})
	count(kinds) > 0
]

personal(finding) if startswith(finding.kind, "pii.")

# METADATA
# title: A text that might instruct is marked as data
# custom:
#  id: E16
#  code: DATAMARK
#  severity: oblige
#  owner: security
#  reader: The item is marked as data.
datamark_obligations := [item_obligation("datamark", id, "E16", {}) |
	some id, item in admitted
	item.injection.score_milli > config.limits.datamark_milli
]
