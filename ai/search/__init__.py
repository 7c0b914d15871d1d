"""Retrieval without an answer: admitted passages, as the retrieval surfaces return them."""
