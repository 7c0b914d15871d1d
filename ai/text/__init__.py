"""Readings of English text that need no corpus: sentences, word forms, the kind of a question, support."""
