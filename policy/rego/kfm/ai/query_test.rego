package kfm.ai_test

import data.kfm.ai

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

test_query_gate if {
	rejected := ai.query with input as changed("query", "/prompt/verdict", "REJECT")
	codes(rejected) == {"GATE_REJECTED"}
	sanitised := ai.query with input as changed("query", "/prompt/verdict", "SANITIZE")
	sanitised.effect == "allow_with_obligations"
	ops(sanitised) == {"filter", "neutralise_prompt"}
	unknown := ai.query with input as changed("query", "/prompt/verdict", "OK")
	codes(unknown) == {"GATE_VERDICT_UNKNOWN"}
}

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
