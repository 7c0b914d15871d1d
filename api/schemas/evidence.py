"""The responses of the reading routes, as they are described to clients."""

from __future__ import annotations

from typing import Any

from api.schemas.answer import Closed, Span, WireLocator, WireTime


class WireMeasurement(Closed):
    """What a cell states; `value` is the source's decimal text."""

    place: str
    place_id: str
    measure: str
    value: str
    unit: str
    time_range: WireTime


class WireReading(Closed):
    """Where the record of this reading is."""

    entry_id: str
    receipt: str


class EvidenceResponse(Closed):
    """One slice of one document, as policy lets this caller see it."""

    request_id: str
    document_id: str
    source_id: str
    title: str
    collection: str
    license: str
    attribution: str | None
    uri: str | None
    sensitivity: str
    document_sha256: str
    locator: WireLocator
    text: str
    redacted: list[Span]
    cell: str | None
    measurement: WireMeasurement | None
    provenance: WireReading


class WireCollection(Closed):
    """A collection that the caller may use."""

    collection_id: str
    name: str
    title: str


class CollectionsResponse(Closed):
    """The collections that the caller may use, by name."""

    collections: list[WireCollection]


class WireRef(Closed):
    """A pointer to an earlier entry."""

    rel: str
    entry_id: str
    leaf_hash: str


class EntryResponse(Closed):
    """What a ledger entry says of itself: ids, digests and part names."""

    entry_id: str
    kind: str
    index: int
    leaf_hash: str
    t_ms: int
    request_id: str
    replica: str
    rseq: int
    parts: list[str]
    refs: list[WireRef]
    links: dict[str, str]


class EntriesResponse(Closed):
    """A page of entries; `next` is the cursor for `after`, null on the last page."""

    entries: list[EntryResponse]
    next: int | None


class ReadyResponse(Closed):
    """Each part by name with its state and latency; `degraded` still answers."""

    status: str
    parts: dict[str, dict[str, Any]]
