package kfm.ai_test

import data.kfm.ai

# METADATA
# custom: {rules: [Q12]}
test_query_allows_with_one_filter if {
	decision := ai.query with input as asked("query")
	decision.effect == "allow"
	decision.obligations == {{
		"op": "filter",
		"target": {"kind": "request", "ref": ""},
		"rule": "Q12",
		"params": {"classes": ["k1"], "lifecycle": ["active"]},
	}}
}

# METADATA
# custom: {rules: [Q08, Q09, Q13]}
test_query_gate if {
	rejected := ai.query with input as changed("query", "/prompt/verdict", "REJECT")
	codes(rejected) == {"GATE_REJECTED"}
	sanitised := ai.query with input as changed("query", "/prompt/verdict", "SANITIZE")
	sanitised.effect == "allow_with_obligations"
	ops(sanitised) == {"filter", "neutralise_prompt"}
	unknown := ai.query with input as changed("query", "/prompt/verdict", "OK")
	codes(unknown) == {"GATE_VERDICT_UNKNOWN"}
}

# METADATA
# custom: {rules: [Q11]}
test_query_unknown_and_forbidden_collections_are_alike if {
	unknown := ai.query with input as changed("query", "/request/collections", ["files"])
	forbidden := ai.query with input as json.patch(asked("query"), [
		{"op": "add", "path": "/request/collections", "value": ["files"]},
		{"op": "add", "path": "/classes/-", "value": object.union(
			class,
			{"id": "k2", "collection": "files", "label": "restricted"},
		)},
	])
	unknown.effect == "deny"
	unknown == forbidden
}

# METADATA
# custom: {rules: [Q10]}
test_query_collections_are_a_list_of_names if {
	every junk in ["census", {"a": "census"}, [1], null] {
		decision := ai.query with input as changed("query", "/request/collections", junk)
		codes(decision) == {"COLLECTIONS_INVALID"}
	}
}
