"""Prose questions whose answering sentence was named before any reader was tried on them."""
