"""Requests of the retrieval surfaces as the pipeline's values, and what was found as their bodies."""
