"""A sentence of prose against one sentence of a source: the same words, in roles and an order that mean the same.

A source sentence may be cut short, a phrase of place or time may move, and words may stand for words of like meaning;
what names, numbers, denials, quantities and comparisons say must be what the source says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ai.answer.claims.lexicon import ALIKE, LEAD, POLES
from ai.answer.claims.order import in_order
from ai.answer.claims.roles import denials, gaps, parts, pronouns, roles
from ai.answer.claims.tokens import Reading, Token, read_tokens, same
from ai.model import Verdict


@dataclass(frozen=True, slots=True)
class Match:
    """How a sentence compares to a source sentence: `reason` is empty where it says the same. `held` counts the content
    words that the source sentence has too."""

    verdict: Verdict
    reason: str
    held: int
    start: int = 0
    end: int = 0


def compare(said: Reading, source: str, context: frozenset[str], *, only_borne_out: bool = False) -> Match:
    """`said` against one source sentence; `context` are the words of its title and heading, which a name may come
    from where the source leans on them. `only_borne_out`: how near it comes where it is not is not asked for."""
    read = read_tokens(source)
    lead = LEAD.match(said.text)
    mine = [t for t in said.tokens if lead is None or t.start >= lead.end()]
    if not mine:
        return Match("not_in_source", "it claims nothing that a source says", 0)
    fits = _fits(mine, read.tokens)
    if only_borne_out and any(
        True not in row and not _from(t, read, context) for t, row in zip(mine, fits, strict=True)
    ):
        return Match("not_in_source", "", 0)
    pairs = _aligned(fits, len(read.tokens))
    placed = {i: j for i, j in enumerate(pairs) if j is not None}
    held = sum(1 for i in placed if not mine[i].mark)
    missing = [t for i, t in enumerate(mine) if i not in placed and not _from(t, read, context)]
    if missing:
        return _missing(missing, mine, read.tokens, held)
    if held < 2:
        return Match("not_checkable", "too few of its words are the source's", held)
    for check in (pronouns, denials, roles, parts, in_order, gaps):
        found = check(mine, read.tokens, placed, said.text, source)
        if found is not None:
            return Match(*found, held, mine[0].start, mine[-1].end)
    return Match("borne_out", "", held)


def _fits(mine: Sequence[Token], theirs: Sequence[Token]) -> list[list[bool]]:
    """For each of my tokens, which of theirs it fits. A mark fits that mark alone; a key may fit those that it shares
    three letters or a group of like words with, so that most rows are not compared at all."""
    keys = {t.key for t in theirs}
    heads, like = {key[:3] for key in keys}, not keys.isdisjoint(ALIKE)
    none = [False] * len(theirs)

    def row(one: Token) -> list[bool]:
        mark, key = one.mark, one.key
        if not mark and key not in keys and key[:3] not in heads and not (like and key in ALIKE):
            return none
        return [mark == t.mark if mark or t.mark else key == t.key or same(key, t.key) for t in theirs]

    return [row(one) for one in mine]


def _from(token: Token, read: Reading, context: frozenset[str]) -> bool:
    """True if a name may come from the context of a source that leans on it."""
    return token.name and read.leans and token.key in context


def _aligned(fits: Sequence[Sequence[bool]], m: int) -> list[int | None]:
    """The place of each of my tokens among their `m`: the longest common subsequence first, then what is left."""
    n = len(fits)
    table = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        if True not in fits[i]:
            table[i] = table[i + 1]
            continue
        row, below, fit = table[i], table[i + 1], fits[i]
        for j in range(m - 1, -1, -1):
            row[j] = below[j + 1] + 1 if fit[j] else max(below[j], row[j + 1])
    places: list[int | None] = [None] * n
    i = j = 0
    while i < n and j < m:
        if fits[i][j] and table[i][j] == table[i + 1][j + 1] + 1:
            places[i] = j
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    used = {p for p in places if p is not None}
    for i in range(n):
        if places[i] is None:
            free = [j for j in range(m) if j not in used and fits[i][j]]
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
