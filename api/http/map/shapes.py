"""Facts about the features of a document without their words: bounds, kind, time, and what the detectors say.

Independent of who asks, and as lasting as the document, whose id names its content. So the detectors, the slow part,
read each document once; who may see what is decided anew for each request (`api.http.map.layers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from ai.case.case import Services
from ai.governance.enforcement import detected
from policy.model import Finding, Injection
from retrieval.model import ChannelName, ChannelRank, EntityRef, Evidence, SourcedRecord, TimeRange
from retrieval.scope import Scope
from retrieval.spatial.facts import Box
from retrieval.wkb import shape_of

_AT_ONCE = 500
_RANK = ChannelRank(ChannelName.SPATIAL, "record", 1, 0.0)


@dataclass(frozen=True, slots=True)
class Shape:
    """One feature: where, when and what it is about. `alike` names the group of its document's features of which the
    detectors say the same; `lot`, from 0 to 1, follows from its id and says which of many small ones a map leaves out
    first."""

    record_id: str
    bounds: Box
    centre: tuple[float, float]
    kind: str
    time: TimeRange | None
    place: EntityRef | None
    alike: int
    lot: float


@dataclass(frozen=True, slots=True)
class ShapedDocument:
    """The features of a document, in order, and one record for each group of alike ones."""

    document_id: str
    source_id: str
    shapes: tuple[Shape, ...]
    samples: tuple[str, ...]


def feature_evidence(index: int, sourced: SourcedRecord) -> Evidence:
    """The feature as the evidence point is asked about it."""
    return Evidence(index, sourced.record.record_id, (sourced,), (_RANK,), 0.0)


class MapIndex:
    """The shaped documents that were read, kept while a scope lists them. One event loop."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[str, int, ShapedDocument]] = {}

    async def of(self, scope: Scope, *, corpus_version: int, services: Services) -> tuple[ShapedDocument, ...]:
        """The scope's documents that hold features with a geometry, by id. Raises `StoreUnavailable`."""
        listed: Mapping[str, tuple[str, ...]] = await services.store.shaped(scope=scope)
        for document_id, record_ids in listed.items():
            held = self._read.get(document_id)
            document = held[2] if held else await _read(record_ids, scope=scope, services=services)
            self._read[document_id] = scope.tenant, corpus_version, document
        self._forget(scope.tenant, corpus_version)
        return tuple(self._read[document_id][2] for document_id in sorted(listed))

    def _forget(self, tenant: str, corpus_version: int) -> None:
        """Drops what nobody has asked for since the tenant's corpus changed: it may have been withdrawn or erased."""
        gone = [key for key, (of, version, _) in self._read.items() if of == tenant and version < corpus_version]
        for document_id in gone:
            del self._read[document_id]


async def _read(record_ids: tuple[str, ...], *, scope: Scope, services: Services) -> ShapedDocument:
    shapes: list[Shape] = []
    groups: dict[tuple[Injection, tuple[Finding, ...]], int] = {}
    samples: list[str] = []
    document_id = source_id = ""
    for start in range(0, len(record_ids), _AT_ONCE):
        found = await services.store.fetch(record_ids[start : start + _AT_ONCE], scope=scope)
        for sourced in found.values():
            said = detected(feature_evidence(1, sourced), rules=services.rules)
            alike = groups.setdefault(said, len(groups))
            if alike == len(samples):
                samples.append(sourced.record.record_id)
            document_id, source_id = sourced.record.document_id, sourced.record.source_id
            shapes.append(_shape(sourced, alike))
    return ShapedDocument(document_id, source_id, tuple(shapes), tuple(samples))


def _shape(sourced: SourcedRecord, alike: int) -> Shape:

    record = sourced.record
    if record.geometry is None:
        raise AssertionError("a feature of a layer has a geometry")
    drawn = shape_of(record.geometry)
    west, south, east, north = (float(edge) for edge in drawn.bounds)
    centre = drawn.centroid
    return Shape(
        record_id=record.record_id,
        bounds=(west, south, east, north),
        centre=(float(centre.x), float(centre.y)),
        kind=str(drawn.geom_type),
        time=record.time,
        place=next(iter(record.entities), None),
        alike=alike,
        lot=int.from_bytes(blake2b(record.record_id.encode(), digest_size=6).digest()) / 2**48,
    )
