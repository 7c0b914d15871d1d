"""Drafts that reckon with figures: ranges, sums, differences, shares, multiples, ranks and lists."""

from __future__ import annotations

import random
from collections.abc import Mapping
from decimal import Decimal

from api.measure.eval.drafting.cells import (
    Known,
    Make,
    Table,
    one,
    others_of,
    plainly,
    question_of,
    several,
    shown,
    two,
    unit_of,
    words,
    years_of,
)
from api.measure.eval.drafting.model import Fact, Trial

_ORDINALS = ("second", "third", "4th", "5th", "seventh", "12th")


def _years_pair(fact: Fact, table: Table, draw: random.Random) -> tuple[Fact, Fact] | None:
    others = years_of(fact, table)
    if not others:
        return None
    first, last = sorted((fact, draw.choice(others)), key=lambda f: f.year)
    return first, last


def _places_pair(fact: Fact, table: Table, draw: random.Random) -> tuple[Fact, Fact] | None:
    """Two places for one year, the larger first."""
    others = others_of(fact, table)
    if not others:
        return None
    pair = sorted((fact, draw.choice(others)), key=lambda f: Decimal(f.value))
    return pair[1], pair[0]


def _of_years(pair: tuple[Fact, Fact]) -> str:
    return f"What was the {words(pair[0].measure)} of {pair[0].place} in {pair[0].year} and in {pair[1].year}?"


def _of_places(pair: tuple[Fact, ...]) -> str:
    return f"What was the {words(pair[0].measure)} of {' and of '.join(f.place for f in pair)} in {pair[0].year}?"


def _range(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A span of values that the figure lies outside of."""
    value = Decimal(fact.value)
    low, high = draw.choice(((Decimal("1.15"), Decimal("1.4")), (Decimal("0.6"), Decimal("0.85"))))
    low, high = (value * low).quantize(Decimal(1)), (value * high).quantize(Decimal(1))
    if low == high or value in (low, high):
        return None
    text = draw.choice(("between {} and {}", "from {} to {}", "{}-{}", "anywhere from {} up to {}", "{} to {}"))
    return one(kind, fact, plainly(fact, text.format(f"{low:,}", f"{high:,}")), fact)


def _too_wide(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A rounded figure that rounds to nothing near the right one."""
    value = Decimal(fact.value)
    step = Decimal(10) ** (len(str(int(value))) - 1)
    off = (value / step).to_integral_value() * step + draw.choice((-1, 1)) * step
    if value < 100 or off <= 0 or abs(off - value) <= step / 2:
        return None
    said = f"{off.scaleb(-3).normalize():f} thousand" if off >= 1000 and draw.random() < 0.4 else f"{off:,}"
    word = draw.choice(("about", "around", "roughly", "some", "nearly", "almost", "circa", "just over", "close to"))
    return one(kind, fact, plainly(fact, f"{word} {said}"), fact)


def _share(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A growth or a share in per cent that is not right."""
    pair = _years_pair(fact, table, draw)
    if pair is None or not Decimal(pair[0].value):
        return None
    first, last = pair
    right = (Decimal(last.value) - Decimal(first.value)) * 100 / Decimal(first.value)
    wrong = f"{abs(right) + draw.choice((3, 9, 21)):.0f}"
    verb = "grew" if right > 0 else "fell"
    measure, share = words(fact.measure), draw.choice((f"{wrong} %", f"{wrong} percent", f"{wrong} per cent"))
    text = draw.choice(
        (
            f"The {measure} of {fact.place} {verb} by {share} from {shown(first.value)} in {first.year} to "
            f"{shown(last.value)} in {last.year}.",
            f"The {measure} of {fact.place} was {shown(first.value)} in {first.year} and {shown(last.value)} in "
            f"{last.year}, a change of {share}.",
            f"In {last.year} {fact.place} held {share} of the {measure} of the country, {shown(last.value)}.",
        )
    )
    return two(kind, _of_years(pair), pair, text)


def _rank(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A place in an order that nothing computes, and that is wrong."""
    larger = sum(Decimal(f.value) > Decimal(fact.value) for f in others_of(fact, table)) + 1
    if larger <= 12:
        return None
    ordinal, measure = draw.choice(_ORDINALS), words(fact.measure)
    text = draw.choice(
        (
            f"{fact.place} had the {ordinal} largest {measure} in {fact.year}, {shown(fact.value)}.",
            f"With {shown(fact.value)}, {fact.place} ranked {ordinal} by {measure} in {fact.year}.",
            f"{fact.place} had the {ordinal} {measure} in {fact.year} at {shown(fact.value)}.",
        )
    )
    return one(kind, fact, text, fact)


def _swapped_dates(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """Two years of one place exchanged."""
    pair = _years_pair(fact, table, draw)
    if pair is None:
        return None
    (first, last), measure = pair, words(fact.measure)
    text = draw.choice(
        (
            f"The {measure} of {fact.place} was {shown(last.value)} in {first.year} and {shown(first.value)} in "
            f"{last.year}.",
            f"In {first.year} and {last.year} the {measure} of {fact.place} was {shown(last.value)} and "
            f"{shown(first.value)} respectively.",
            f"{fact.place}: {shown(last.value)} ({first.year}), {shown(first.value)} ({last.year}).",
            f"The {measure} of {fact.place} went from {shown(last.value)} in {first.year} to {shown(first.value)} in "
            f"{last.year}.",
        )
    )
    return two(kind, _of_years(pair), pair, text)


def _sum(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A sum that does not add up, with and without its parts."""
    pair = _places_pair(fact, table, draw)
    if pair is None:
        return None
    (one_of, other), measure = pair, words(fact.measure)
    total = Decimal(one_of.value) + Decimal(other.value)
    wrong = shown(str(total + draw.choice((-1, 1)) * max(2, int(total / draw.choice((9, 25, 100))))))
    parts = f"{shown(one_of.value)} in {one_of.place} and {shown(other.value)} in {other.place}"
    text = draw.choice(
        (
            f"Together, {one_of.place} and {other.place} had a {measure} of {wrong} in {fact.year}.",
            f"The combined {measure} of {one_of.place} and {other.place} in {fact.year} was {wrong}.",
            f"In {fact.year} the {measure} was {parts}, a total of {wrong}.",
            f"In {fact.year} the {measure} was {parts}, {wrong} in all.",
        )
    )
    return two(kind, _of_places(pair), pair, text)


def _multiple(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A multiple that the figures do not give."""
    pair = _years_pair(fact, table, draw)
    if pair is None or not Decimal(pair[0].value):
        return None
    first, last = pair
    ratio = Decimal(last.value) / Decimal(first.value)
    wrong = {
        "more than doubled": ratio <= 2, "more than tripled": ratio <= 3, "quadrupled": ratio < 3,
        "doubled": not Decimal("1.9") < ratio < Decimal("2.1"), "halved": not Decimal("0.45") < ratio < Decimal("0.55"),
        "almost doubled": ratio < Decimal("1.6"), "grew tenfold": ratio < 8, "tripled": ratio < 2,
    }  # fmt: skip
    verb = draw.choice([word for word, is_wrong in wrong.items() if is_wrong])
    told = draw.choice(
        (
            f"from {shown(first.value)} in {first.year} to {shown(last.value)} in {last.year}",
            f"between {first.year} and {last.year}, when it was {shown(last.value)}",
            f"between {first.year} ({shown(first.value)}) and {last.year} ({shown(last.value)})",
        )
    )
    return two(kind, _of_years(pair), pair, f"The {words(fact.measure)} of {fact.place} {verb} {told}.")


def _difference(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A difference that the figures do not give."""
    pair = _years_pair(fact, table, draw)
    if pair is None:
        return None
    first, last = pair
    gap = abs(Decimal(last.value) - Decimal(first.value))
    wrong = shown(str(gap + draw.choice((-1, 1)) * max(1, int(gap / draw.choice((7, 20))))))
    verb = "increased" if Decimal(last.value) > Decimal(first.value) else "decreased"
    measure = words(fact.measure)
    text = draw.choice(
        (
            f"The {measure} of {fact.place} {verb} by {wrong} between {first.year} and {last.year}, to "
            f"{shown(last.value)}.",
            f"From {first.year} to {last.year} the {measure} of {fact.place} {verb} by {wrong}.",
            f"The difference between {first.year} and {last.year} in {fact.place} was {wrong}{unit_of(fact)}.",
            f"{fact.place} had {wrong} more in {last.year} ({shown(last.value)}) than in {first.year} "
            f"({shown(first.value)}).",
        )
    )
    return two(kind, _of_years(pair), pair, text)


def _compared(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """The smaller of two said to be the larger."""
    pair = _places_pair(fact, table, draw)
    if pair is None:
        return None
    (larger, smaller), measure = pair, words(fact.measure)
    text = draw.choice(
        (
            f"{smaller.place} had a larger {measure} than {larger.place} in {fact.year}: {shown(smaller.value)} "
            f"against {shown(larger.value)}.",
            f"In {fact.year} {larger.place}, with {shown(larger.value)}, had fewer than {smaller.place}, with "
            f"{shown(smaller.value)}.",
            f"With {shown(smaller.value)} in {fact.year}, the {measure} of {smaller.place} exceeded that of "
            f"{larger.place}, {shown(larger.value)}.",
            f"In {fact.year} {smaller.place} outnumbered {larger.place} by {measure}, {shown(smaller.value)} to "
            f"{shown(larger.value)}.",
        )
    )
    return two(kind, _of_places(pair), pair, text)


def _one_of_list(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A list of three places of which one has the figure of another year or place."""
    others = others_of(fact, table)
    if len(others) < 3:
        return None
    second, third, source = draw.sample(others, 3)
    taken = (*years_of(third, table), source)
    wrong = draw.choice([f.value for f in taken if f.value not in {fact.value, second.value, third.value}] or [""])
    if not wrong:
        return None
    listed = [(fact, fact.value), (second, second.value), (third, wrong)]
    draw.shuffle(listed)
    return several(kind, _of_places((fact, second, third)), (fact, second, third), _listed(listed, fact, draw))


def _list_right(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    others = others_of(fact, table)
    if len(others) < 2:
        return None
    facts = (fact, *draw.sample(others, 2))
    return several(kind, _of_places(facts), facts, _listed([(f, f.value) for f in facts], fact, draw))


def _listed(listed: list[tuple[Fact, str]], fact: Fact, draw: random.Random) -> str:
    (a, one_value), (b, other), (c, last) = [(f.place, shown(value)) for f, value in listed]
    measure = words(fact.measure)
    return draw.choice(
        (
            f"The {measure} in {fact.year} was {one_value} in {a}, {other} in {b} and {last} in {c}.",
            f"In {fact.year} {a}, {b} and {c} had a {measure} of {one_value}, {other} and {last}.",
            f"By {measure} in {fact.year}: {a} {one_value}, {b} {other}, {c} {last}.",
        )
    )


def _computed_right(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A difference, a direction, a sum or a comparison that the figures do give."""
    if draw.random() < 0.5:
        pair = _years_pair(fact, table, draw)
        if pair is None:
            return None
        first, last = pair
        gap = Decimal(last.value) - Decimal(first.value)
        verb, noun = ("grew", "increase") if gap > 0 else ("fell", "decrease")
        text = (
            f"The {words(fact.measure)} of {fact.place} {verb} from {shown(first.value)} in {first.year} to "
            f"{shown(last.value)} in {last.year}"
        )
        tail = draw.choice(("", f", {'an' if noun[0] == 'i' else 'a'} {noun} of {shown(str(abs(gap)))}"))
        return two(kind, _of_years(pair), pair, f"{text}{tail}.")
    pair = _places_pair(fact, table, draw)
    if pair is None:
        return None
    larger, smaller = pair
    text = (
        f"In {fact.year} the {words(fact.measure)} of {larger.place}, {shown(larger.value)}, was larger than that of "
        f"{smaller.place}, {shown(smaller.value)}."
    )
    return two(kind, _of_places(pair), pair, text)


def _only(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A figure said to be the only one of its kind, where others are like it."""
    alike = [f for f in others_of(fact, table) if Decimal(f.value) >= Decimal(fact.value)]
    if len(alike) < 2:
        return None
    measure, value = words(fact.measure), shown(fact.value)
    text = draw.choice(
        (
            f"Only {fact.place} had a {measure} of {value} or more in {fact.year}.",
            f"{fact.place} was the only place with a {measure} of at least {value} in {fact.year}.",
            f"In {fact.year} no other place had a {measure} as large as that of {fact.place}, {value}.",
            f"With {value}, {fact.place} alone reached such a {measure} in {fact.year}.",
        )
    )
    return one(kind, fact, text, fact, question=question_of(fact))


KINDS: Mapping[str, Make] = {
    "list of places": _list_right,
    "computed": _computed_right,
    "range": _range,
    "rounded too far": _too_wide,
    "percentage": _share,
    "rank": _rank,
    "dates exchanged": _swapped_dates,
    "sum": _sum,
    "multiple": _multiple,
    "difference": _difference,
    "comparison": _compared,
    "list with one wrong": _one_of_list,
    "only": _only,
}
