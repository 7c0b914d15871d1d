"""Measures the whole pipeline: a scaled corpus, a load of questions, the goals, and a peer on the same work."""
