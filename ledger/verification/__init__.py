"""Verification of a whole log from its stored bytes."""
