package kfm.subject_test

import data.kfm.subject

asker := {
	"id": "u1",
	"tenant": "t1",
	"roles": ["contributor"],
	"groups": ["g1"],
	"capabilities": ["trace"],
	"clearance": "internal",
}

# METADATA
# custom: {rules: [Q02]}
test_identified if subject.identified with input.subject as asker

# METADATA
# custom: {rules: [Q02]}
test_not_identified_without_id if {
	not subject.identified with input.subject as object.remove(asker, ["id"])
}

# METADATA
# custom: {rules: [Q02]}
test_not_identified_by_a_clearance_beyond_the_roles if {
	not subject.identified with input.subject as object.union(asker, {"clearance": "restricted"})
}

# METADATA
# custom: {rules: [Q02]}
test_not_identified_by_unknown_roles if {
	not subject.identified with input.subject as object.union(asker, {"roles": ["root"]})
}

# METADATA
# custom: {rules: [Q03]}
test_tenant if {
	subject.has_tenant with input.subject as asker
	not subject.has_tenant with input.subject as object.union(asker, {"tenant": ""})
}

# METADATA
# custom: {rules: [Q04]}
test_may if {
	subject.may("ai.query") with input.subject as asker
	not subject.may("ai.query") with input.subject as object.union(asker, {"roles": ["operator"]})
	not subject.may("ai.train") with input.subject as asker
}

# METADATA
# custom: {rules: [Q05]}
test_session_without_end if {
	subject.session_open with input as {"subject": object.union(asker, {"session_expires_ms": null}), "now_ms": 5}
	not subject.session_open with input as {"subject": asker, "now_ms": 5}
}

# METADATA
# custom: {rules: [Q05]}
test_session_ends if {
	subject.session_open with input as {"subject": object.union(asker, {"session_expires_ms": 6}), "now_ms": 5}
	not subject.session_open with input as {"subject": object.union(asker, {"session_expires_ms": 5}), "now_ms": 5}
	not subject.session_open with input as {"subject": object.union(asker, {"session_expires_ms": 6})}
}

# METADATA
# custom: {rules: [Q06]}
test_purpose if {
	subject.purpose_ok with input as {"subject": asker, "request": {}}
	subject.purpose_ok with input as {"subject": asker, "request": {"purpose": "planning"}}
	not subject.purpose_ok with input as {"subject": asker, "request": {"purpose": "review"}}
	not subject.purpose_ok with input as {"subject": asker, "request": {"purpose": "spying"}}
	not subject.purpose_ok with input as {"subject": asker}
}

# METADATA
# custom: {rules: [E08]}
test_member if {
	subject.member("g1") with input.subject as asker
	not subject.member("g2") with input.subject as asker
	not subject.member(null) with input.subject as asker
	not subject.member("g1") with input.subject as {"groups": {"x": "g1"}}
}

# METADATA
# custom: {rules: [E15]}
test_capable if {
	subject.capable("trace") with input.subject as asker
	not subject.capable("pii") with input.subject as asker
}

# METADATA
# custom: {rules: [Q14]}
test_tenant_that_is_not_suspended if {
	subject.tenant_open with input as {"subject": asker}
	subject.tenant_open with input as {"subject": object.union(asker, {"tenant_suspended": false})}
}

# METADATA
# custom: {rules: [Q14]}
test_tenant_that_is_suspended if {
	every said in [true, null, "false", 0, {}] {
		not subject.tenant_open with input as {"subject": object.union(asker, {"tenant_suspended": said})}
	}
	not subject.tenant_open with input as {"subject": "u1"}
	not subject.tenant_open with input as {}
}
