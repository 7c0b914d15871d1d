package kfm.access_test

import data.kfm.access

asker := {
	"id": "u1",
	"tenant": "t1",
	"roles": ["contributor"],
	"groups": ["g1"],
	"capabilities": [],
	"clearance": "internal",
}

class := {
	"id": "k1",
	"tenant": "t1",
	"collection": "census",
	"label": "internal",
	"handling": [],
	"groups": [],
	"owner_group": null,
	"allow_list": [],
}

with_class(changes) := object.union(class, changes)

# METADATA
# custom: {rules: [Q12, E05]}
test_open_class if access.class_ok(class) with input.subject as asker

# METADATA
# custom: {rules: [E05, E06, E07, E08, E09]}
test_each_missing_guard_closes if {
	every key in ["id", "tenant", "collection", "label", "handling", "groups"] {
		not access.class_ok(object.remove(class, [key])) with input.subject as asker
	}
}

# METADATA
# custom: {rules: [E07]}
test_label_one_step_above_for_the_owner if {
	access.class_ok(with_class({"label": "confidential", "owner_group": "g1"})) with input.subject as asker
	access.class_ok(with_class({"label": "confidential", "allow_list": ["u1"]})) with input.subject as asker
	not access.class_ok(with_class({"label": "confidential"})) with input.subject as asker
	not access.class_ok(with_class({"label": "restricted", "owner_group": "g1"})) with input.subject as asker
}

# METADATA
# custom: {rules: [E08]}
test_groups if {
	access.class_ok(with_class({"groups": ["g2", "g1"]})) with input.subject as asker
	not access.class_ok(with_class({"groups": ["g2"]})) with input.subject as asker
}

# METADATA
# custom: {rules: [E08]}
test_groups_hold_for_admins if {
	admin := object.union(asker, {"roles": ["admin"], "clearance": "restricted", "groups": []})
	not access.class_ok(with_class({"groups": ["g1"]})) with input.subject as admin
}

# METADATA
# custom: {rules: [E09]}
test_handling if {
	access.class_ok(with_class({"handling": ["pii"]})) with input.subject as asker
	not access.class_ok(with_class({"handling": ["culturally_sensitive"]})) with input.subject as asker
	not access.class_ok(with_class({"handling": ["pii", "unheard_of"]})) with input.subject as asker
	not access.class_ok(with_class({"handling": "pii"})) with input.subject as asker
}

# METADATA
# custom: {rules: [E06]}
test_foreign_tenant if not access.class_ok(with_class({"tenant": "t2"})) with input.subject as asker
