# METADATA
# title: Subject
# description: >-
#  Who asks, and what that subject may do. Every rule is a positive statement; what cannot be proved is not true.
# schemas:
#  - input: schema["input.schema"]
#  - data.kfm.config: schema["config.schema"]
package kfm.subject

import data.kfm.config

# METADATA
# title: Identified
# description: An id, a tenant, a known role, and a clearance that one of the roles carries.
identified if {
	is_string(input.subject.id)
	input.subject.id != ""
	clearance_rank <= max(role_ranks)
}

# METADATA
# title: Belongs to a tenant
has_tenant if {
	is_string(input.subject.tenant)
	input.subject.tenant != ""
}

# METADATA
# title: Ranks of the labels that the subject's known roles may read
role_ranks contains config.labels[config.roles[role].clearance] if {
	is_array(input.subject.roles)
	some role in input.subject.roles
}

# METADATA
# title: Rank of the subject's clearance
clearance_rank := config.labels[input.subject.clearance]

# METADATA
# title: Holds a permission through one of the roles
may(permission) if {
	is_array(input.subject.roles)
	some role in input.subject.roles
	permission in config.roles[role].permissions
}

# METADATA
# title: The session has not ended
session_open if input.subject.session_expires_ms == null

session_open if {
	is_number(input.subject.session_expires_ms)
	is_number(input.now_ms)
	input.now_ms < input.subject.session_expires_ms
}

# METADATA
# title: The subject's tenant is not suspended
# description: The facts speak of it only where it is; anything but false is then a suspension.
tenant_open if {
	is_object(input.subject)
	not "tenant_suspended" in object.keys(input.subject)
}

tenant_open if input.subject.tenant_suspended == false

# METADATA
# title: The stated purpose is known and open to this clearance
purpose_ok if {
	is_object(input.request)
	purpose := object.get(input.request, "purpose", config.default_purpose)
	config.labels[config.purposes[purpose].clearance] <= clearance_rank
}

# METADATA
# title: Member of a group
member(group) if {
	is_string(group)
	is_array(input.subject.groups)
	group in input.subject.groups
}

# METADATA
# title: Holds a capability
capable(capability) if {
	is_string(capability)
	is_array(input.subject.capabilities)
	capability in input.subject.capabilities
}
