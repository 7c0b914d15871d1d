package kfm.ai

import data.kfm.config

# METADATA
# title: The query point
# description: May this subject ask, and which visibility classes may the search touch?
# entrypoint: true
query := decision(query_reasons, query_obligations, [])

query_reasons contains each if some each in (request_reasons | gate_reasons)

# METADATA
# title: The input was made for this point
# custom:
#  id: Q07
#  code: POINT_MISMATCH
#  severity: deny
#  owner: security
#  reader: The request was put to the wrong policy point.
query_reasons contains reason("Q07", "POINT_MISMATCH") if not at_query

# METADATA
# title: The named collections are a list of names
# custom:
#  id: Q10
#  code: COLLECTIONS_INVALID
#  severity: deny
#  owner: security
#  reader: The collections are not a list of names.
query_reasons contains reason("Q10", "COLLECTIONS_INVALID") if not collections_valid

# METADATA
# title: Each named collection holds a class that the subject may see
# description: >-
#  Unknown and forbidden collections are told apart by nobody, and nothing is said of them to who may not ask at all.
# custom:
#  id: Q11
#  code: COLLECTION_UNAVAILABLE
#  severity: deny
#  owner: security
#  reader: There is no such collection, or it is not open to this account.
query_reasons contains {
	"rule": "Q11",
	"code": "COLLECTION_UNAVAILABLE",
	"severity": "deny",
	"target": {"kind": "collection", "ref": name},
	"params": {},
} if {
	count(request_reasons) == 0
	collections_valid
	some name in collections
	not collection_open(name)
}

# METADATA
# title: The scope of the search
# custom:
#  id: Q12
#  code: SCOPE
#  severity: oblige
#  owner: security
#  reader: The search is limited to what this account may see.
query_obligations contains {
	"op": "filter",
	"target": request_target,
	"rule": "Q12",
	"params": {
		"classes": [id | some id, class in classes_admitted; in_request(class)],
		"lifecycle": config.lifecycle,
	},
}

# METADATA
# title: A sanitised prompt is put to the model neutralised
# custom:
#  id: Q13
#  code: PROMPT_SANITIZED
#  severity: oblige
#  owner: security
#  reader: Parts of the question were neutralised.
query_obligations contains {
	"op": "neutralise_prompt",
	"target": request_target,
	"rule": "Q13",
	"params": {},
} if input.prompt.verdict == "SANITIZE"

at_query if input.point == "query"

collections := object.get(input.request, "collections", [])

collections_valid if {
	is_array(collections)
	every name in collections {
		is_string(name)
	}
}

collection_open(name) if {
	some class in classes_admitted
	class.collection == name
}

in_request(_) if count(collections) == 0

in_request(class) if class.collection in collections
