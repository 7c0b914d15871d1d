package kfm.ai

# METADATA
# title: Citation as policy (requirement 003)
# description: True for a text with at least one marker such as [1], or for a draft with at least one admitted citation.
# entrypoint: true
default allow_answer := false

allow_answer if {
	is_string(input.answer)
	regex.match(`\[[0-9]+\]`, input.answer)
}

allow_answer if {
	is_object(input.answer)
	some sentence in input.answer.sentences
	some id in sentence.citations
	is_string(id)
	id in input.prior.admit
}
