"""Erasure of entries, subjects and sources from a home, and the search for what is left of them."""
