"""The kinds of work that requests ask for, each with bounds of its own."""

from __future__ import annotations

from enum import StrEnum

_PROBES = frozenset({"/livez", "/readyz", "/version", "/metrics"})
_QUESTIONS = ("/api/v1/ai/", "/api/v1/retrieve/", "/retrieval/")


class Work(StrEnum):
    """QUESTION searches the corpus; READ reads what is there; PROBE is for operators and never waits."""

    QUESTION = "question"
    READ = "read"
    PROBE = "probe"


def work_of(path: str) -> Work:
    """The kind of work behind a path."""
    if path in _PROBES:
        return Work.PROBE
    return Work.QUESTION if path.startswith(_QUESTIONS) else Work.READ
