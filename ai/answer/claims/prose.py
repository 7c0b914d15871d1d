"""A sentence of prose against one sentence of a source: the same words, in roles and an order that mean the same.

A source sentence may be cut short, a phrase of place or time may move, and words may stand for words of like meaning;
what names, numbers, denials, quantities and comparisons say must be what the source says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ai.answer.claims.attached import attached
from ai.answer.claims.lexicon import ALIKE, LEAD, POLES
from ai.answer.claims.matched import Matched
from ai.answer.claims.omissions import omitted
from ai.answer.claims.order import in_order
from ai.answer.claims.roles import denials, gaps, parts, pronouns, roles
from ai.answer.claims.tokens import Reading, Token, read_tokens, same
from ai.model import Verdict

_WHO_IS = re.compile(
    r"\s*(?P<role>(?:The|Its|Our|Their|His|Her)(?: [a-z][\w’'-]*){1,5}) (?P<be>is|was) "
    r"(?P<name>(?:[A-Z][\w.’'-]*)(?: (?:[A-Z][\w.’'-]*|de|van|von|of))*)\.?\s*"
)
_LEFT_OUT = 5
"""A sentence said in other words has at most this part left out: an aside, an `also`."""


_CHECKS = (pronouns, denials, roles, parts, attached, in_order, gaps, omitted)
"""Functions of the two sentences, each of which may find that mine says more than the source does."""


@dataclass(frozen=True, slots=True)
class Match:
    """How a sentence compares to a source sentence: `reason` is empty where it says the same. `held` counts the content
    words that the source sentence has too; `of` is that sentence, where the other says nearly all of it."""

    verdict: Verdict
    reason: str
    held: int
    start: int = 0
    end: int = 0
    of: str = ""


def compare(
    said: Reading,
    source: str,
    context: frozenset[str],
    *,
    only_borne_out: bool = False,
) -> Match:
    """`said` against one source sentence; `context` are the words of its title and heading, which a name may come
    from where the source leans on them. `only_borne_out`: how near it comes where it is not is not asked for."""
    read = read_tokens(source)
    lead = LEAD.match(said.text)
    mine = [t for t in said.tokens if lead is None or t.start >= lead.end()]
    if not mine:
        return Match("not_in_source", "it claims nothing that a source says", 0)
    fits = _fits(mine, source)
    if only_borne_out and any(not places and not _from(t, read, context) for t, places in zip(mine, fits, strict=True)):
        return Match("not_in_source", "", 0)
    pairs = _aligned(fits, len(read.tokens))
    placed = {i: j for i, j in enumerate(pairs) if j is not None}
    held = sum(1 for i in placed if not mine[i].mark)
    missing = [t for i, t in enumerate(mine) if i not in placed and not _from(t, read, context)]
    if missing:
        return _missing(missing, mine, read.tokens, held)
    if held < 2:
        return Match("not_checkable", "too few of its words are the source's", held)
    both = Matched.of(mine, read.tokens, placed, said.text, source)
    found = next((told for told in (check(both) for check in _CHECKS) if told is not None), None)
    if found is None:
        return Match("borne_out", "", held, of=source if _says_whole(both.taken, read.tokens) else "")
    turned = _turned(said.text)
    match = compare(read_tokens(turned), source, context, only_borne_out=True) if turned else None
    borne_out = match is not None and match.verdict == "borne_out"
    return match if match and borne_out else Match(*found, held, mine[0].start, mine[-1].end)


def _turned(text: str) -> str:
    """`The clerk is Ms Calder` as `Ms Calder is the clerk`, which says the same; empty for any other sentence."""
    found = _WHO_IS.fullmatch(text)
    return f"{found['name']} {found['be']} {found['role'][0].lower()}{found['role'][1:]}." if found else ""


def _says_whole(said: frozenset[int], theirs: Sequence[Token]) -> bool:
    """True if nearly all content words of the source sentence are said, and all its numbers and quantities."""
    left = [token for at, token in enumerate(theirs) if at not in said]
    return _LEFT_OUT * len(left) <= len(theirs) and not any(token.number or token.mark for token in left)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a source sentence has its words: by mark, by key, the keys by their first three letters, and those with
    words of like meaning."""

    marks: Mapping[str, tuple[int, ...]]
    keys: Mapping[str, tuple[int, ...]]
    heads: Mapping[str, tuple[str, ...]]
    alike: tuple[str, ...]


@lru_cache(maxsize=4096)
def _places_of(source: str) -> _Places:
    marks: dict[str, tuple[int, ...]] = {}
    keys: dict[str, tuple[int, ...]] = {}
    for at, token in enumerate(read_tokens(source).tokens):
        named, by = (marks, token.mark) if token.mark else (keys, token.key)
        named[by] = (*named.get(by, ()), at)
    heads: dict[str, tuple[str, ...]] = {}
    for key in keys:
        heads[key[:3]] = (*heads.get(key[:3], ()), key)
    return _Places(marks, keys, heads, tuple(key for key in keys if key in ALIKE))


def _fits(mine: Sequence[Token], source: str) -> list[tuple[int, ...]]:
    """For each of my tokens, the places of those of the source that it fits. A mark fits that mark alone; a key may fit
    those that it shares three letters or a group of like words with."""
    places = _places_of(source)
    return [
        places.marks.get(each.mark, ()) if each.mark else _of_key(each.key, places)
        for each in mine
    ]  # fmt: skip


def _of_key(key: str, places: _Places) -> tuple[int, ...]:
    near = (*places.heads.get(key[:3], ()), *(places.alike if key in ALIKE else ()))
    fitting = {each for each in near if each != key and same(key, each)}
    found = places.keys.get(key, ())
    if not fitting:
        return found
    return tuple(sorted((*found, *(at for each in fitting for at in places.keys[each]))))


def _from(token: Token, read: Reading, context: frozenset[str]) -> bool:
    """True if a name may come from the context of a source that leans on it."""
    return token.name and read.leans and token.key in context


def _aligned(fits: Sequence[Sequence[int]], m: int) -> list[int | None]:
    """The place of each of my tokens among their `m`: the longest common subsequence first, then what is left."""
    n = len(fits)
    table = [[0] * (m + 1)] * (n + 1)  # no row is written twice
    for i in range(n - 1, -1, -1):
        below = table[i + 1]
        table[i] = row = below.copy() if fits[i] else below
        for at in reversed(fits[i]):
            longest, j = below[at + 1] + 1, at
            while j >= 0 and row[j] < longest:
                row[j] = longest
                j -= 1
    places: list[int | None] = [None] * n
    i = j = 0
    while i < n and j < m:
        if j in fits[i] and table[i][j] == table[i + 1][j + 1] + 1:
            places[i] = j
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    used = {p for p in places if p is not None}
    for i in range(n):
        if places[i] is None:
            free = [j for j in fits[i] if j not in used]
            if free:
                places[i] = free[0]
                used.add(free[0])
    return places


def _missing(missing: Sequence[Token], mine: Sequence[Token], theirs: Sequence[Token], held: int) -> Match:
    """Words that the source does not have; where it states the opposite they are contradicted."""
    first = missing[0]
    span = (first.start, missing[-1].end)
    for token in missing:
        pole = POLES.get(token.key)
        opposite = next((o for o in theirs if pole and POLES.get(o.key) == (pole[0], -pole[1])), None)
        if opposite is not None:
            return Match("contradicted", f"the source says “{opposite.text}”, not “{token.text}”", held, *span)
        if token.mark == "not":
            return Match("contradicted", "the source does not deny it", held, *span)
        if token.number and held >= len(mine) / 2:
            others = [o.text for o in theirs if o.number]
            told = f"; it gives {', '.join(others[:3])}" if others else ""
            return Match(
                "contradicted" if others else "not_in_source",
                f"the source does not give {token.text}{told}",
                held,
                *span,
            )
    said = ", ".join(f"“{t.text}”" for t in missing[:4])
    return Match("not_in_source", f"the source does not say {said}", held, *span)
