"""The order of a sentence's words against that of a source sentence."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from ai.answer.claims.lexicon import SYMMETRIC
from ai.answer.claims.matched import Found, Matched
from ai.answer.claims.tokens import Token
from retrieval.english.lists import word_list

_PLACING = word_list("above below over under before after earlier later following")
_JOINED = re.compile(r";|,\s+(?:and|but|while|whereas|or)\b")
_JOINTS = re.compile(r"\b(?:because|so that|in order to|before|after|until|although|unless|whereas)\b", re.IGNORECASE)
"""Words that join two clauses, of which the second is the reason, the end or the time of the first."""
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?\Z", re.IGNORECASE)
_AND = re.compile(r"^\s*(?:,\s*)?(?:(?:and|or)\s+)?(?:the\s+)?$", re.IGNORECASE)


Place = tuple[int, int, int]
"""A word of mine by its place, its rank in the source, and its place there."""


def in_order(both: Matched) -> Found:
    """The words come in the order of the source, but for one phrase that a preposition opens, or sides of a predicate
    that has no direction."""
    mine, theirs, placed, source = both.mine, both.theirs, both.placed, both.source
    ranks = _ranks(theirs, source)
    order = [(i, ranks[placed[i]], placed[i]) for i in sorted(placed)]
    falls = [n for n in range(len(order) - 1) if order[n + 1][1] < order[n][1]]
    if not falls:
        return None
    if len(falls) == 1 and _moves(order, falls[0], mine, theirs, source):
        return _traded(both) or _parted(order, falls[0], theirs)
    if _exchangeable(order, falls, mine, theirs):
        return None
    moved = mine[order[falls[0]][0]].text
    return "contradicted", f"the source has “{moved}” in another place of the sentence"


def _moves(order: Sequence[Place], fall: int, mine: Sequence[Token], theirs: Sequence[Token], source: str) -> bool:
    """True if one block, with the preposition that opens it, was moved, and neither into another clause of the
    source nor out of a name."""
    low, high = order[fall + 1][1], order[fall][1]
    left_at = next(n for n in range(fall + 1) if order[n][1] > low)
    tail = [rank for _, rank, _ in order[fall + 1 :]]
    right_to = fall + 1 + bisect_left(tail, high)
    blocks = (order[left_at : fall + 1], order[fall + 1 : right_to])
    return any(
        _is_phrase(block, mine, theirs)
        and not _displaces(block, order, theirs)
        and not _splits_name(block[0][2], block[-1][2], theirs, source)
        and not _changes_clause([j for _, _, j in block], [j for _, _, j in passed], theirs, source)
        for block, passed in (blocks, blocks[::-1])
    )


def _traded(both: Matched) -> Found:
    """A clause stays behind the word that joins it to the other: of `The force grew, so that the fort held 691 men` the
    men are no reason why it grew."""
    for joint in _JOINTS.finditer(both.text):
        word = joint[0].casefold()
        theirs = [m for m in _JOINTS.finditer(both.source) if m[0].casefold() == word]
        first = next((i for i in sorted(both.placed) if both.mine[i].start > joint.end()), None)
        if len(theirs) == 1 and first is not None:
            opens = both.theirs[both.placed[first]]
            if opens.start < theirs[0].start():
                return "contradicted", f"in the source “{opens.text}” stands before “{word}”"
    return None


def _parted(order: Sequence[Place], fall: int, theirs: Sequence[Token]) -> Found:
    """Of two phrases with one preposition each stays with its own: `104 in January to 109 in June` is not 109 in
    January."""
    moved, at = theirs[order[fall + 1][2]], order[fall][2]
    if at + 1 >= len(theirs) or any(j == at + 1 for _, _, j in order):
        return None
    own = theirs[at + 1]
    same = (
        moved.opener
        and not own.after_comma
        and own.opener == moved.opener
        and (own.number, own.name) == (moved.number, moved.name)
    )
    return ("contradicted", f"in the source “{theirs[at].text}” has “{own.text}”") if same else None


def _splits_name(first: int, last: int, theirs: Sequence[Token], source: str) -> bool:
    """True if the words beside those of the source are of one name with them."""
    ends = [j for j in (first, last + 1) if 0 < j < len(theirs)]
    joins = ((theirs[j - 1], theirs[j]) for j in ends)
    return any(one.name and two.name and not source[one.end : two.start].strip() for one, two in joins)


def _changes_clause(moved: Sequence[int], passed: Sequence[int], theirs: Sequence[Token], source: str) -> bool:
    """True if what moved has passed the end of its clause and a phrase of the same role beyond it: of `In May Ida came,
    and in June Per went` neither month may change sides."""
    after = max(moved) < max(passed)
    for j in passed:
        one, other = (theirs[max(moved)], theirs[j]) if after else (theirs[j], theirs[min(moved)])
        parted = _JOINED.search(source, one.end, other.start) is not None
        if parted and theirs[j].opener and any(theirs[k].role == theirs[j].role for k in moved):
            return True
    return False


def _displaces(block: Sequence[Place], order: Sequence[Place], theirs: Sequence[Token]) -> bool:
    """True if the source has another number or name of the same role that is left out: then what moved may have come
    from another clause."""
    taken = {j for _, _, j in order}
    moved = [theirs[j] for _, _, j in block]
    left = [t for j, t in enumerate(theirs[: max(taken)]) if j not in taken]
    return any(
        (one.number and other.number) or (one.name and other.name and one.role == other.role)
        for one in moved
        for other in left
    )


def _is_phrase(block: Sequence[Place], mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    (i, _, j), (_, _, last) = block[0], block[-1]
    opened = mine[i].opener not in ("", "of") and mine[i].opener == theirs[j].opener  # `of` belongs to its noun
    placing = _places(mine[i].key) and mine[i].key == theirs[j].key
    return (opened or placing) and last - j == len(block) - 1


def _places(key: str) -> bool:
    """True if a word that compares opens a phrase of time or place: `after the war`, not `the fall of the house`, nor
    `the last Congress`."""
    return key in _PLACING


def _ranks(theirs: Sequence[Token], source: str) -> list[int]:
    """The place of each token, the same for all names of one list, which have no order; one name of several words
    is no list, and neither is `between September and April`."""
    ranks, ordered = list(range(len(theirs))), "etween " in source
    gaps = [source[theirs[j - 1].end : theirs[j].start] for j in range(1, len(theirs))]
    first = 0
    for j in range(1, len(theirs) + 1):
        if j < len(theirs) and theirs[j].name and theirs[j - 1].name and _AND.match(gaps[j - 1]):
            continue
        between = _BETWEEN.search(source, 0, theirs[first].start) if ordered and first < len(theirs) else None
        if between is None and any(gap.strip() for gap in gaps[first : j - 1]):
            ranks[first:j] = [first] * (j - first)
        first = j
    return ranks


def _exchangeable(order: Sequence[Place], falls: Sequence[int], mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """True if only names changed places, around a predicate that says the same either way."""
    kept = [rank for i, rank, _ in order if not mine[i].name]
    sides = [j for j, t in enumerate(theirs) if t.key in SYMMETRIC]
    low, high = min(order[n + 1][1] for n in falls), max(order[n][1] for n in falls)
    return kept == sorted(kept) and any(low < j < high for j in sides)
