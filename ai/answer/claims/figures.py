"""Figures in a sentence against the figures that items state: place, measure, time, value and unit must be those of
one item; what compares is computed again; every other word must be one that the item holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ai.answer.claims.facts import Figures, Ranked, Stated
from ai.answer.claims.lexicon import (
    ALIKE,
    FRAME,
    FUNCTION,
    MARKED,
    NEGATIONS,
    PERSONS,
    POLES,
    SCALES,
    SUPERLATIVES,
)
from ai.answer.claims.mentions import AFTER, TIME_WORDS, Mentions, Place, bound_values, read_mentions, words_left
from ai.answer.claims.numbers import Number, multiples
from ai.model import Claim, Verdict, hold
from ai.text.support import carries, fold
from retrieval.model import Intent

_MEASURE_FREE = FUNCTION | FRAME


@dataclass(frozen=True, slots=True)
class Question:
    """The parts that a sentence leaves to the question where that leaves no choice: the places and years asked
    for."""

    places: frozenset[str] = frozenset()
    years: frozenset[int] = frozenset()

    @classmethod
    def of(cls, intent: Intent) -> Question:
        """The question as it was read."""
        years = {y for t in intent.times if t.end.year - t.start.year < 60 for y in range(t.start.year, t.end.year + 1)}
        return cls(frozenset(e.entity_id for e in intent.entities), frozenset(years))


@dataclass(frozen=True, slots=True)
class Checked:
    """The claims of a sentence about figures. `bearers` are the items that bear them out, one set for each claim that
    is borne out; none where the sentence is not one about figures."""

    claims: tuple[Claim, ...]
    bearers: tuple[frozenset[int], ...] = ()
    used: tuple[Stated, ...] = ()

    @property
    def holds(self) -> bool:
        """True if there are claims, and all are borne out."""
        return hold(self.claims)


@dataclass(frozen=True, slots=True)
class _Over:
    """The inputs of a check of figures: all figures that there are, the items that may bear it out, what was asked."""

    every: Figures
    cited: frozenset[int]
    question: Question


def check_figures(
    text: str, cited: Figures, every: Figures, words: Mapping[int, frozenset[str]], question: Question
) -> Checked:
    """The claims about figures in a sentence. `cited` are the figures that may bear it out, `every` those of all items,
    which may contradict it; `words` are the words that each item holds. No claims where the sentence states no figure
    of a kind that the items hold."""
    read = read_mentions(text, every)
    considered = {r.considered for r in cited.ranked}
    claims = [_claim(n, "borne_out") for n in read.values if n.value in considered]
    read.values = [n for n in read.values if n.value not in considered]
    if not (read.values or read.gaps) or not every.stated:
        return Checked(())
    over = _Over(every, frozenset(s.item for s in cited.stated), question)
    used: list[Stated] = []
    bearers: list[frozenset[int]] = []
    for value, place, year in bound_values(read):
        found, claim = _value(value, place, year, read=read, over=over)
        claims.append(claim)
        if found:
            used.append(found[0])
            bearers.append(frozenset(s.item for s in found))
    if not used:
        return Checked(tuple(claims))
    claims += _compared(read, used, cited, question)
    claims += _others(read, used, words)
    return Checked(tuple(claims), tuple(bearers), tuple(used))


def _value(
    value: Number, where: Place | None, at: Number | None, *, read: Mentions, over: _Over
) -> tuple[list[Stated], Claim]:
    every, question = over.every, over.question
    loose = (where is None and len(read.places) > 1) or (at is None and len(read.years) > 1)
    ids = where.ids if where is not None else question.places
    years = frozenset({int(at.value)}) if at is not None else question.years

    def timed(stated: Stated) -> bool:
        return not years.isdisjoint(stated.years) if years else (stated.direct or not stated.years)

    if loose:
        return [], _claim(value, "not_checkable", reason=f"it is not clear what {value.text} belongs to")
    named = [s for s in every.stated if (s.place.entity_id in ids if ids else s.direct)]
    fitting = [(s, value.agrees(s.value)) for s in named if timed(s)]
    found = [s for s, agrees in fitting if agrees and s.item in over.cited]
    other = [s for s, agrees in fitting if not agrees and _same_measure(s, found)]
    typed = [s for s in other if s.direct and s.typed]
    if found and _is_open(found[0], where, at, [s for s in other if s.direct], read):
        return [], _claim(value, "not_checkable", reason=f"which of those asked for is {value.text} is not said")
    if found and not (typed and not any(s.typed for s in found)):
        return found, _claim(value, "borne_out", tuple(dict.fromkeys(s.item for s in found)))
    if typed or other:
        return [], _contradiction(value, (typed or other)[0], every)
    held = next((s for s in every.stated if value.agrees(s.value)), None) if over.cited else None
    if held is not None:
        return [], _claim(value, "not_in_source", reason=f"{value.text} is {_told(held)}")
    return [], _claim(value, "not_in_source", reason=f"no cited item gives {value.text} for that place and time")


def _is_open(found: Stated, where: Place | None, at: Number | None, others: Sequence[Stated], read: Mentions) -> bool:
    """True if the sentence leaves it to its reader which of several places it speaks of or, with one value alone, which
    of several years. `others` are the other figures that answer the question."""
    alike = [s for s in others if s.place.entity_id == found.place.entity_id]
    by_year = at is None and len(read.values) == 1 and any(s.years != found.years for s in alike)
    return by_year or (where is None and len(alike) < len(others))


def _same_measure(stated: Stated, found: Sequence[Stated]) -> bool:
    return not found or not stated.typed or any(f.measure == stated.measure for f in found if f.typed)


def _contradiction(value: Number, stated: Stated, every: Figures) -> Claim:
    meant = next((s for s in every.stated if s is not stated and value.agrees(s.value)), None)
    reason = f"[{stated.item}] gives {stated.value:,} for {_years(stated)}"
    if meant is not None:
        reason += f"; {meant.value:,} is {_told(meant)}"
    return _claim(value, "contradicted", (stated.item,), reason)


def _told(stated: Stated) -> str:
    return f"{stated.place.name}, {_years(stated)}"


def _years(stated: Stated) -> str:
    years = stated.years
    if not years:
        return "no year"
    return str(years[0]) if len(years) == 1 else f"{years[0]} to {years[-1]}"


def _claim(value: Number, verdict: Verdict, items: tuple[int, ...] = (), reason: str = "") -> Claim:
    return Claim("figure", value.start, value.end, verdict, items, reason)


def _compared(read: Mentions, used: Sequence[Stated], cited: Figures, question: Question) -> Iterator[Claim]:
    """Words that compare, and differences, computed again from the figures that were found."""
    pair = _pair(read, used, cited, question)
    for match in words_left(read):
        word = fold(match[0])
        if word not in POLES:
            continue
        dimension, sign = POLES[word]
        at = match.span()
        if word in SUPERLATIVES:
            yield _superlative(at, word, sign if dimension == "size" else 0, used, cited.ranked)
        elif dimension in ("change", "size") and pair is not None:
            gap = pair[1] - pair[0] if dimension == "change" else pair[0] - pair[1]
            right = gap * sign > 0
            told = f"the items give {pair[0]:,} and {pair[1]:,}"
            yield Claim("comparison", *at, "borne_out" if right else "contradicted", reason="" if right else told)
        else:
            yield Claim("comparison", *at, "not_in_source", reason=f"no cited item compares: “{match[0]}”")
    for gap_number in read.gaps:
        yield _gap(gap_number, pair)
    for word in multiples(read.text):
        yield Claim("comparison", 0, len(read.text), "not_checkable", reason=f"“{word}” is not computed by an item")


def _pair(read: Mentions, used: Sequence[Stated], cited: Figures, question: Question) -> tuple[Decimal, Decimal] | None:
    """The two figures that are compared: of one place, earlier and later; or of two places, as they are named."""
    chosen = list(dict.fromkeys(used))
    places = {s.place.entity_id for s in chosen}
    if len(chosen) == 2 and len(places) == 1 and chosen[0].years and chosen[1].years:
        before, after = sorted(chosen, key=lambda s: s.years[0])
        return None if before.years[0] == after.years[0] else (before.value, after.value)
    if len(chosen) == 2 and len(places) == 2 and chosen[0].years == chosen[1].years:
        return chosen[0].value, chosen[1].value
    return None


def _superlative(at: tuple[int, int], word: str, sign: int, used: Sequence[Stated], ranked: Sequence[Ranked]) -> Claim:
    for each in ranked:
        same = any(s.place.entity_id == each.place.entity_id and s.item == each.item for s in used)
        if same and sign and each.sign == sign:
            return Claim("superlative", *at, "borne_out", (each.item,))
        if same and sign and each.sign == -sign:
            return Claim(
                "superlative", *at, "contradicted", (each.item,), f"[{each.item}] finds the opposite of “{word}”"
            )
    return Claim("superlative", *at, "not_in_source", reason=f"no cited item says “{word}” of that place")


def _gap(number: Number, pair: tuple[Decimal, Decimal] | None) -> Claim:
    if pair is None or number.ordinal:
        return Claim(
            "figure", number.start, number.end, "not_checkable", reason=f"{number.text} is not computed by an item"
        )
    gap = pair[1] - pair[0]
    if number.share:
        right = bool(pair[0]) and abs(abs(number.value) - abs(gap * 100 / pair[0])) <= Decimal("0.5")
    else:
        right = number.agrees(gap) or number.agrees(abs(gap))
    reason = "" if right else f"{pair[0]:,} and {pair[1]:,} differ by {gap:,}"
    return Claim("figure", number.start, number.end, "borne_out" if right else "contradicted", reason=reason)


def _others(read: Mentions, used: Sequence[Stated], words: Mapping[int, frozenset[str]]) -> Iterator[Claim]:
    """The rest of a sentence beyond its figures: denials, and words that the items do not hold."""
    held = frozenset[str]().union(*(words.get(s.item, frozenset()) for s in used))
    units = frozenset[str]().union(*(s.counted for s in used))
    if any(s.counts_persons for s in used):
        units |= PERSONS
    missing: list[re.Match[str]] = []
    for match in words_left(read):
        word = fold(match[0])
        if word in NEGATIONS or match[0].casefold().endswith(("n't", "n’t")):
            yield Claim("negation", *match.span(), "contradicted", _items(used), "the items do not deny it")
        elif word in POLES or _frames(match, word) or word in SCALES or word in units or carries(units, word):
            continue
        elif word in MARKED or not (carries(held, word) or _alike(word, held)):
            missing.append(match)
    for value in read.values:
        counted = AFTER.match(read.text, value.end)
        word = fold(counted[1]) if counted else ""
        plain = (
            not word
            or word in _MEASURE_FREE
            or word in POLES
            or word in TIME_WORDS
            or word in MARKED
            or word in NEGATIONS
        )
        place = any(p.start <= counted.start(1) < p.end for p in read.places) if counted else False
        if not (plain or place or word in units or carries(units, word)):
            missing.append(counted) if counted else None
    if missing:
        said = ", ".join(dict.fromkeys(f"“{m[1] if m.re is AFTER else m[0]}”" for m in missing))
        yield Claim(
            "prose",
            missing[0].start(),
            missing[-1].end(),
            "not_in_source",
            _items(used),
            f"the item does not hold {said}",
        )


def _frames(match: re.Match[str], word: str) -> bool:
    """True if a word only presents the figure; one that reads like a name does not."""
    return word in FUNCTION or (word in FRAME and (match[0][0].islower() or match.start() == 0))


def _items(used: Sequence[Stated]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(s.item for s in used))


def _alike(word: str, held: frozenset[str]) -> bool:
    groups = ALIKE.get(word)
    return groups is not None and any(not groups.isdisjoint(ALIKE.get(other, frozenset())) for other in held)
