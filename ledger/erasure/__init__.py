"""Redaction of entries, and keyed fingerprints by which copies of what went are found."""
