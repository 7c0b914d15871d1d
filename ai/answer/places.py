"""Where a cited item is: the places that it speaks of, each with its role, and what draws them.

`find_places` reads names and shapes inside the scope; what it read is recorded. `admit_places` puts the shapes to the
evidence point and is a deterministic function of that, which replay runs again. A place that nothing admitted draws has
no geometry, whatever the reason is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ai.answer.core import CoreResult
from ai.answer.located import PlacedItem, PlaceShown
from ai.answer.rows import ROW, quotable_rows, row_evidence
from ai.answer.shapes import PlaceRole
from ai.case.case import Case, Services
from ai.governance.admission import Access, admit
from ai.governance.obligations import generalised
from ai.model import AdmittedItem, Outcome, Release
from policy.model import Decision
from retrieval.gazetteer import Gazetteer
from retrieval.model import ChannelName, ChannelRank, EntityRef, Evidence, EvidenceBundle, SourcedRecord, TimeRange

_ORDER: Sequence[PlaceRole] = ("subject", "result", "input")
MOST_PLACES = 24
"""Places of one item; a ranking of a thousand counties would else bring a thousand outlines."""
_MARK = "place:"
_RANK = ChannelRank(ChannelName.SPATIAL, "record", 1, 0.0)


@dataclass(frozen=True, slots=True)
class SpokenPlace:
    """A place that an item speaks of, and the records that draw it."""

    place: EntityRef
    role: PlaceRole
    drawn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpokenOf:
    """The places of one cited item, by its number; `omitted` are those beyond the first few."""

    index: int
    places: tuple[SpokenPlace, ...]
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class PlacesFound:
    """The reads for the cited items: their places, and the records that draw these."""

    items: tuple[SpokenOf, ...]
    records: tuple[SourcedRecord, ...]


async def find_places(case: Case, core: CoreResult, services: Services) -> PlacesFound | None:
    """The places of what the answer cites; None where there is no answer. Raises `StoreUnavailable`."""
    if core.release.outcome is not Outcome.ANSWER:
        return None
    with case.watch("places"):
        vocabulary = await services.vocabularies.of(case.scope, corpus_version=case.corpus_version)
        cited = _cited(core.items, core.release)
        spoken = {item.index: _spoken(item, quotes, vocabulary.gazetteer) for item, quotes in cited}
        wanted = {place.entity_id for each in spoken.values() for said in each for place in said.candidates}
        drawn = await services.store.drawn(sorted(wanted), scope=case.scope)
        items = tuple(_chosen(index, said, drawn) for index, said in spoken.items())
        ids = dict.fromkeys(id for item in items for place in item.places for id in place.drawn)
        records = await services.store.fetch(list(ids), scope=case.scope)
    return PlacesFound(items, tuple(records.values()))


async def admit_places(case: Case, core: CoreResult, found: PlacesFound | None, services: Services) -> CoreResult:
    """The evidence point over the shapes and over the rows to quote; each cited item with the places that may be shown.
    Raises `PolicyError`."""
    if found is None:
        return core
    shown = tuple(shape_evidence(n, sourced) for n, sourced in enumerate(found.records, 1))
    quoted = quotable_rows(case, core)
    bundle = EvidenceBundle((*shown, *(row_evidence(n, each) for n, each in enumerate(quoted, len(shown) + 1))))
    decisions: tuple[Decision, ...] = ()
    admitted: dict[str, AdmittedItem] = {}
    if bundle.items:
        with case.watch("places_evidence"):
            admission = await admit(bundle, access=Access.of(case), services=services)
        decisions = admission.decisions
        admitted = {item.evidence.record_id: item for item in admission.items}
    shapes = {id.removeprefix(_MARK): item for id, item in admitted.items() if id.startswith(_MARK)}
    rows = {id.removeprefix(ROW): item for id, item in admitted.items() if id.startswith(ROW)}
    cited = {item.index: item for item, _ in _cited(core.items, core.release)}
    placed = tuple(_placed(cited[said.index], said, shapes, core) for said in found.items if said.index in cited)
    return replace(core, placed=placed, place_decisions=decisions, rows=rows)


def shape_evidence(index: int, sourced: SourcedRecord) -> Evidence:
    """A record that draws a place, as the evidence point is asked about it; its fact is told from that of the same
    record as evidence."""
    return Evidence(index, f"{_MARK}{sourced.record.record_id}", (sourced,), (_RANK,), 0.0)


# ---------------------------------------------------------------- of which places an item speaks


@dataclass(frozen=True, slots=True)
class _Said:
    """A name with the places that it may mean."""

    candidates: tuple[EntityRef, ...]
    role: PlaceRole


def _cited(items: Sequence[AdmittedItem], release: Release) -> Iterator[tuple[AdmittedItem, tuple[str, ...]]]:
    """The cited items in order, with the words that were quoted of them."""
    quotes: dict[int, list[str]] = {}
    for sentence in release.sentences:
        for quote in sentence.quotes:
            quotes.setdefault(quote.index, []).append(quote.text)
    for item in items:
        if item.index in quotes:
            yield item, tuple(dict.fromkeys(quotes[item.index]))


def _spoken(item: AdmittedItem, quotes: Iterable[str], gazetteer: Gazetteer) -> tuple[_Said, ...]:
    if item.evidence.computed is not None:
        return tuple(_of_computation(item, gazetteer))
    record = item.evidence.first.record
    if record.measurement is not None:
        return (_Said((record.measurement.place,), "subject"),)
    if record.entities:
        return tuple(_Said((entity,), "subject") for entity in record.entities)
    named = (mention.candidates for text in quotes for mention in gazetteer.find(text) if mention.candidates)
    return tuple(dict.fromkeys(_Said(candidates, "subject") for candidates in named))


def _of_computation(item: AdmittedItem, gazetteer: Gazetteer) -> Iterator[_Said]:
    """Places of the inputs by role, and those that only the parameters name."""
    computed = item.evidence.computed
    if computed is None:
        raise AssertionError("the item is computed")
    asked, results = set(_texts(computed.parameters)), set(_texts(computed.result))
    roles: dict[str, PlaceRole] = {}
    places: dict[str, EntityRef] = {}
    for sourced in item.evidence.records:
        seen = sourced.record.measurement
        place = seen.place if seen is not None else next(iter(sourced.record.entities), None)
        if place is not None and not place.listed:
            places[place.entity_id] = place
            in_result: PlaceRole = "result" if place.entity_id in results else "input"
            roles[place.entity_id] = "subject" if place.entity_id in asked else in_result
    for entity_id in sorted(asked - places.keys()):
        known = gazetteer.entity(entity_id)
        if known is not None:
            places[entity_id], roles[entity_id] = known, "subject"
    for entity_id in sorted(places, key=lambda each: _ORDER.index(roles[each])):
        yield _Said((places[entity_id],), roles[entity_id])


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _chosen(index: int, said: Sequence[_Said], drawn: Mapping[str, tuple[str, ...]]) -> SpokenOf:
    """One place for each name: of several that it may mean the only one that is drawn, else none."""
    places: dict[str, SpokenPlace] = {}
    for each in said:
        known = [place for place in each.candidates if place.entity_id in drawn]
        meant = each.candidates if len(each.candidates) == 1 else known
        if len(meant) == 1:
            place = meant[0]
            spoken = SpokenPlace(place, each.role, drawn.get(place.entity_id, ()))
            places.setdefault(place.entity_id, spoken)
    return SpokenOf(index, tuple(places.values())[:MOST_PLACES], max(0, len(places) - MOST_PLACES))


# ---------------------------------------------------------------- what draws them


def _placed(item: AdmittedItem, said: SpokenOf, shapes: Mapping[str, AdmittedItem], core: CoreResult) -> PlacedItem:
    time = _time_of(item)
    coarse = _generalisation(item, core)
    shown = []
    for place in said.places:
        own = _own_place(item) == place.place.entity_id and item.geometry is not None
        admitted = [shapes[id] for id in place.drawn if id in shapes and shapes[id].geometry is not None]
        shape = item if own else _at_time(admitted, time)
        geometry = None if shape is None else shape.geometry
        if geometry is not None and coarse is not None and not own:
            geometry = generalised(geometry, **coarse)
        shown.append(PlaceShown(place.place, place.role, geometry, None if shape is None else shape.evidence.first))
    return PlacedItem(item, tuple(shown), said.omitted)


def _own_place(item: AdmittedItem) -> str | None:
    record = item.evidence.first.record
    place = next(iter(record.entities), None) if item.evidence.computed is None else None
    return None if place is None else place.entity_id


def _time_of(item: AdmittedItem) -> TimeRange | None:
    record = item.evidence.first.record
    return record.measurement.time if record.measurement is not None else record.time


def _at_time(shapes: Sequence[AdmittedItem], time: TimeRange | None) -> AdmittedItem | None:
    """The shape that stood at the time, else at no stated time; without a time the latest. Ties by source and id."""

    def order(shape: AdmittedItem) -> tuple[int, str, str]:
        drawn = shape.evidence.first.record.time
        latest = 0 if drawn is None else drawn.end.toordinal()
        return -latest, shape.evidence.first.record.source_id, shape.evidence.first.record.record_id

    drawn_then = [
        shape
        for shape in shapes
        if time is None or (stood := shape.evidence.first.record.time) is None or stood.overlaps(time)
    ]
    return min(drawn_then, key=order, default=None)


def _generalisation(item: AdmittedItem, core: CoreResult) -> dict[str, int] | None:
    """The coarsest generalisation that the item itself is under: its places are shown no finer than it."""
    if core.admission is None:
        return None
    own = item.evidence.record_id
    due = [
        {"metres": int(o.params["metres"]), "decimals": int(o.params["decimals"])}
        for decision in core.admission.decisions
        for o in decision.obligations
        if o.op == "generalise_geometry" and (o.target.ref == own or o.target.ref.startswith(f"{own}#"))
    ]
    return max(due, key=lambda each: each["metres"], default=None)
