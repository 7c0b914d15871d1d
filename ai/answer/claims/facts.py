"""Figures that an admitted item states: place, measure, time, value and unit, from typed records and computations
and from rows that name a figure for each year. Nothing that the item does not show is taken from behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from ai.answer.claims.lexicon import PERSONS
from ai.answer.claims.numbers import Number, read_numbers
from ai.model import AdmittedItem
from ai.text.support import folded_words
from retrieval.model import Computation, EntityRef, RecordKind, TimeRange

_DIGIT = re.compile(r"\d")
Role = Literal["value", "difference", "percent", "ratio"]


@dataclass(frozen=True, slots=True)
class Stated:
    """One figure that an item states. `direct`: the item answers an operation of the question."""

    item: int
    place: EntityRef
    measure: str
    value: Decimal
    unit: str
    time: TimeRange | None
    direct: bool
    typed: bool

    @property
    def years(self) -> range:
        """The years that it holds for; none where it has no time."""
        return range(0) if self.time is None else range(self.time.start.year, self.time.end.year + 1)

    @property
    def counts_persons(self) -> bool:
        """True if it counts people."""
        return not self.counted.isdisjoint(PERSONS)

    @property
    def counted(self) -> frozenset[str]:
        """The words of its unit and measure, without those of the place."""
        return folded_words(f"{self.unit} {self.measure}".replace("_", " ")) - folded_words(self.place.name)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place that a computation found to be the largest (`sign` 1) or smallest (-1) of its kind."""

    item: int
    place: EntityRef
    sign: int
    years: tuple[int, ...]
    considered: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of the figures: names of places with the ids that bear them, and one pattern for all; what is counted,
    and the years."""

    names: Mapping[str, frozenset[str]]
    named: re.Pattern[str] | None
    units: frozenset[str]
    years: frozenset[int]

    @classmethod
    def of(cls, stated: Sequence[Stated], ranked: Sequence[Ranked]) -> Vocabulary:
        """Read once for all sentences."""
        names = _place_names({s.place for s in stated} | {r.place for r in ranked})
        forms = [re.escape(n).replace(r"\ ", r"\s+") for n in sorted(names, key=lambda n: (-len(n), n)) if n]
        pattern = rf"(?<!\w)(?:{'|'.join(forms)})(?:['’]s?)?(?!\w)"
        units = frozenset[str]().union(*(s.counted for s in stated))
        units |= PERSONS if any(s.counts_persons for s in stated) else frozenset()
        years = frozenset(y for s in stated for y in s.years)
        return cls(names, re.compile(pattern, re.IGNORECASE) if names else None, units, years)


def _place_names(places: Iterable[EntityRef]) -> dict[str, frozenset[str]]:
    """How places are called: by name, and by name without the word for their kind."""
    found: dict[str, set[str]] = {}
    for entity in places:
        forms = {entity.name}
        kind = entity.type.replace("_", " ")
        if kind and entity.name.casefold().endswith(f" {kind.casefold()}"):
            forms.add(entity.name[: -len(kind) - 1])
        for form in forms:
            found.setdefault(" ".join(form.casefold().split()), set()).add(entity.entity_id)
    return {form: frozenset(ids) for form, ids in found.items()}


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that the items state as figures."""

    stated: tuple[Stated, ...]
    ranked: tuple[Ranked, ...]
    vocabulary: Vocabulary

    def of(self, items: frozenset[int]) -> Figures:
        """Those of some of the items, in the words of all."""
        stated = tuple(s for s in self.stated if s.item in items)
        return Figures(stated, tuple(r for r in self.ranked if r.item in items), self.vocabulary)


def read_figures(items: Sequence[AdmittedItem], direct: frozenset[int]) -> Figures:
    """The figures of all items; `direct` are the numbers of those that answer the question's operations."""
    stated: list[Stated] = []
    ranked: list[Ranked] = []
    for item in items:
        shown = item.statement or item.text
        if item.redacted or not _DIGIT.search(shown):
            continue
        found = list(_stated(item, item.index in direct))
        if found:
            values = {n.value for n in read_numbers(shown)}
            stated += [s for s in found if s.value in values or -s.value in values]
        ranked += _ranked(item)
    return Figures(tuple(stated), tuple(ranked), Vocabulary.of(stated, ranked))


def _stated(item: AdmittedItem, direct: bool) -> Iterator[Stated]:
    computed, record = item.evidence.computed, item.evidence.first.record
    if computed is not None:
        yield from _of_computed(item, computed, direct)
    elif record.measurement is not None:
        seen = record.measurement
        value = _decimal(seen.value)
        if value is not None:
            yield Stated(item.index, seen.place, seen.measure, value, seen.unit, seen.time, direct, typed=True)
    elif item.statement is not None and record.entities and record.kind is not RecordKind.FEATURE:
        yield from _of_row(item, record.entities[0], item.statement, direct)


def _of_row(item: AdmittedItem, place: EntityRef, statement: str, direct: bool) -> Iterator[Stated]:
    """A row that says a figure for each of several years, turn by turn."""
    numbers = [n for n in read_numbers(statement) if not n.spelt]
    pairs = list(zip(numbers[::2], numbers[1::2], strict=False))
    alternating = len(numbers) % 2 == 0 and all(_is_pair(statement, year, value) for year, value in pairs)
    if len(pairs) > 1 and alternating:
        for year, value in pairs:
            time = TimeRange.year(int(year.value))
            yield Stated(item.index, place, statement[: numbers[0].start], value.value, "", time, direct, typed=False)


def _is_pair(statement: str, year: Number, value: Number) -> bool:
    between = statement[year.end : value.start]
    return year.may_be_year and len(between) <= 3 and not any(c.isalnum() for c in between)


def _of_computed(item: AdmittedItem, computed: Computation, direct: bool) -> Iterator[Stated]:
    seen = {
        s.record.measurement.place.entity_id: s.record.measurement
        for s in item.evidence.records
        if s.record.measurement is not None
    }
    measure = str(computed.parameters.get("measure") or "")
    result, parameters = computed.result, computed.parameters
    if computed.operation == "change":
        measured = seen.get(str(result.get("place")))
        for value, year in ((result.get("from"), "from_year"), (result.get("to"), "to_year")):
            number, at = _decimal(value), parameters.get(year)
            if measured is not None and number is not None and isinstance(at, int):
                time = TimeRange.year(at)
                yield Stated(item.index, measured.place, measure, number, measured.unit, time, direct, typed=True)
        return
    at = parameters.get("year")
    for each in _places(result):
        number, measured = _decimal(each.get("value")), seen.get(str(each.get("entity_id")))
        if number is not None and measured is not None and isinstance(at, int):
            time = TimeRange.year(at)
            yield Stated(item.index, measured.place, measure, number, measured.unit, time, direct, typed=True)


def _ranked(item: AdmittedItem) -> Iterator[Ranked]:
    computed = item.evidence.computed
    if computed is None or computed.operation not in ("superlative", "compare"):
        return
    at, considered = computed.parameters.get("year"), computed.result.get("considered")
    years = (at,) if isinstance(at, int) else ()
    places = list(_places(computed.result))
    if computed.operation == "superlative" and computed.parameters.get("limit") in (1, None):
        sign = 1 if computed.parameters.get("order") == "largest" else -1
        for each in places:
            yield Ranked(item.index, _entity(each), sign, years, considered if isinstance(considered, int) else 0)
    elif computed.operation == "compare" and len(places) > 1:
        yield Ranked(item.index, _entity(places[0]), 1, years, len(places))
        yield Ranked(item.index, _entity(places[-1]), -1, years, len(places))


def _entity(place: Mapping[str, object]) -> EntityRef:
    return EntityRef(str(place.get("entity_id")), str(place.get("name")), "")


def _places(result: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    places = result.get("places")
    if isinstance(places, list | tuple):
        yield from (each for each in places if isinstance(each, Mapping))


def _decimal(value: object) -> Decimal | None:
    try:
        return Decimal(str(value)) if value is not None else None
    except InvalidOperation:
        return None
