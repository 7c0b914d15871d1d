"""Drafts about figures, right and wrong, made from the cells of the corpus' tables."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from api.measure.eval.drafting import qualified, reckoned
from api.measure.eval.drafting.cells import (
    Known,
    Make,
    Table,
    grouped,
    index_of,
    never_its_own,
    one,
    others_of,
    plainly,
    question_of,
    shown,
    swapped_in,
    two,
    unit_of,
    words,
    years_of,
)
from api.measure.eval.drafting.model import Fact, Sources, Trial

_OTHER_UNITS = ("acres", "bushels", "dollars", "households", "barrels", "kilometres", "votes", "horses")
_OTHER_NOUNS = ("oil wells", "churches", "railway bridges", "flour mills", "post offices", "windmills")


def trials(facts: Sequence[Fact], *, per_kind: int, seed: int) -> Iterator[Trial]:
    """`per_kind` of every kind, as far as the tables have matter for it."""
    draw = random.Random(f"figures {seed}")  # noqa: S311  a sample, no secret
    table = grouped(facts)
    known = {(f.place_id, f.measure, f.value) for f in facts}
    pool = [f for group in table.values() for f in group]
    for kind, make in _KINDS.items():
        made = 0
        for _ in range(per_kind * 12):
            if made == per_kind:
                break
            trial = make(kind, draw.choice(pool), table, known, draw)
            if trial is not None:
                made += 1
                yield trial


def _verbatim(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    return one(kind, fact, fact.statement, fact)


def _rounded(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    value = Decimal(fact.value)
    if value < 1_000:
        return None
    step = 100 if value < 20_000 else 1_000
    near = int((value / step).to_integral_value(ROUND_HALF_EVEN)) * step
    if near == value:
        return None
    word = draw.choice(("about", "roughly", "approximately", "nearly" if near > value else "just over"))
    said = draw.choice((f"{near:,}", f"{Decimal(near).scaleb(-3).normalize():f} thousand"))
    if "thousand" in said and near % 1000 and step == 100:
        said = f"{near:,}"
    return one(kind, fact, plainly(fact, f"{word} {said}"), fact)


def _paraphrase(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    value, measure, unit = shown(fact.value), words(fact.measure), fact.unit
    forms = [
        plainly(fact),
        f"In {fact.year}, the {measure} of {fact.place} was {value}{unit_of(fact)}.",
        f"{fact.place}'s {measure} in {fact.year} was {value}{unit_of(fact)}.",
        f"According to the source, {fact.place} had a {measure} of {value}{unit_of(fact)} in {fact.year}.",
        f"The {measure} of {fact.place} stood at {value}{unit_of(fact)} in {fact.year}.",
        f"The recorded {measure} of {fact.place} for {fact.year} is {value}{unit_of(fact)}.",
    ]
    if unit == "people":
        forms += [f"{value} people lived in {fact.place} in {fact.year}."]
        forms += [
            f"In {fact.year}, {fact.place} had {value} inhabitants.",
            f"{fact.place} counted {value} residents in {fact.year}.",
        ]
    return one(kind, fact, draw.choice(forms), fact)


def _merged_right(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    others = years_of(fact, table)
    if not others:
        return None
    other = draw.choice(others)
    first, last = sorted((fact, other), key=lambda f: f.year)
    measure, place = words(fact.measure), fact.place
    sentence = (
        f"The {measure} of {place} was {shown(first.value)} in {first.year} and {shown(last.value)} in {last.year}."
    )
    question = f"What was the {measure} of {place} in {first.year} and in {last.year}?"
    return two(kind, question, (first, last), sentence)


def _list(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    return one(kind, fact, plainly(fact), fact, frame="Here is what I found:\n\n- {} [{}]")


def _chatter(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    frame = "Sure, I can help with that! {} [{}] Let me know if you need anything else."
    return one(kind, fact, plainly(fact), fact, frame=frame)


def _uncited_right(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    return one(kind, fact, draw.choice((fact.statement, plainly(fact))), None)


def _miscited(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    def write(sources: Sources) -> tuple[str, tuple[str, ...]] | None:
        at = index_of(fact, sources)
        wrong = [s.index for s in sources if s.index != at]
        return None if at is None or not wrong else (f"{plainly(fact)} [{wrong[-1]}]", (plainly(fact),))

    return Trial("figure", kind, question_of(fact), write, (fact.statement,))


def _other_year(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    others = years_of(fact, table)
    if not others:
        return None
    value = shown(draw.choice(others).value)
    text = draw.choice((plainly(fact, value), swapped_in(fact.statement, shown(fact.value), value)))
    return _holding(kind, fact, text, value)


def _holding(kind: str, fact: Fact, sentence: str, value: str) -> Trial:
    """A draft that cites a source which does hold the wrong figure, of something else, where there is one."""

    def write(sources: Sources) -> tuple[str, tuple[str, ...]] | None:
        holding = [s.index for s in sources if value in (s.statement or s.text)]
        at = holding[0] if holding else index_of(fact, sources)
        return None if at is None else (f"{sentence} [{at}]", (sentence,))

    return Trial("figure", kind, question_of(fact), write)


def _other_place(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    others = never_its_own(fact, table, known)
    if not others:
        return None
    value = shown(draw.choice(others).value)
    text = draw.choice((plainly(fact, value), swapped_in(fact.statement, shown(fact.value), value)))
    return _holding(kind, fact, text, value)


def _exchanged(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """Figures of two places exchanged."""
    others = others_of(fact, table)
    if not others:
        return None
    other = draw.choice(others)
    wrong = f"{fact.place} had {shown(other.value)} and {other.place} had {shown(fact.value)} in {fact.year}."
    question = f"What was the {words(fact.measure)} of {fact.place} and of {other.place} in {fact.year}?"
    return two(kind, question, (fact, other), f"By {words(fact.measure)}, {wrong}")


def _exchanged_number(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    digits = list(fact.value)
    places = [i for i, d in enumerate(digits) if d.isdigit() and (i or d != "0")]
    at = draw.choice(places)
    digits[at] = draw.choice([d for d in "123456789" if d != digits[at]])
    value = "".join(digits)
    if (fact.place_id, fact.measure, value) in known:
        return None
    text = draw.choice((plainly(fact, shown(value)), swapped_in(fact.statement, shown(fact.value), shown(value))))
    return one(kind, fact, text, fact)


def _other_unit(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    unit = draw.choice([u for u in _OTHER_UNITS if u != fact.unit])
    if draw.random() < 0.3:
        return one(kind, fact, plainly(fact, f"{shown(fact.value)} {draw.choice(('thousand', 'million'))}"), fact)
    return one(kind, fact, plainly(fact, f"{shown(fact.value)} {unit}").replace(f" {fact.unit}.", "."), fact)


def _other_measure(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    thing = draw.choice(_OTHER_NOUNS)
    return one(kind, fact, f"There were {shown(fact.value)} {thing} in {fact.place} in {fact.year}.", fact)


def _direction(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    others = years_of(fact, table)
    if not others:
        return None
    first, last = sorted((fact, draw.choice(others)), key=lambda f: f.year)
    grew = Decimal(last.value) > Decimal(first.value)
    verb = draw.choice(("fell", "declined", "decreased") if grew else ("grew", "rose", "increased"))
    measure = words(fact.measure)
    sentence = (
        f"The {measure} of {fact.place} {verb} from {shown(first.value)} in {first.year} to {shown(last.value)} in "
        f"{last.year}."
    )
    question = f"What was the {measure} of {fact.place} in {first.year} and in {last.year}?"
    return two(kind, question, (first, last), sentence)


def _negation(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    measure, value = words(fact.measure), shown(fact.value)
    text = draw.choice(
        (
            f"The {measure} of {fact.place} in {fact.year} was not {value}{unit_of(fact)}.",
            f"The {measure} of {fact.place} was never {value} in {fact.year}.",
            f"It is false that the {measure} of {fact.place} in {fact.year} was {value}.",
        )
    )
    return one(kind, fact, text, fact)


def _bound(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    value = Decimal(fact.value)
    more, less = int(value * Decimal("1.4")) + 1, int(value * Decimal("0.6"))
    text = draw.choice((f"more than {more:,}", f"at least {more:,}", f"fewer than {less:,}", f"under {less:,}"))
    return one(kind, fact, plainly(fact, text), fact)


def _merged_wrong(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """The place of one item, the year of a second, the figure of a third."""
    thirds = never_its_own(fact, table, known)
    years = years_of(fact, table)
    if not thirds or not years:
        return None
    third, second = draw.choice(thirds), draw.choice(years)
    text = f"The {words(fact.measure)} of {fact.place} in {second.year} was {shown(third.value)}."
    return one(kind, fact, text, fact)


def _beside(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """Something true of another year of the place, or of a place of another name: of the same name it may be meant."""
    named = fact.place.partition(",")[0]
    others = [*years_of(fact, table), *(o for o in others_of(fact, table) if o.place.partition(",")[0] != named)]
    if not others:
        return None
    other = draw.choice(others)

    def write(sources: Sources) -> tuple[str, tuple[str, ...]] | None:
        beside = [s for s in sources if s.statement and not (named in s.statement and str(fact.year) in s.statement)]
        at = index_of(other, sources)
        if at is not None:
            return f"{other.statement} [{at}]", (other.statement,)
        if not beside or index_of(fact, sources) is None:
            return None
        return f"{beside[0].statement} [{beside[0].index}]", (beside[0].statement or "",)

    return Trial("figure", kind, question_of(fact), write)


def _uncited(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    others = years_of(fact, table)
    return one(kind, fact, plainly(fact, shown(draw.choice(others).value)), None) if others else None


def _half(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    others = years_of(fact, table)
    thirds = never_its_own(fact, table, known)
    if not others or not thirds:
        return None
    other, third = draw.choice(others), draw.choice(thirds)
    text = draw.choice(
        (
            f"{plainly(fact)[:-1]} and {shown(third.value)} in {other.year}.",
            f"{plainly(fact)[:-1]}, most of them farmers.",
            f"{plainly(fact)[:-1]}, the highest figure on record.",
            f"{plainly(fact)[:-1]}, twice that of {third.place}.",
        )
    )
    return one(kind, fact, text, fact)


_KINDS: Mapping[str, Make] = {
    "verbatim": _verbatim,
    "rounded": _rounded,
    "paraphrase": _paraphrase,
    "merged": _merged_right,
    "list": _list,
    "chatter": _chatter,
    "uncited right": _uncited_right,
    "miscited": _miscited,
    "other year": _other_year,
    "other place": _other_place,
    "exchanged arguments": _exchanged,
    "exchanged number": _exchanged_number,
    "other unit": _other_unit,
    "other measure": _other_measure,
    "direction": _direction,
    "negation": _negation,
    "quantifier": _bound,
    "merged items": _merged_wrong,
    "beside the point": _beside,
    "uncited": _uncited,
    "half true": _half,
    **reckoned.KINDS,
    **qualified.KINDS,
}
