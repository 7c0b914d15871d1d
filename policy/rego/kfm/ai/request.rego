# METADATA
# title: Requests
# description: What holds at every point. A denial negates a positive helper and its message reads no input.
# schemas:
#  - input: schema["input.schema"]
#  - data.kfm.config: schema["config.schema"]
package kfm.ai

import data.kfm.access
import data.kfm.subject

request_target := {"kind": "request", "ref": ""}

# METADATA
# title: The input is of the known schema and names the time
# custom:
#  id: Q01
#  code: INPUT_INVALID
#  severity: deny
#  owner: security
#  reader: The request could not be read by the policy.
request_reasons contains reason("Q01", "INPUT_INVALID") if not input_known

# METADATA
# title: The subject has an id, a known role and a clearance that the roles carry
# custom:
#  id: Q02
#  code: SUBJECT_INVALID
#  severity: deny
#  owner: security
#  reader: The account has no valid identity, role or clearance.
request_reasons contains reason("Q02", "SUBJECT_INVALID") if not subject.identified

# METADATA
# title: The subject belongs to a tenant
# custom:
#  id: Q03
#  code: TENANT_MISSING
#  severity: deny
#  owner: security
#  reader: The account belongs to no tenant.
request_reasons contains reason("Q03", "TENANT_MISSING") if not subject.has_tenant

# METADATA
# title: A role of the subject permits questions
# custom:
#  id: Q04
#  code: NOT_PERMITTED
#  severity: deny
#  owner: security
#  reader: The account's roles do not permit questions.
request_reasons contains reason("Q04", "NOT_PERMITTED") if not subject.may("ai.query")

# METADATA
# title: The session has not ended
# custom:
#  id: Q05
#  code: SESSION_EXPIRED
#  severity: deny
#  owner: security
#  reader: The session has ended; sign in again.
request_reasons contains reason("Q05", "SESSION_EXPIRED") if not subject.session_open

# METADATA
# title: The subject's tenant is not suspended
# custom:
#  id: Q14
#  code: TENANT_SUSPENDED
#  severity: deny
#  owner: security
#  reader: The account's tenant is suspended.
request_reasons contains reason("Q14", "TENANT_SUSPENDED") if not subject.tenant_open

# METADATA
# title: The purpose is known and open to the subject
# custom:
#  id: Q06
#  code: PURPOSE_REFUSED
#  severity: deny
#  owner: security
#  reader: The stated purpose is unknown or not open to this account.
request_reasons contains reason("Q06", "PURPOSE_REFUSED") if not subject.purpose_ok

# METADATA
# title: The prompt gate's rejection is final
# custom:
#  id: Q08
#  code: GATE_REJECTED
#  severity: deny
#  owner: security
#  reader: The question was stopped by the prompt gate.
#  lint:
#   denial-without-helper: Q09 denies where the verdict is missing or unknown.
gate_reasons contains reason("Q08", "GATE_REJECTED") if input.prompt.verdict == "REJECT"

# METADATA
# title: The prompt gate has spoken
# custom:
#  id: Q09
#  code: GATE_VERDICT_UNKNOWN
#  severity: deny
#  owner: security
#  reader: The question was not examined by the prompt gate.
gate_reasons contains reason("Q09", "GATE_VERDICT_UNKNOWN") if not verdict_known

verdict_known if input.prompt.verdict in {"ALLOW", "SANITIZE", "REJECT"}

reason(rule, code) := {"rule": rule, "code": code, "severity": "deny", "target": request_target, "params": {}}

input_known if {
	input.schema == "exhibit.policy.input/1"
	is_number(input.now_ms)
	input.now_ms >= 0
}

# METADATA
# title: A record with an id that no other record of the list has
unique(record, ids) if {
	data.kfm.access.identified(record)
	count(ids[record.id]) == 1
}

class_places[class.id] contains i if {
	is_array(input.classes)
	some i, class in input.classes
	access.identified(class)
}

# METADATA
# title: The visibility classes that the subject may see, by id
classes_admitted[class.id] := class if {
	some class in input.classes
	unique(class, class_places)
	access.class_ok(class)
}

# METADATA
# title: One decision document out of its parts; a denial carries only the reasons that deny
decision(reasons, obligations, admit) := {
	"effect": "deny",
	"reasons": [each | some each in reasons; each.severity == "deny"],
	"obligations": [],
	"admit": [],
} if {
	some each in reasons
	each.severity == "deny"
} else := {
	"effect": "allow",
	"reasons": reasons,
	"obligations": obligations,
	"admit": admit,
} if {
	every each in obligations {
		each.op == "filter"
	}
} else := {
	"effect": "allow_with_obligations",
	"reasons": reasons,
	"obligations": obligations,
	"admit": admit,
}
