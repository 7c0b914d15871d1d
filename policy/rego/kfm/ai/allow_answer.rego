package kfm.ai

# METADATA
# title: Citation as policy (requirement 003)
# description: True for a text with at least one marker such as [1], or for a draft with at least one admitted citation.
# entrypoint: true
default allow_answer := false

allow_answer if {
	is_string(input.answer)
	some i, part in split(input.answer, "[")
	i > 0
	marked(part)
}

# METADATA
# title: What follows an opening bracket is a number and a closing bracket
# description: Without a regular expression, whose library would double the module and the time to compile it.
marked(part) if {
	number := split(part, "]")[0]
	number != ""
	trim(number, "0123456789") == ""
	startswith(part, concat("", [number, "]"]))
}

allow_answer if {
	is_object(input.answer)
	some sentence in input.answer.sentences
	some id in sentence.citations
	is_string(id)
	id in input.prior.admit
}
