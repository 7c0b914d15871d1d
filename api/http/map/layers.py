"""The layers that a caller may see: sources with shapes, as the evidence point admits them at this moment.

The point is asked about one feature of each group of alike ones (same document, same findings of the detectors), which
differ in nothing that a rule may read but their id. Features that are released are each decided over
(`features`); what is decided here makes counts, extents and the choice among them. Nothing of a hidden feature
enters: a generalised one counts with the point that is shown in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ai.case.case import Services
from api.audit.reauthorise import Reading, reading_of
from api.errors import NoSuchThing
from api.http.map.shapes import MapIndex, Shape, ShapedDocument, feature_evidence
from policy.model import Decision, Obligation, Subject
from retrieval.coarse import on_grid
from retrieval.model import SourcedRecord, SourceFacts, TimeRange
from retrieval.spatial.facts import Box

_ASKED_AT_ONCE = 500
_GENERALISE = "generalise_geometry"
ABSENT = "There is no such layer or feature."


@dataclass(frozen=True, slots=True)
class Layer:
    """A source with shapes as a caller sees it: its facts, and its features in the document's order."""

    source: SourceFacts
    shapes: tuple[Shape, ...]

    @property
    def id(self) -> str:
        """The source's id, as `active_layers` names it."""
        return self.source.source_id

    @property
    def bounds(self) -> Box:
        """West, south, east, north of everything in it."""
        return box_of(shape.bounds for shape in self.shapes)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Types of geometry, in alphabetical order."""
        return tuple(sorted({shape.kind for shape in self.shapes}))

    @property
    def time(self) -> TimeRange | None:
        """From the first to the last day of its dated features; None where none is dated."""
        times = [shape.time for shape in self.shapes if shape.time is not None]
        return TimeRange(min(t.start for t in times), max(t.end for t in times)) if times else None


@dataclass(frozen=True, slots=True)
class MapView:
    """The map of one caller at one moment; `reading` is what the query point gave, `refused` the (document, place) of
    which every feature was refused."""

    reading: Reading
    layers: tuple[Layer, ...]
    corpus_version: int
    refused: frozenset[tuple[str, str]]

    def layer(self, layer_id: str) -> Layer:
        """The layer of that id. Raises NoSuchThing, alike for what is absent and what is not admitted."""
        found = next((layer for layer in self.layers if layer.id == layer_id), None)
        if found is None:
            raise NoSuchThing(ABSENT)
        return found


def box_of(boxes: Iterable[Box]) -> Box:
    """The box around boxes, of which there is at least one."""
    sides = list(zip(*boxes, strict=True))
    return min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3])


async def map_of(subject: Subject, *, request_id: str, index: MapIndex, services: Services) -> MapView:
    """The subject's view of the map now; nothing where the query point refuses. Raises PolicyUnavailable,
    StoreUnavailable."""
    reading = await reading_of(subject, request_id=request_id, services=services, recorded=True)
    held = await services.store.holdings(subject.tenant)
    documents: tuple[ShapedDocument, ...] = ()
    if reading.classes:
        documents = await index.of(reading.scope, corpus_version=held.corpus_version, services=services)
    samples = [sample for document in documents for sample in document.samples]
    admitted = await _admitted(samples, reading)
    layers = [(document, _layer(document, admitted)) for document in documents]
    return MapView(
        reading,
        tuple(layer for _, layer in layers if layer is not None),
        held.corpus_version,
        frozenset(refused for document, layer in layers for refused in _refused(document, layer)),
    )


def _refused(document: ShapedDocument, layer: Layer | None) -> Iterator[tuple[str, str]]:
    shown = set() if layer is None else {shape.place for shape in layer.shapes}
    for shape in document.shapes:
        if shape.place is not None and shape.place not in shown:
            yield document.document_id, shape.place.entity_id


@dataclass(frozen=True, slots=True)
class _Admitted:
    """An admitted sample after its obligations, and how its group is drawn."""

    sourced: SourcedRecord
    obligations: tuple[Obligation, ...]


async def _admitted(samples: Sequence[str], reading: Reading) -> Mapping[str, _Admitted]:
    found: dict[str, _Admitted] = {}
    for start in range(0, len(samples), _ASKED_AT_ONCE):
        asked = samples[start : start + _ASKED_AT_ONCE]
        records = await reading.services.store.fetch(asked, scope=reading.scope)
        items = [feature_evidence(n, sourced) for n, sourced in enumerate(records.values(), 1)]
        admission = await reading.admit(items)
        for item in admission.items:
            record_id = item.evidence.record_id
            due = _generalisations(admission.decisions[-1], record_id)
            found[record_id] = _Admitted(item.evidence.first, due)
    return found


def _generalisations(decision: Decision, record_id: str) -> tuple[Obligation, ...]:
    return tuple(o for o in decision.obligations if o.op == _GENERALISE and o.target.ref == record_id)


def _layer(document: ShapedDocument, admitted: Mapping[str, _Admitted]) -> Layer | None:
    groups = [admitted.get(sample) for sample in document.samples]
    shapes = tuple(
        shown
        for shape in document.shapes
        if (group := groups[shape.alike]) is not None and (shown := _as_shown(shape, group)) is not None
    )
    known = next((group for group in groups if group is not None), None)
    return Layer(known.sourced.source, shapes) if known is not None and shapes else None


def _as_shown(shape: Shape, group: _Admitted) -> Shape | None:
    """The shape as far as it is shown; None where several obligations leave nothing to draw."""
    if not group.obligations:
        return shape
    if len(group.obligations) > 1:
        return None
    params = group.obligations[0].params
    x, y = on_grid(*shape.centre, metres=int(params["metres"]), decimals=int(params["decimals"]))
    return replace(shape, bounds=(x, y, x, y), centre=(x, y), kind="Point")
