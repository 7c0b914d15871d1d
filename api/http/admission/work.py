"""The kinds of work that requests ask for, each with bounds of its own."""

from __future__ import annotations

from enum import StrEnum

_PROBES = frozenset({"/livez", "/readyz", "/version", "/metrics"})
_QUESTIONS = ("/api/v1/ai/", "/api/v1/retrieve/", "/retrieval/")
_ENTRIES, _COMPUTED = "/api/v1/ledger/entries/", ("/replay", "/changes")


class Work(StrEnum):
    """QUESTION searches the corpus, or computes an answer again; READ reads what is there; PROBE is for operators and
    never waits."""

    QUESTION = "question"
    READ = "read"
    PROBE = "probe"


def work_of(path: str) -> Work:
    """The kind of work behind a path."""
    if path in _PROBES:
        return Work.PROBE
    computes = path.startswith(_QUESTIONS) or (path.startswith(_ENTRIES) and path.endswith(_COMPUTED))
    return Work.QUESTION if computes else Work.READ
