"""Rows of tables held against a question: which of them are about something else."""
