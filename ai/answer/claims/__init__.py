"""Sentences taken apart into claims, and each claim checked against the admitted items."""
