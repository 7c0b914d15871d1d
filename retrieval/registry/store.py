"""The store of record, as a Protocol: documents with their exact text, records, entities, collections, and one row
per ingested file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from retrieval.algebra.domain import Domain
from retrieval.filters import Filter, Metadata
from retrieval.index import GazetteerEntry, IndexBatch
from retrieval.model import EntityRef, Lifecycle, Locator, Measurement, SourcedRecord, SourceFacts
from retrieval.registry.assets.store import AssetReads
from retrieval.registry.overview import CorpusOverview
from retrieval.scope import Scope, VisibilityClass


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A collection: a named knowledge base with a stable UUID, per tenant."""

    collection_id: str
    tenant: str
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Holdings:
    """The holdings of a tenant at one moment: every class with an active document, every collection, and the corpus
    version, which grows with every change that a reader of the tenant could notice. `places` tells of classes with a
    handling tag for how many places, at most, there is a figure of one measure and time. For the query point and for
    caches, never for a reader."""

    classes: tuple[VisibilityClass, ...]
    collections: tuple[KnowledgeBase, ...]
    corpus_version: int
    places: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """One version of one source: its exact text, in UTF-8 once encoded; offsets of records point into it. `pages` are
    (start_char, end_char). Before `valid_from_ms` no reader sees it. `metadata` are the source's own fields, beside
    those that every document has (`retrieval.registry.fields`)."""

    facts: SourceFacts
    media_type: str
    text: str
    pages: tuple[tuple[int, int], ...] = ()
    valid_from_ms: int | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Slice:
    """The resolution of a locator: the document, the place in it and the exact text there. A cell carries its
    measurement."""

    facts: SourceFacts
    locator: Locator
    text: str
    cell: str | None = None
    measurement: Measurement | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """The admitted observations of one measure at one place: the years for which there is a figure; none where it has
    no time."""

    measure: str
    place: EntityRef
    years: tuple[int, ...]


class RecordStore(AssetReads, Protocol):
    """The store of record, read side. Every read but `classes`, `collections` and `corpus_version` takes the scope,
    and returns only records, documents and names of its classes that are active. Raises `StoreUnavailable`; a locator
    that does not resolve is `RecordNotFound` (absent and not admitted alike)."""

    async def holdings(self, tenant: str) -> Holdings:
        """Classes, collections and corpus version in one read."""
        ...

    async def classes(self, tenant: str) -> tuple[VisibilityClass, ...]:
        """Every class of the tenant that holds an active document; for the query point only, never for a reader."""
        ...

    async def collections(self, tenant: str) -> tuple[KnowledgeBase, ...]: ...

    async def corpus_version(self, tenant: str) -> int:
        """A number that grows with every change that a reader of the tenant could notice; for caches, never
        released."""
        ...

    async def fetch(self, record_ids: Collection[str], *, scope: Scope) -> Mapping[str, SourcedRecord]:
        """The admitted ones among `record_ids`."""
        ...

    async def matching(self, wanted: Filter, *, scope: Scope) -> frozenset[str]:
        """The admitted documents that the filter over metadata holds for."""
        ...

    async def metadata(self, document_ids: Collection[str], *, scope: Scope) -> Mapping[str, Metadata]:
        """The metadata of the admitted ones among the documents, with the fields that every document has."""
        ...

    async def document(self, document_id: str, *, scope: Scope) -> Document: ...

    async def passages(self, document_id: str, *, scope: Scope) -> tuple[str, ...]:
        """The ids of the document's passages and features in their order; none where it is not admitted."""
        ...

    async def shaped(self, *, scope: Scope) -> Mapping[str, tuple[str, ...]]:
        """The ids of the features with a geometry, by document, both in order; documents without any are left out."""
        ...

    async def drawn(self, place_ids: Collection[str], *, scope: Scope) -> Mapping[str, tuple[str, ...]]:
        """The features with a geometry that are about these places (the first entity that they declare), by place;
        places that nothing draws are left out."""
        ...

    async def resolve(self, document_id: str, locator: str, *, scope: Scope) -> Slice:
        """Resolves `c=start-end`, `row=&col=`, `row=`, `feature=` or `p=` (the query part of an evidence link)."""
        ...

    async def gazetteer_entries(self, *, scope: Scope) -> Sequence[GazetteerEntry]: ...

    async def domain(self, *, scope: Scope) -> Domain:
        """Of what the scope holds figures, and which relations it states, as kinds."""
        ...

    async def coverage(
        self, *, scope: Scope, measures: Collection[str], place_ids: Collection[str]
    ) -> tuple[Coverage, ...]: ...

    async def overview(self, *, scope: Scope, unlabelled: bool) -> CorpusOverview:
        """Versions of sources in any lifecycle with their counts, and what became of the files of the newest runs;
        with `unlabelled` also of files that did not become a document."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A version of a source as ingest sees it: no text, no scope."""

    document_id: str
    source_id: str
    class_id: str
    collection: str
    lifecycle: Lifecycle


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The file that an active document was read from: `path` as it was named then (empty where that is not known),
    `sha256` of its bytes."""

    document: StoredDocument
    sha256: str
    path: str


@dataclass(frozen=True, slots=True)
class Description:
    """A source's description of itself, beside its text and class. `metadata` are its own fields and those that every
    document has."""

    title: str
    license: str
    attribution: str | None
    uri: str | None
    valid_until_ms: int | None
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class CorpusManifest:
    """The manifest hash of a tenant, and the digests of the rows that it was made of, by document, class and time of
    storage."""

    hash: str
    row_digests: Mapping[str, str]


FileState = Literal["queued", "loading", "indexing", "done", "skipped", "failed"]
"""A file's way through ingest; the last three are final."""


@dataclass(frozen=True, slots=True)
class FileJob:
    """The row of one file in one ingest run. `stage` is the last stage it entered; a failed file says code and
    message."""

    run_id: str
    position: int
    tenant: str
    path: str
    source_id: str
    state: FileState = "queued"
    stage: str = ""
    document_id: str | None = None
    passages: int = 0
    observations: int = 0
    features: int = 0
    error_code: str | None = None
    error_message: str | None = None


class RecordWriter(Protocol):
    """The write side, for ingest; it sees every class. Every method is one transaction: all or nothing. Raises
    `StoreUnavailable`."""

    async def put(self, document: Document, batch: IndexBatch, *, lifecycle: Lifecycle) -> None: ...

    async def put_all(self, documents: Sequence[Document], batch: IndexBatch, *, lifecycle: Lifecycle) -> None:
        """Stores whole documents with everything the batch holds of them; a document that is there is replaced."""
        ...

    async def put_collection(self, collection: KnowledgeBase) -> None:
        """Adds a collection, or gives it another title; its id is kept."""
        ...

    async def activate(self, document_ids: Collection[str]) -> frozenset[str]:
        """Makes documents active and every other active version of their sources superseded; returns the superseded
        ones."""
        ...

    async def set_lifecycle(self, document_ids: Collection[str], lifecycle: Lifecycle) -> None: ...

    async def discard(self, document_ids: Collection[str]) -> None:
        """Forgets drafts that never became active; a document in any other state is left alone."""
        ...

    async def stored(self, tenant: str, lifecycle: Lifecycle = Lifecycle.ACTIVE) -> tuple[StoredDocument, ...]: ...

    async def places(self, tenant: str) -> tuple[GazetteerEntry, ...]:
        """The names in the tenant's active documents of entities whose ids begin with their type, by document."""
        ...

    async def stored_files(self, tenant: str) -> tuple[StoredFile, ...]:
        """The tenant's active documents with the files that they were read from last, by id."""
        ...

    async def versions(self, tenant: str, source_id: str) -> tuple[SourceFacts, ...]:
        """Every version of a source, in any lifecycle, in the order in which they were stored."""
        ...

    async def relabel(self, document_ids: Collection[str], visibility: VisibilityClass) -> None:
        """Moves documents with everything in them to another class; from then on no reader of the old class alone sees
        them, whatever a channel still holds."""
        ...

    async def tenants(self) -> tuple[str, ...]:
        """Every tenant that has a document."""
        ...

    async def facts_of(self, document_id: str) -> SourceFacts | None:
        """The facts of a document in any lifecycle, None where there is no such document."""
        ...

    async def descriptions(self, tenant: str) -> Mapping[str, Description]:
        """The descriptions of the tenant's active documents, by id."""
        ...

    async def set_facts(self, facts: SourceFacts) -> None:
        """Rewrites title, licence, attribution, link and validity of a document that keeps its text and class."""
        ...

    async def set_metadata(self, document_id: str, metadata: Metadata) -> None:
        """Replaces the source's own fields of a document; nothing changes where they are the same."""
        ...

    async def batch(self, tenant: str, document_ids: Collection[str]) -> IndexBatch:
        """The documents' contribution to the indexes, without their surface mentions (derived by `ingest.link`)."""
        ...

    async def put_files(self, files: Sequence[FileJob]) -> None:
        """Adds or rewrites rows of an ingest run."""
        ...

    async def files(self, tenant: str, run_id: str | None = None) -> tuple[FileJob, ...]:
        """The rows of a run, by default the tenant's last one, in order."""
        ...

    async def erase(self, name: str, *, tenant: str) -> tuple[str, ...]:
        """Erases every version of the source of that id, or the document of that id: text and records go to the last
        byte, ids and digests stay. Gives the documents."""
        ...

    async def manifest_hash(self, tenant: str) -> str:
        """`sha256:` over the canonical list of active documents, their records and classes: equal corpora, equal
        hashes, whatever the stores."""
        ...

    async def manifest(self, tenant: str, known: Mapping[str, str]) -> CorpusManifest:
        """As `manifest_hash`, where rows whose digest is `known` from an earlier manifest of this store are not read
        again: rows of a document change only with its class, or when it is stored anew."""
        ...
