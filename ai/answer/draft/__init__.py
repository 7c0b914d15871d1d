"""Drafts: the prompt, one call of the model, its output as cited sentences, and which of them may stay."""
