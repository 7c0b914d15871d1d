"""The rules by which the default model reads, by the numbers of their versions."""

from __future__ import annotations

VERSION = 15
"""Raised with every change of what is a candidate; what a release recorded replays by the rules of its version. Those
between releases are not kept (ADR 0111)."""
RELEASED = 3
"""The version of release 0.1.0: a sentence may begin with a pronoun whose antecedent is not told, words weigh no more
than their share, and rows, questions and lines that stand alone are read as prose."""
KEPT_VERSIONS = frozenset({RELEASED, VERSION})
"""Those that run."""
