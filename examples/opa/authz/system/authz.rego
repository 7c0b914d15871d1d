# Who may ask an OPA server that Exhibit uses: whoever holds the token may ask for the four entry points, and nothing else.
# Everyone may see that the server lives. Start it with --authentication=token --authorization=basic and OPA_TOKEN set.
package system.authz

default allow := false

allow if input.path == ["health"]

allow if {
	token := opa.runtime().env.OPA_TOKEN
	token != ""
	input.identity == token
	input.method == "POST"
	["v1", "data", "kfm", "ai", point] = input.path
	point in {"query", "evidence", "answer", "allow_answer"}
}
