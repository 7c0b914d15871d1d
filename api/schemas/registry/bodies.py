"""`/api/v1/registry` (requirement 004): what is answered, as clients read it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ai.answer.shapes import WireLocator, WirePromise
from api.schemas.answer import ClosedModel


class RegistryDiagnostic(ClosedModel):
    """Something that the reader of a list has to know."""

    code: str
    message: str


class RegistrySort(ClosedModel):
    """The order of a list; the id breaks ties."""

    by: str
    order: Literal["asc", "desc"]


class RegistryEnvelope(ClosedModel):
    """A page, recorded under `entry_id`. Totals count what the caller may see. `next_offset` and `next_cursor` are null
    on the last page; a denied query is an empty page with `success` false."""

    correlation_id: str
    entry_id: str
    receipt: str
    success: bool
    total_count: int
    returned_count: int
    limit: int
    offset: int
    next_offset: int | None
    next_cursor: str | None
    sort: RegistrySort
    diagnostics: list[RegistryDiagnostic]
    promise: WirePromise


class WithheldSpan(ClosedModel):
    """Characters that are withheld, end exclusive, and why."""

    start: int = Field(examples=[52])
    end: int = Field(examples=[70])
    kind: str = Field(examples=["email"])


class AssetClassification(ClosedModel):
    """The classification that the asset is filed under."""

    sensitivity: str
    collection: str
    owner: str | None
    topics: list[str]
    tags: list[str]
    review_state: str


class SourceReference(ClosedModel):
    """Where the asset came from."""

    source_reference_id: str
    system: str
    name: str
    uri: str | None
    license: str
    attribution: str | None


class AssetRepresentation(ClosedModel):
    """A stored version: `verbatim` text of the file, or text `extracted` from it."""

    representation_id: str
    kind: Literal["verbatim", "extracted"]
    media_type: str
    source_sha256: str
    text_sha256: str


class MetadataRecord(ClosedModel):
    """A field of the asset's own."""

    name: str = Field(examples=["signed_year"])
    value: Any = Field(examples=[1825])


class AssetRelevance(ClosedModel):
    """How the words were found."""

    strategy: str
    query: str
    rank: int
    match_count: int
    representation_ids: list[str]


class MatchOffsets(ClosedModel):
    """Characters of the stored document, end exclusive."""

    start: int
    end: int


class RetrievalSnippet(ClosedModel):
    """Words of an asset around what was sought. `storage_reference` reads the whole passage."""

    asset_id: str
    representation_id: str
    source_reference_id: str
    record_id: str
    storage_reference: str
    heading: str | None
    text: str
    match: MatchOffsets
    locator: WireLocator
    redacted: list[WithheldSpan]


class NamedEntity(ClosedModel):
    """An entity as one document names it."""

    entity_id: str
    name: str
    type: str


class Validity(ClosedModel):
    """Days, both inclusive."""

    start: str
    end: str


class RelationshipProvenance(ClosedModel):
    """The record that states a relationship."""

    asset_id: str
    representation_id: str
    record_id: str
    statement: str
    href: str


class RelationshipQueryItem(ClosedModel):
    """A relationship. `direction` is seen from the entity that was asked for, else from its source; names are empty
    where words of the record are withheld."""

    relationship_id: str
    direction: Literal["outgoing", "incoming"]
    predicate: str
    source: NamedEntity
    target: NamedEntity
    validity: Validity | None
    confidence: float
    actor: str
    provenance: RelationshipProvenance


class AssetQueryItem(ClosedModel):
    """An asset. `entities` and `relationships` are there if they were asked for."""

    asset_id: str
    title: str
    redacted: list[WithheldSpan]
    asset_type: Literal["document", "table", "features"]
    lifecycle: str
    classification: AssetClassification
    source_references: list[SourceReference]
    representations: list[AssetRepresentation]
    metadata_records: list[MetadataRecord]
    valid_until_ms: int | None
    created_at_ms: int
    updated_at_ms: int
    workflow_run: str | None
    relevance: AssetRelevance | None
    snippets: list[RetrievalSnippet]
    entities: list[NamedEntity] = Field(default=[])
    relationships: list[RelationshipQueryItem] = Field(default=[])
    diagnostics: list[RegistryDiagnostic]


class SearchMeasure(ClosedModel):
    """In how many of the caller's assets the words were sought, and whether any holds them."""

    strategy: str
    query: str
    indexed_assets: int
    indexed_representations: int
    zero_results: bool


class AssetQueryResult(RegistryEnvelope):
    """A page of assets. `search` is null without words."""

    results: list[AssetQueryItem]
    search: SearchMeasure | None = None


class AssetRead(AssetQueryItem):
    """One asset, and where the reading is recorded."""

    correlation_id: str
    entry_id: str
    receipt: str
    promise: WirePromise


class ExternalReference(ClosedModel):
    """An entity's name in another system."""

    system: str
    value: str


class EntityEvidence(ClosedModel):
    """A document that names an entity."""

    asset_id: str
    representation_id: str


class ContextEntityItem(ClosedModel):
    """An entity with the names that the caller's documents give it. `evidence` lists the first of `evidence_count`."""

    entity_id: str
    type: str
    name: str
    names: list[str]
    external_references: list[ExternalReference]
    valid_until_ms: int | None
    evidence_count: int
    evidence: list[EntityEvidence]


class ContextEntityQueryResult(RegistryEnvelope):
    """A page of entities."""

    results: list[ContextEntityItem]


class RelationshipQueryResult(RegistryEnvelope):
    """A page of relationships."""

    results: list[RelationshipQueryItem]


class ReachedEntityItem(ClosedModel):
    """An entity that a walk leads to, and the best of the shortest paths to it, first relationship first; the
    `direction` of each is seen from where it is walked from. `score` is the entity's share of a random walk."""

    entity: NamedEntity
    score: float = Field(ge=0, le=1, examples=[0.125])
    hops: int = Field(ge=1, examples=[2])
    path: list[RelationshipQueryItem]


class PathQueryResult(RegistryEnvelope):
    """A page of entities that a walk leads to."""

    results: list[ReachedEntityItem]
