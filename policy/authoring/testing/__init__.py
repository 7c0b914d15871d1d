"""Tests of a bundle: vectors, tables, generated inputs, coverage and mutation."""
