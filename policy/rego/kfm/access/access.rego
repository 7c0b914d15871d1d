# METADATA
# title: Access
# description: >-
#  One rule for visibility classes (query point) and for items (evidence point). Each function takes the whole record,
#  so that an absent field makes the guard untrue instead of making the call undefined.
# schemas:
#  - input: schema["input.schema"]
#  - data.kfm.config: schema["config.schema"]
package kfm.access

import data.kfm.config
import data.kfm.subject

# METADATA
# title: The record belongs to the subject's tenant
tenant_ok(record) if {
	data.kfm.subject.has_tenant
	record.tenant == input.subject.tenant
}

# METADATA
# title: The clearance reaches the label, or the subject is named and one step below
label_ok(record) if config.labels[record.label] <= subject.clearance_rank

label_ok(record) if {
	config.labels[record.label] == subject.clearance_rank + 1
	named(record)
}

# METADATA
# title: The record names the subject, or is owned by one of its groups
named(record) if {
	is_array(record.allow_list)
	input.subject.id in record.allow_list
}

named(record) if data.kfm.subject.member(record.owner_group)

# METADATA
# title: The record is open to all groups or to one of the subject's
groups_ok(record) if {
	is_array(record.groups)
	count(record.groups) == 0
}

groups_ok(record) if {
	is_array(record.groups)
	some group in record.groups
	data.kfm.subject.member(group)
}

# METADATA
# title: Every handling tag is known and satisfied, or can be met by an obligation
handling_ok(record) if {
	is_array(record.handling)
	every tag in record.handling {
		data.kfm.access.tag_ok(tag)
	}
}

# METADATA
# title: A tag is satisfied, or an obligation stands for it
tag_ok(tag) if data.kfm.access.tag_satisfied(tag)

tag_ok(tag) if is_object(config.handling[tag].obligation)

# METADATA
# title: The subject holds what a tag asks for
tag_satisfied(tag) if data.kfm.subject.capable(config.handling[tag].capability)

tag_satisfied(tag) if data.kfm.subject.member(config.handling[tag].group)

# METADATA
# title: A visibility class that the subject may see
class_ok(class) if {
	identified(class)
	is_string(class.collection)
	class.collection != ""
	data.kfm.access.tenant_ok(class)
	data.kfm.access.label_ok(class)
	data.kfm.access.groups_ok(class)
	data.kfm.access.handling_ok(class)
}

# METADATA
# title: The record has an id
identified(record) if {
	is_string(record.id)
	record.id != ""
}
