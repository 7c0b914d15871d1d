"""Metrics of a process, and those that requirement 000 names."""
