"""Wire formats of retrieval without an answer (requirements 000 and 002)."""
