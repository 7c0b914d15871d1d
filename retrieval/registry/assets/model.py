"""Values of the asset registry: what is asked for, and what the store holds of it.

An asset is a source under its lasting id; its representations are the versions of it that are stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from retrieval.channels.traversal import Direction
from retrieval.filters import Filter, Metadata
from retrieval.media_types import DELIMITERS, FEATURES, VERBATIM
from retrieval.model import EntityRef, Relationship, SourceFacts

AssetType = Literal["document", "table", "features"]
RepresentationKind = Literal["verbatim", "extracted"]
"""The stored text is the file's own, or was extracted from it."""
SortOrder = Literal["asc", "desc"]
_TYPES: dict[str, AssetType] = {**dict.fromkeys(DELIMITERS, "table"), **dict.fromkeys(FEATURES, "features")}
_FILE = "file"
_UNREVIEWED = "unreviewed"


@dataclass(frozen=True, slots=True)
class Asset:
    """A source with the version that is read. `name` is that of its file; `created_ms` is when the first version in the
    scope was stored, `updated_ms` when this one was; `workflow_run` the run of ingest that stored it. `metadata` are
    the fields that its manifest states and those that every document has."""

    facts: SourceFacts
    media_type: str
    stored_sha256: str
    created_ms: int
    updated_ms: int
    name: str
    workflow_run: str | None
    metadata: Metadata

    @property
    def asset_id(self) -> str:
        """The source's id."""
        return self.facts.source_id

    @property
    def asset_type(self) -> AssetType:
        """The form of its content."""
        return _TYPES.get(self.media_type, "document")

    @property
    def representation_kind(self) -> RepresentationKind:
        """How its text came about."""
        return "verbatim" if self.media_type in VERBATIM else "extracted"

    @property
    def owner(self) -> str | None:
        """The owner who answers for it: the field `owner`, else the group that owns its class."""
        stated = self.metadata.get("owner")
        return stated if isinstance(stated, str) else self.facts.visibility.owner_group

    @property
    def review_state(self) -> str:
        """The field `review_state`."""
        stated = self.metadata.get("review_state")
        return stated if isinstance(stated, str) else _UNREVIEWED

    @property
    def source_system(self) -> str:
        """The field `source_system`, else `file`."""
        stated = self.metadata.get("source_system")
        return stated if isinstance(stated, str) else _FILE

    def listed(self, name: str) -> tuple[str, ...]:
        """The texts of a field that may hold one or several, such as `topic` and `tags`."""
        stated = self.metadata.get(name, ())
        values = stated if isinstance(stated, tuple) else (stated,)
        return tuple(each for each in values if isinstance(each, str))


@dataclass(frozen=True, slots=True)
class Moments:
    """From `from_ms` until before `until_ms`, UTC milliseconds; None is open."""

    from_ms: int | None = None
    until_ms: int | None = None

    def hold(self, moment_ms: int) -> bool:
        """True if the moment lies within."""
        return (self.from_ms is None or self.from_ms <= moment_ms) and (
            self.until_ms is None or moment_ms < self.until_ms
        )


@dataclass(frozen=True, slots=True)
class AssetFilters:
    """Filters of assets. Of each list one value must fit; an empty list does not narrow. `entities`, `related` (ids of
    assets that name an entity of the asset) and `predicates` are looked up in the graph, `metadata` in the fields."""

    types: tuple[AssetType, ...] = ()
    lifecycles: tuple[str, ...] = ("active",)
    sensitivities: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    review_states: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source_systems: tuple[str, ...] = ()
    source_names: tuple[str, ...] = ()
    representation_kinds: tuple[RepresentationKind, ...] = ()
    workflow_runs: tuple[str, ...] = ()
    created: Moments = Moments()
    updated: Moments = Moments()
    entities: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    metadata: Filter | None = None


@dataclass(frozen=True, slots=True)
class EntityFilters:
    """Filters of entities. `name` is part of one of its names, whatever the case; `references` are ids, whole
    (`county:20177`) or without their scheme; `metadata` holds for a document that names it."""

    types: tuple[str, ...] = ()
    name: str = ""
    references: tuple[str, ...] = ()
    metadata: Filter | None = None


@dataclass(frozen=True, slots=True)
class EntityStatement:
    """An entity and its names as one document states them."""

    entity: EntityRef
    names: tuple[str, ...]
    document_id: str


@dataclass(frozen=True, slots=True)
class RelationshipFilters:
    """Filters of relationships. `entity` is either end as `direction` says; `assets` state them; `target_types` are
    types of the object; `day` lies in its time, or it has none; `records` state them."""

    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    entity: str | None = None
    direction: Direction = "both"
    predicates: tuple[str, ...] = ()
    target_types: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    workflow_runs: tuple[str, ...] = ()
    day: date | None = None
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatedRelationship:
    """An edge, its place among those of its document, and the asset that states it."""

    edge: Relationship
    position: int
    asset_id: str

    @property
    def relationship_id(self) -> str:
        """Its id: the record that states it, and its place."""
        return f"{self.edge.record_id}~{self.position}"


@dataclass(frozen=True, slots=True)
class GraphNarrowing:
    """Documents that name one of the entities, name an entity that one of the assets names, or state one of the
    predicates; what is empty does not narrow."""

    entities: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    metadata: Filter | None = field(default=None)

    @property
    def narrows(self) -> bool:
        """True if anything is asked for."""
        return bool(self.entities or self.related or self.predicates or self.metadata is not None)
