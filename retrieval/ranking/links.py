"""Passages that lead on from the best ones: what a leading passage names in its words, and a heading is about.

A question of several steps has its second step in a passage that shares few words with it: the one about the name that
the first step's passage says. Pure; integers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from retrieval.english.words import content_beginnings, words
from retrieval.ranking.dedupe import Candidate

LEADERS = 3
_ASIDE = re.compile(r"\([^)]*+(?:(?P<end>\))|\Z)")


def leading_scores(ordered: Sequence[Candidate], scores: Mapping[str, int], question: str) -> dict[str, int]:
    """For each candidate whose heading one of the best three writes out: the score of the best such. Headings that the
    question says itself lead nowhere, nor do those without a content word. `ordered` are the candidates, best first by
    `scores`."""
    leaders = ordered[:LEADERS]
    said = _written(question)
    texts = [(_heading(c), _written(f"{_heading(c)} {c.words}"), scores[c.record_id]) for c in leaders]
    found: dict[str, int] = {}
    for candidate in ordered:
        heading = _heading(candidate)
        name = _name(heading)
        if not name or name in said:
            continue
        leading = [score for own, text, score in texts if own != heading and name in text]
        if leading:
            found[candidate.record_id] = max(leading)
    return found


def _heading(candidate: Candidate) -> str:
    return candidate.records[0].record.heading or ""


@lru_cache(maxsize=8192)
def _name(heading: str) -> str:
    """The heading as it is looked for, without what stands in brackets; empty where it has no content word."""
    bare = _ASIDE.sub(lambda aside: " " if aside["end"] else aside[0], heading)
    return _written(bare) if content_beginnings(bare) else ""


def _written(text: str) -> str:
    return f" {' '.join(words(text))} "
