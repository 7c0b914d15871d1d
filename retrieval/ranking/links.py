"""Passages that lead on from the best ones: to those that are about what a leading one names, or name it too.

A question of several steps has its second step in a passage that shares few words with it: the one about the name that
the first step's passage says, or one that says a name which few others say. Pure; integers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from retrieval.english.names import written_names
from retrieval.english.words import content_beginnings, words

LINKED_MILLI, SHARED_MILLI = 600, 400
"""How much passages gain by a heading that a leading one writes out, and by a rare name that the best one shares. Set
on MuSiQue (docs/benchmarks.md)."""
LEADERS = 3
MOST_NAMES = 64
"""How many of the best passage's names are looked for in the others: its first ones."""
_FULL_MILLI = 1_000
_ASIDE = re.compile(r"\([^)]*+(?:(?P<end>\))|\Z)")


class Linkable(Protocol):
    """The part of a candidate that links read."""

    @property
    def record_id(self) -> str: ...

    @property
    def heading(self) -> str: ...

    @property
    def words(self) -> str: ...


def lifted(
    candidates: Sequence[Linkable], scores: Mapping[str, int], question: str, *, linked: int, shared: int
) -> dict[str, int]:
    """The scores with what the links add, `linked` and `shared` (thousandths) at most; none passes what leads to it.
    Of equal scores the candidate that comes first leads."""
    found = dict(scores)

    def ordered() -> list[Linkable]:
        return sorted(candidates, key=lambda c: -found[c.record_id])

    if linked and candidates:
        best_first = ordered()
        first = max(1, found[best_first[0].record_id])
        for record_id, leader in leading_scores(best_first, found, question).items():
            raised = found[record_id] + linked * leader // first
            found[record_id] = max(found[record_id], min(raised, leader - 1))
    if shared and candidates:
        best_first = ordered()
        most = found[best_first[0].record_id] - 1
        for record_id, rarity in shared_names(best_first, question).items():
            raised = found[record_id] + shared * rarity // _FULL_MILLI
            found[record_id] = max(found[record_id], min(raised, most))
    return found


def leading_scores(ordered: Sequence[Linkable], scores: Mapping[str, int], question: str) -> dict[str, int]:
    """For each candidate whose heading one of the best three writes out: the score of the best such. Headings that the
    question says itself lead nowhere, nor do those without a content word. `ordered` are the candidates, best first by
    `scores`."""
    leaders = ordered[:LEADERS]
    said = _written(question)
    texts = [(c.heading, _written(f"{c.heading} {c.words}"), scores[c.record_id]) for c in leaders]
    found: dict[str, int] = {}
    for candidate in ordered:
        heading = candidate.heading
        name = _name(heading)
        if not name or name in said:
            continue
        leading = [score for own, text, score in texts if own != heading and name in text]
        if leading:
            found[candidate.record_id] = max(leading)
    return found


def shared_names(ordered: Sequence[Linkable], question: str) -> dict[str, int]:
    """For each candidate that writes out a name of the best one which the question does not say: how rare the rarest
    such name is, in thousandths. A name that the two alone write out is 1000, one of n candidates 2000 / n. `ordered`
    are the candidates, best first."""
    if not ordered:
        return {}
    said = _written(question)
    best = ordered[0]
    names = dict.fromkeys(_written(name) for name, _ in written_names(f"{best.heading}. {best.words}"))
    rarest: dict[str, int] = {}
    texts = {c.record_id: f"{c.heading} {c.words}" for c in ordered}
    folded = {record_id: text.casefold() for record_id, text in texts.items()}
    for name in [name for name in names if name not in said][:MOST_NAMES]:
        longest = max(name.split(), key=len)  # cheaper than to take every text apart
        holders = [key for key, text in folded.items() if longest in text and name in _written(texts[key])]
        for record_id in holders:
            rarest[record_id] = min(rarest.get(record_id, len(holders)), len(holders))
    return {key: 2 * _FULL_MILLI // count for key, count in rarest.items() if key != best.record_id}


@lru_cache(maxsize=8192)
def _name(heading: str) -> str:
    """The heading as it is looked for, without what stands in brackets; empty where it has no content word."""
    bare = _ASIDE.sub(lambda aside: " " if aside["end"] else aside[0], heading)
    return _written(bare) if content_beginnings(bare) else ""


@lru_cache(maxsize=1024)
def _written(text: str) -> str:
    return f" {' '.join(words(text))} "
