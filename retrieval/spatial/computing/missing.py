"""The limitations that an operation states besides its answer: what is not recorded, and what is recorded twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval.algebra.wording import listed, plural
from retrieval.model import LISTED, EntityRef, Limitation
from retrieval.spatial.facts import Fact, FactSource

CHANNEL = "postgis"


def no_figures(
    measure: str, place_type: str, years: Sequence[int], *, year: int | None, within: str | None, facts: FactSource
) -> Limitation:
    """No figure of such places: none in an area, where there are some for the year elsewhere; else the years on
    record."""
    if within is not None:
        dated = "" if year is None else f" for {year}"
        message = f"No {place_type} with a figure{dated} is known to lie in {place_name(within, facts)}."
    else:
        covered = f"recorded for {listed([str(y) for y in years])}" if years else "not recorded"
        message = f"{_title(measure)} of {plural(place_type)} is {covered}."
    return Limitation("NO_OBSERVATION", message, CHANNEL)


def conflicts(found: Sequence[Fact], facts: FactSource) -> list[Limitation]:
    """One limitation for each place and time that has two values on record."""
    stated: dict[tuple[str, str, int], set[str]] = {}
    for fact in found:
        if fact.value is not None and fact.measure is not None:
            stated.setdefault((fact.place.entity_id, fact.measure, day_of(fact)), set()).add(fact.value)
    return [
        Limitation(
            "CONFLICTING_OBSERVATIONS",
            f"Records state different figures of {measure} for {place_name(place_id, facts)}: "
            f"{listed(sorted(values))}.",
            CHANNEL,
        )
        for (place_id, measure, _), values in sorted(stated.items())
        if len(values) > 1
    ]


def not_recorded(measure: str, place_id: str, facts: FactSource, *, unit: str | None = None) -> Limitation:
    """No figure of a place, with the years for which there are some; or none in a unit that is named."""
    if unit:
        told = f"{_title(measure)} of {place_name(place_id, facts)} is not recorded in {unit} for what is asked."
        return Limitation("NO_OBSERVATION", told, CHANNEL)
    years = facts.years(measure, place_ids=(place_id,))
    covered = f"is recorded for {listed([str(y) for y in years])}" if years else "is not recorded"
    return Limitation("NO_OBSERVATION", f"{_title(measure)} of {place_name(place_id, facts)} {covered}.", CHANNEL)


def no_shape(place_id: str, facts: FactSource) -> Limitation:
    """A place that is not on the map."""
    return Limitation("NO_GEOMETRY", f"No position or outline is recorded for {place_name(place_id, facts)}.", CHANNEL)


def no_places(place_type: str) -> Limitation:
    """A kind of place of which there is none on the map."""
    return Limitation("NO_GEOMETRY", f"No {place_type} that the question asks for is on the map.", CHANNEL)


def place_name(place_id: str, facts: FactSource) -> str:
    """The name of a place, or words for one without."""
    place: EntityRef | None = facts.place(place_id)
    return place.name if place else "that row" if place_id.startswith(LISTED) else "that place"


def _title(measure: str) -> str:
    words = measure.replace("_", " ")
    return words[:1].upper() + words[1:]


def day_of(fact: Fact) -> int:
    """The first day of a fact as an ordinal; 0 for one without."""
    return fact.start.toordinal() if fact.start else 0


def several_units(facts: Iterable[Fact]) -> tuple[Limitation, ...]:
    """The measures that the facts state in several units: such figures are neither ranked nor added up."""
    found: dict[str, set[str]] = {}
    for fact in facts:
        if fact.measure is not None and fact.unit:
            found.setdefault(fact.measure, set()).add(fact.unit.casefold())
    told = "Records state the {} in several units, and such figures are not held against each other."
    return tuple(
        Limitation("CONFLICTING_OBSERVATIONS", told.format(measure.replace("_", " ")), CHANNEL)
        for measure, units in sorted(found.items())
        if len(units) > 1
    )
