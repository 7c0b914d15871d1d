"""Kinds of files, each to its exact stored text."""
