"""The order of a sentence's words against that of a source sentence."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from ai.answer.claims.lexicon import SYMMETRIC
from ai.answer.claims.roles import Found, Placed
from ai.answer.claims.tokens import Token
from retrieval.english.lists import word_list

_PLACING = word_list("above below over under before after earlier later following")
_AND = re.compile(r"^\s*(?:,\s*)?(?:(?:and|or)\s+)?(?:the\s+)?$", re.IGNORECASE)


def in_order(mine: Sequence[Token], theirs: Sequence[Token], placed: Placed, text: str, source: str) -> Found:
    """The words come in the order of the source, but for one phrase that a preposition opens, or sides of a predicate
    that has no direction."""
    ranks = _ranks(theirs, source)
    order = [(i, ranks[placed[i]]) for i in sorted(placed)]
    falls = [n for n in range(len(order) - 1) if order[n + 1][1] < order[n][1]]
    if not falls:
        return None
    if len(falls) == 1 and _moves(order, falls[0], mine, theirs):
        return None
    if _exchangeable(order, falls, mine, theirs):
        return None
    moved = mine[order[falls[0]][0]].text
    return "contradicted", f"the source has “{moved}” in another place of the sentence"


def _moves(order: Sequence[tuple[int, int]], fall: int, mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """True if one block, with the preposition that opens it, was moved."""
    low, high = order[fall + 1][1], order[fall][1]
    left_at = next(n for n in range(fall + 1) if order[n][1] > low)
    tail = [j for _, j in order[fall + 1 :]]
    right_to = fall + 1 + bisect_left(tail, high)
    blocks = (order[left_at : fall + 1], order[fall + 1 : right_to])
    return any(_is_phrase(block, mine, theirs) and not _displaces(block, order, theirs) for block in blocks)


def _displaces(block: Sequence[tuple[int, int]], order: Sequence[tuple[int, int]], theirs: Sequence[Token]) -> bool:
    """True if the source has another number or name of the same role that is left out: then what moved may have come
    from another clause."""
    taken = {j for _, j in order}
    moved = [theirs[j] for _, j in block]
    left = [t for j, t in enumerate(theirs[: max(taken)]) if j not in taken]
    return any(
        (one.number and other.number) or (one.name and other.name and one.role == other.role)
        for one in moved
        for other in left
    )


def _is_phrase(block: Sequence[tuple[int, int]], mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    (i, j), (_, last) = block[0], block[-1]
    opened = mine[i].opener not in ("", "of") and mine[i].opener == theirs[j].opener  # `of` belongs to its noun
    placing = _places(mine[i].key) and mine[i].key == theirs[j].key
    return (opened or placing) and last - j == len(block) - 1


def _places(key: str) -> bool:
    """True if a word that compares opens a phrase of time or place: `after the war`, not `the fall of the house`, nor
    `the last Congress`."""
    return key in _PLACING


def _ranks(theirs: Sequence[Token], source: str) -> list[int]:
    """The place of each token, the same for all names of one list, which have no order."""
    ranks = list(range(len(theirs)))
    for j in range(1, len(theirs)):
        listed = theirs[j].name and theirs[j - 1].name and _AND.match(source[theirs[j - 1].end : theirs[j].start])
        if listed:
            ranks[j] = ranks[j - 1]
    return ranks


def _exchangeable(
    order: Sequence[tuple[int, int]], falls: Sequence[int], mine: Sequence[Token], theirs: Sequence[Token]
) -> bool:
    """True if only names changed places, around a predicate that says the same either way."""
    kept = [j for i, j in order if not mine[i].name]
    sides = [j for j, t in enumerate(theirs) if t.key in SYMMETRIC]
    low, high = min(order[n + 1][1] for n in falls), max(order[n][1] for n in falls)
    return kept == sorted(kept) and any(low < j < high for j in sides)
