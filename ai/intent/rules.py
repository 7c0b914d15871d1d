"""Which operations a masked question asks for. One function for each kind of question, tried in order; the first
that reads it wins."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ai.intent.reading import Reading
from ai.intent.words import AREA_WORDS, COMPARISONS, COUNTS, NOT_PLACES, SIZE_MEANS
from retrieval.model import EntityRef
from retrieval.operations import (
    Aggregate,
    Change,
    Compare,
    ContainedIn,
    ContainerOf,
    Count,
    Distance,
    Lookup,
    Nearest,
    Neighbours,
    Operation,
    Superlative,
    WithinDistance,
)

_LARGEST = r"(?:largest|biggest|greatest|highest|most|top|more)"
_SMALLEST = r"(?:smallest|lowest|fewest|least|tiniest|bottom)"
_LATER_IN_RANK = (
    r"\b(?:next|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+ (?:st|nd|rd|th)) "
    rf"(?:{_LARGEST}|{_SMALLEST}|nearest|closest)\b"
)
"""The second of a ranking: no operation gives it, and the first is not it."""
_BORDER = (
    r"\b(?:border|borders|bordering|bordered|adjacent|adjoin|adjoins|adjoining|abut|abuts|neighbou?r|neighbou?rs|"
    r"neighbou?ring|touch|touches|next to)\b"
)
_CHANGE = (
    r"\b(?:chang(?:e|es|ed|ing)|gr[eo]w|grown|growth|increas(?:e|es|ed)|declin(?:e|es|ed)|decreas(?:e|es|ed)|los[et]|loss|"
    r"f[ae]ll|fallen|shr[iau]nk|gain(?:s|ed)?|r[io]se|risen|drop(?:ped)?|differ(?:ence|ed)?|develop(?:ed|ment)?)\b"
)
_KM = {"km": 1.0, "kilometre": 1.0, "kilometres": 1.0, "kilometer": 1.0, "kilometers": 1.0, "kms": 1.0}
_MILES = dict.fromkeys(("mi", "mile", "miles"), 1.609344)
_UNITS = _KM | _MILES
_GOVERNS = (
    r"(?:of|in|from|between|and|or|than|does|did|do|is|was|are|were|to|near|around|had|has|for|borders?|contains?)"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the rules read from. `home` is where an unqualified question is at home; `around` the map's place, when
    the question names none; `region` whether the map then shows a region instead."""

    reading: Reading
    measures: tuple[str, ...]
    home: EntityRef | None
    around: EntityRef | None
    region: bool = False

    @property
    def masked(self) -> str:
        """The question's words."""
        return self.reading.masked

    @property
    def places(self) -> tuple[EntityRef, ...]:
        """The places that the question names, else the map's."""
        return self.reading.places or ((self.around,) if self.around and not self.unknown else ())

    @property
    def unknown(self) -> bool:
        """Whether a name that nothing answers to stands where a place belongs, or no place is known beside it."""
        unknown = [i for i, m in enumerate(self.reading.mentions) if not m.candidates]
        governed = any(re.search(rf"\b{_GOVERNS} @{i}\b", self.masked) for i in unknown)
        return bool(unknown) and (governed or not self.reading.places)

    @property
    def years(self) -> tuple[int, ...]:
        """Years that stand alone, ascending."""
        times = [t.time for t in self.reading.times]
        return tuple(sorted({t.start.year for t in times if t.start.year == t.end.year}))

    @property
    def span(self) -> tuple[int, int] | None:
        """Two years to compare: the ends of a range, or the first and last of several years."""
        for time in self.reading.times:
            if time.years is not None and time.years[0] < time.years[1]:
                return time.years
        return (self.years[0], self.years[-1]) if len(self.years) > 1 else None

    @property
    def year(self) -> int | None:
        """The one year; None when there is none, or several."""
        return self.years[0] if len(self.years) == 1 else None

    def kind(self, word: str) -> str:
        """The type of place that a word means."""
        kind: str = self.reading.kinds[word]
        return kind

    def within(self, kind: str) -> str | None:
        """The place that bounds a question about places of a kind: a named one of another kind, the map's, or home."""
        shown: tuple[EntityRef, ...] = () if self.around is None else (self.around,)
        bounding = [p for p in (*self.reading.places, *shown) if p.type not in (kind, "city")]
        if bounding:
            return bounding[0].entity_id
        return self.home.entity_id if self.home and self.home.type != kind else None


def read_operations(asked: Asked) -> tuple[Operation, ...]:
    """The operations that the question asks for; none when it asks for none, or for a place that nothing admitted
    answers to."""
    if asked.unknown:
        return ()
    if re.search(rf"\b(?:{_LARGEST}|{_SMALLEST})\b", asked.masked) and _ranked_change(asked):
        return ()
    if _border_of_another_kind(asked) or re.search(_LATER_IN_RANK, asked.masked):
        return ()
    for rule in _RULES:
        found = rule(asked)
        if found:
            return tuple(found)
    return ()


def _ranked_change(asked: Asked) -> bool:
    """`Which county grew the most?`: no operation ranks changes, and a ranking of sizes would be another answer."""
    kind = re.search(rf"\b(?:which|what) (?:\d+ )?(?:{asked.reading.kind_pattern})\b", asked.masked)
    return kind is not None and re.search(_CHANGE, asked.masked) is not None


def _border_of_another_kind(asked: Asked) -> bool:
    """`Which counties border Topeka?`: places of one kind share borders, and a count of counties is no answer."""
    kind = _first_kind(asked) if re.search(_BORDER, asked.masked) else None
    return kind is not None and bool(asked.places) and asked.places[0].type != kind


def _distance(asked: Asked) -> Sequence[Operation]:
    if len(asked.places) < 2 or not re.search(
        r"\b(?:how far|distance|how many (?:km|kilometers|kilometres|miles))\b", asked.masked
    ):
        return ()
    return (Distance(asked.places[0].entity_id, asked.places[1].entity_id),)


def _within_distance(asked: Asked) -> Sequence[Operation]:
    units = "|".join(sorted(_UNITS, key=len, reverse=True))
    reach = re.search(
        rf"\b(?P<n>\d+(?:\.\d+)?) (?P<unit>{units}) (?:\w+ )?(?:of|from|around|to) (?:the )?@(?P<i>\d+)\b", asked.masked
    )
    kind = _first_kind(asked)
    place = asked.reading.place(reach["i"]) if reach else None
    if reach is None or kind is None or place is None:
        return ()
    metres = min(round(float(reach["n"][:12]) * _UNITS[reach["unit"]] * 1000), 20_100_000)
    return (WithinDistance(place.entity_id, kind, metres / 1000),)


def _neighbours(asked: Asked) -> Sequence[Operation]:
    return (Neighbours(asked.places[0].entity_id),) if asked.places and re.search(_BORDER, asked.masked) else ()


def _nearest(asked: Asked) -> Sequence[Operation]:
    kinds = asked.reading.kind_pattern
    match = re.search(
        rf"\b(?P<n>{_count_words()})?\s?(?:nearest|closest) (?P<m>{_count_words()})?\s?(?P<kind>{kinds})\b",
        asked.masked,
    )
    match = match or re.search(
        rf"\b(?P<n>{_count_words()})?\s?(?P<kind>{kinds})(?P<m>) (?:\w+ ){{0,2}}(?:nearest|closest)\b", asked.masked
    )
    if match is None or not asked.places:
        return ()
    return (Nearest(asked.places[0].entity_id, asked.kind(match["kind"]), _limit(match["n"] or match["m"])),)


def _container_of(asked: Asked) -> Sequence[Operation]:
    kinds = asked.reading.kind_pattern
    for pattern in (
        rf"\b(?:which|what) (?P<kind>{kinds}) (?:is|was|does|did|lies) @(?P<i>\d+) (?:\w+ ){{0,2}}in\b",
        rf"\b(?:in|to) (?:which|what) (?P<kind>{kinds}) (?:is|was|does|did|lies) @(?P<i>\d+)\b",
        rf"\b(?:which|what) (?P<kind>{kinds}) (?:contains?|holds?|includes?|surrounds?) @(?P<i>\d+)\b",
        rf"\b(?P<kind>{kinds}) (?:of|that contains|containing|for) @(?P<i>\d+)$",
        rf"\b@(?P<i>\d+) (?:is|lies|was|located) (?:\w+ )?in (?:which|what) (?P<kind>{kinds})\b",
    ):
        match = re.search(pattern, asked.masked)
        place = asked.reading.place(match["i"]) if match else None
        if match is not None and place is not None and _wider(asked.kind(match["kind"]), place.type):
            return (ContainerOf(place.entity_id, asked.kind(match["kind"])),)
    return ()


def _count(asked: Asked) -> Sequence[Operation]:
    kinds = asked.reading.kind_pattern
    floor = re.search(
        r"\b(?P<how>at least|or more than|more than|over|exceeding|exceeded|above) (?P<n>\d{1,12})\b", asked.masked
    )
    match = re.search(rf"\b(?:how many|number of|count(?: of)?(?: the)?) (?:@\d+ )?(?P<kind>{kinds})\b", asked.masked)
    if match is None and floor is not None and asked.measures:  # `which cities had more than 10,000 inhabitants?`
        match = re.search(rf"\b(?P<kind>{kinds})\b", asked.masked)
    if match is None:
        return ()
    kind = asked.kind(match["kind"])
    minimum = int(floor["n"]) + (floor["how"] != "at least") if floor else None
    measure = _measure(asked) if floor else None
    return (Count(kind, asked.within(kind), asked.year, measure, minimum),)


def _superlative(asked: Asked) -> Sequence[Operation]:
    if re.search(AREA_WORDS, asked.masked):
        return ()
    kinds = asked.reading.kind_pattern
    sizes = rf"(?:(?P<largest>{_LARGEST})|(?P<smallest>{_SMALLEST}))"
    count = rf"(?:(?P<n>{_count_words()}) )?"
    many = rf"(?:(?P<m>{_count_words()}) )?"
    crowd = "(?:populous |populated )?"
    for pattern in (
        rf"\b{count}{sizes} {crowd}{many}{crowd}(?:@\d+ )?(?P<kind>{kinds})\b",
        rf"\b{count}(?P<kind>{kinds})(?P<m>) (?:\S+ ){{0,6}}?{sizes}\b(?! than)",
    ):
        match = re.search(pattern, asked.masked)
        if match is None or len([p for p in asked.places if p.type == asked.kind(match["kind"])]) > 1:
            continue
        order: Literal["largest", "smallest"] = "largest" if match["largest"] else "smallest"
        kind = asked.kind(match["kind"])
        limit = _limit(match["n"] or match["m"])
        return (Superlative(_measure(asked), kind, asked.year, order, asked.within(kind), limit),)
    return ()


def _contained_in(asked: Asked) -> Sequence[Operation]:
    kinds = asked.reading.kind_pattern
    match = re.search(rf"\b(?P<kind>{kinds}) (?:\w+ ){{0,4}}?(?:in|inside|within) (?:the )?@(?P<i>\d+)\b", asked.masked)
    match = match or re.search(
        rf"\b@(?P<i>\d+) (?:contains?|has|have|had) (?:which |what )?(?P<kind>{kinds})\b", asked.masked
    )
    match = match or re.search(
        rf"\b(?:which|what) (?P<kind>{kinds}) (?:does|did) @(?P<i>\d+) (?:contain|have|include)\b", asked.masked
    )
    place = asked.reading.place(match["i"]) if match else None
    if match is None or place is None or asked.measures or not _wider(place.type, asked.kind(match["kind"])):
        return ()
    return (ContainedIn(place.entity_id, asked.kind(match["kind"])),)


def _compare(asked: Asked) -> Sequence[Operation]:
    measured = asked.measures or re.search(r"\b(?:larger|bigger|smaller)\b", asked.masked)
    if len(asked.reading.places) < 2 or not measured or not re.search(COMPARISONS, asked.masked):
        return ()
    same = [p.entity_id for p in asked.reading.places if p.type == asked.reading.places[0].type]
    ids = same if len(same) > 1 else [p.entity_id for p in asked.reading.places]
    return (Compare(_measure(asked), tuple(ids), asked.year),)


def _change(asked: Asked) -> Sequence[Operation]:
    if asked.span is None or not (asked.measures or re.search(r"\b(?:gr[eo]w|growth|shr[iau]nk)\b", asked.masked)):
        return ()
    return (
        (Change(_measure(asked), _subjects(asked), *asked.span),)
        if re.search(_CHANGE, asked.masked) and asked.places
        else ()
    )


def _aggregate(asked: Asked) -> Sequence[Operation]:
    functions: dict[str, Literal["sum", "mean", "median"]] = {
        "total": "sum", "sum": "sum", "combined": "sum", "altogether": "sum",
        "average": "mean", "mean": "mean", "median": "median",
    }  # fmt: skip
    function = re.search(rf"\b(?:{'|'.join(functions)})\b", asked.masked)
    kind = re.search(rf"\b(?:{asked.reading.kind_pattern})\b", asked.masked)
    if function is None or kind is None or not asked.measures:
        return ()
    target = asked.kind(kind.group())
    if any(p.type == target for p in asked.reading.places):
        return ()
    return (Aggregate(functions[function.group()], _measure(asked), target, asked.year, asked.within(target)),)


def _lookup(asked: Asked) -> Sequence[Operation]:
    if not asked.measures or not (asked.places or asked.region) or _of_many(asked):
        return ()
    subjects = _subjects(asked)
    years: tuple[int | None, ...] = asked.years or (None,)
    return [Lookup(measure, subjects, year) for measure in asked.measures for year in years]


_RULES: tuple[Callable[[Asked], Sequence[Operation]], ...] = (
    _distance,
    _within_distance,
    _neighbours,
    _nearest,
    _container_of,
    _count,
    _compare,
    _superlative,
    _contained_in,
    _change,
    _aggregate,
    _lookup,
)


def _of_many(asked: Asked) -> bool:
    """`The populations of the counties of Kansas`: the figures of its parts, which the figure of the whole is not."""
    plural = re.search(rf"\b(?P<kind>{asked.reading.kind_pattern}) (?:in|of|inside|within) (?!#)", asked.masked)
    return plural is not None and plural["kind"] != asked.kind(plural["kind"])


def _subjects(asked: Asked) -> tuple[str, ...]:
    """The places that the figure is of: a state after a smaller place only says where that is (`Topeka, Kansas`)."""
    places = asked.places
    smaller = [p for p in places if p.type != "state"]
    return tuple(p.entity_id for p in (smaller or places))


def _measure(asked: Asked) -> str:
    return asked.measures[0] if asked.measures else SIZE_MEANS


def _first_kind(asked: Asked) -> str | None:
    match = re.search(rf"\b(?:{asked.reading.kind_pattern})\b", asked.masked)
    return asked.kind(match.group()) if match else None


def _wider(outer: str, inner: str) -> bool:
    """Whether places of the first type can hold those of the second."""
    order = ("city", "county", "state")
    if outer in order and inner in order:
        return order.index(outer) > order.index(inner)
    return outer != inner and outer not in NOT_PLACES


def _count_words() -> str:
    return r"\d{1,3}|" + "|".join(COUNTS)


def _limit(word: str | None) -> int:
    if not word:
        return 1
    return max(1, min(COUNTS.get(word) or int(word), 100))
