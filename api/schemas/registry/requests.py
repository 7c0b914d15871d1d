"""`/api/v1/registry` (requirement 004): what may be asked of the asset registry, as clients write it."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from api.audit.registry.assets import AssetQuery, Part
from api.audit.registry.entities import EntityQuery
from api.audit.registry.paths import PathQuery
from api.audit.registry.relationships import RelationshipQuery
from api.errors import FieldProblem, RequestRejected
from api.schemas.query import QUESTION_CHARS, SAID, WHOLE, StrictModel, Text, plain_text, said_text
from retrieval.channels.traversal import Direction, Walk
from retrieval.errors import FilterInvalid
from retrieval.filters import Filter, parse_filter
from retrieval.model import Lifecycle
from retrieval.registry.assets.model import (
    AssetFilters,
    AssetType,
    EntityFilters,
    Moments,
    RelationshipFilters,
    RepresentationKind,
    SortOrder,
)
from retrieval.registry.assets.paging import PageRequest

MOST_ITEMS, MOST_OFFSET, MOST_VALUES = 200, 1_000_000, 50
MOST_STARTS, MOST_HOPS = 20, 4
AssetSort = Literal["asset_id", "title", "asset_type", "lifecycle", "created_at", "updated_at", "relevance"]
EntitySort = Literal["entity_id", "name", "type"]
PathSort = Literal["score", "hops", "entity_id"]
RelationshipSort = Literal["relationship_id", "predicate", "source", "target", "valid_from"]
LifecycleName = Literal["draft", "active", "withdrawn", "superseded", "erased"]
Words = Annotated[
    str,
    Field(max_length=QUESTION_CHARS, json_schema_extra=SAID),
    AfterValidator(plain_text),
    AfterValidator(said_text),
]
Texts = Annotated[list[Text], Field(max_length=MOST_VALUES)]
Moment = Annotated[StrictInt, Field(ge=0, le=2**53 - 1, description="UTC milliseconds"), WHOLE]
Cursor = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"^[A-Za-z0-9_=-]+$")]
Day = Annotated[str, Field(json_schema_extra={"format": "date"}, pattern=r"^\d{4}-\d{2}-\d{2}$")]


class PagedRequest(StrictModel):
    """A page: `limit` items from `offset` on, or after `cursor`, which neither skips nor repeats while others write."""

    limit: Annotated[StrictInt, Field(ge=1, le=MOST_ITEMS, examples=[50]), WHOLE] = 50
    offset: Annotated[StrictInt, Field(ge=0, le=MOST_OFFSET), WHOLE] = 0
    cursor: Cursor | None = Field(
        default=None,
        description="`next_cursor` of the page before, in the place of `offset`",
        examples=["eyJrIjoidGl0bGUiLCJpIjoiY291bnRpZXMifQ"],
    )
    sort_order: SortOrder = "asc"

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.cursor is not None and self.offset:
            raise PydanticCustomError("cursor_and_offset", "Give a cursor or an offset, not both")
        return self

    def page(self, sort_by: str) -> PageRequest:
        """The page as it is read."""
        return PageRequest(self.limit, self.offset, sort_by, self.sort_order, self.cursor)


class AssetQueryRequest(PagedRequest):
    """Assets by what they are, what they name and what they say. Of each list one value must fit; absent is all."""

    text: Words | None = Field(default=None, description="words that the asset's text holds", examples=["ferry"])
    asset_types: Annotated[list[AssetType], Field(max_length=3)] = Field(default=[])
    lifecycles: Annotated[list[LifecycleName], Field(min_length=1, max_length=5)] = Field(default=["active"])
    sensitivities: Texts = Field(default=[])
    owners: Texts = Field(default=[])
    topics: Texts = Field(default=[])
    review_states: Texts = Field(default=[])
    collections: Texts = Field(default=[], description="names of collections")
    tags: Texts = Field(default=[])
    source_systems: Texts = Field(default=[])
    source_names: Texts = Field(default=[], description="names of files")
    representation_kinds: Annotated[list[RepresentationKind], Field(max_length=2)] = Field(default=[])
    workflow_runs: Texts = Field(default=[], description="ids of runs of ingest")
    created_from_ms: Moment | None = None
    created_until_ms: Moment | None = None
    updated_from_ms: Moment | None = None
    updated_until_ms: Moment | None = None
    entities: Texts = Field(default=[], description="ids of entities that it names", examples=[["county:20177"]])
    related_assets: Texts = Field(default=[], description="ids of assets that name an entity that it names")
    predicates: Texts = Field(default=[], description="of relationships that it states")
    metadata: dict[str, JsonValue] = Field(default={}, description="the filter language, over its metadata")
    include: Annotated[list[Part], Field(max_length=3)] = Field(default=[])
    sort_by: AssetSort | None = Field(default=None, description="absent: `relevance` with `text`, else `asset_id`")

    @model_validator(mode="after")
    def _relevant(self) -> Self:
        if self.sort_by == "relevance" and self.text is None:
            raise PydanticCustomError("relevance_of_nothing", "Relevance needs a text")
        if self.sort_by in (None, "relevance") and self.text is not None and self.cursor is not None:
            raise PydanticCustomError("cursor_of_ranks", "Ranks have no cursor; sort by something that stays")
        for name in ("created", "updated"):
            first, last = getattr(self, f"{name}_from_ms"), getattr(self, f"{name}_until_ms")
            if first is not None and last is not None and last <= first:
                raise PydanticCustomError("range_reversed", "The range ends before it starts")
        return self

    def query(self) -> AssetQuery:
        """The request as the registry takes it. Raises RequestRejected for a filter that means nothing."""
        filters = AssetFilters(
            types=tuple(self.asset_types),
            lifecycles=tuple(Lifecycle(each).value for each in self.lifecycles),
            sensitivities=tuple(self.sensitivities),
            owners=tuple(self.owners),
            topics=tuple(self.topics),
            review_states=tuple(self.review_states),
            collections=tuple(self.collections),
            tags=tuple(self.tags),
            source_systems=tuple(self.source_systems),
            source_names=tuple(self.source_names),
            representation_kinds=tuple(self.representation_kinds),
            workflow_runs=tuple(self.workflow_runs),
            created=Moments(self.created_from_ms, self.created_until_ms),
            updated=Moments(self.updated_from_ms, self.updated_until_ms),
            entities=tuple(self.entities),
            related=tuple(self.related_assets),
            predicates=tuple(self.predicates),
            metadata=_filter(self.metadata),
        )
        sort_by = self.sort_by or ("relevance" if self.text is not None else "asset_id")
        return AssetQuery(filters, self.page(sort_by), self.text, tuple(sorted(set(self.include))))


class ContextEntityQueryRequest(PagedRequest):
    """Entities by type, name, reference and the metadata of what names them."""

    types: Texts = Field(default=[], examples=[["county"]])
    name: Text | None = Field(default=None, description="part of one of its names", examples=["shawnee"])
    external_references: Texts = Field(
        default=[], description="ids, with their scheme or without", examples=[["20177"]]
    )
    metadata: dict[str, JsonValue] = Field(default={}, description="the filter language, over what names it")
    sort_by: EntitySort = "entity_id"

    def query(self) -> EntityQuery:
        """The request as the registry takes it. Raises RequestRejected for a filter that means nothing."""
        filters = EntityFilters(
            tuple(self.types), self.name or "", tuple(self.external_references), _filter(self.metadata)
        )
        return EntityQuery(filters, self.page(self.sort_by))


class RelationshipQueryRequest(PagedRequest):
    """Relationships by their ends, their kind, what states them and when they hold."""

    sources: Texts = Field(default=[], description="ids of entities that they start from")
    targets: Texts = Field(default=[], description="ids of entities that they lead to")
    entity: Text | None = Field(default=None, description="id of an entity at the end that `direction` says")
    direction: Direction = "both"
    predicates: Texts = Field(default=[], examples=[["borders"]])
    target_types: Texts = Field(default=[], description="types of what they lead to")
    assets: Texts = Field(default=[], description="ids of assets that state them")
    workflow_runs: Texts = Field(default=[], description="ids of runs of ingest")
    valid_on: Day | None = Field(default=None, description="a day on which they hold; undated ones always do")
    sort_by: RelationshipSort = "relationship_id"

    def query(self) -> RelationshipQuery:
        """The request as the registry takes it. Raises RequestRejected for a day that the calendar has not."""
        filters = RelationshipFilters(
            sources=tuple(self.sources),
            targets=tuple(self.targets),
            entity=self.entity,
            direction=self.direction,
            predicates=tuple(self.predicates),
            target_types=tuple(self.target_types),
            assets=tuple(self.assets),
            workflow_runs=tuple(self.workflow_runs),
            day=_day(self.valid_on),
        )
        return RelationshipQuery(filters, self.page(self.sort_by))


class PathQueryRequest(PagedRequest):
    """Entities that relationships lead to from some, over several hops."""

    entities: Annotated[list[Text], Field(min_length=1, max_length=MOST_STARTS)] = Field(
        description="ids of the entities that the walk starts from", examples=[["county:20177"]]
    )
    hops: Annotated[StrictInt, Field(ge=1, le=MOST_HOPS, examples=[2]), WHOLE] = 2
    direction: Direction = Field(default="both", description="`outgoing`: from subject to object at every hop")
    predicates: Texts = Field(default=[], description="of the relationships that are followed", examples=[["borders"]])
    types: Texts = Field(default=[], description="types of the entities that are wanted")
    targets: Texts = Field(default=[], description="ids of the entities that are wanted")
    valid_on: Day | None = Field(default=None, description="a day on which each holds; undated ones always do")
    sort_by: PathSort = "score"
    sort_order: SortOrder = "desc"

    def query(self) -> PathQuery:
        """The request as the registry takes it. Raises RequestRejected for a day that the calendar has not."""
        starts, predicates = tuple(sorted(set(self.entities))), tuple(sorted(set(self.predicates)))
        walk = Walk(starts, self.hops, self.direction, predicates, _day(self.valid_on))
        return PathQuery(walk, tuple(self.types), tuple(self.targets), self.page(self.sort_by))


def _filter(given: dict[str, JsonValue]) -> Filter | None:
    try:
        return parse_filter(given) if given else None
    except FilterInvalid as exc:
        problem = FieldProblem(exc.where.replace("filters", "metadata", 1), "filter", str(exc))
        raise RequestRejected("The request is not valid.", (problem,)) from None


def _day(given: str | None) -> date | None:
    try:
        return None if given is None else date.fromisoformat(given)
    except ValueError:
        problem = FieldProblem("valid_on", "date_invalid", "Dates are YYYY-MM-DD")
        raise RequestRejected("The request is not valid.", (problem,)) from None
