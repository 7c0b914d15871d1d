"""Comparison of retrieval profiles over saved queries, and the measures of ranked lists that it needs."""
