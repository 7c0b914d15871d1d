"""The responses of the reading routes, as they are described to clients."""

from __future__ import annotations

from typing import Annotated, Any, Self
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from api.schemas.answer import ClosedModel


class Place(BaseModel):
    """Where to read in a document: one of `c`, `row` (with or without `col`), `feature` and `p`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    c: Annotated[str, Field(pattern=r"^\d{1,12}-\d{1,12}$", description="characters, start-end")] | None = None
    row: Annotated[int, Field(ge=0, le=2**31, description="data row, from 0")] | None = None
    col: Annotated[str, Field(max_length=200, description="column, with row")] | None = None
    feature: Annotated[str, Field(max_length=200, description="feature id")] | None = None
    p: Annotated[int, Field(ge=1, le=1_000_000, description="page, from 1")] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [name for name in ("c", "row", "feature", "p") if getattr(self, name) is not None]
        if len(given) != 1 or (self.col is not None and given != ["row"]):
            raise PydanticCustomError("locator", "Give one of c, row (with or without col), feature and p")
        return self

    def locator(self) -> str:
        """The query part of an evidence link, as the store reads it."""
        return urlencode(self.model_dump(exclude_none=True))


class WireCollection(ClosedModel):
    """A collection that the caller may use."""

    collection_id: str
    name: str
    title: str


class CollectionsResponse(ClosedModel):
    """The collections that the caller may use, by name."""

    collections: list[WireCollection]


class WireRef(ClosedModel):
    """A pointer to an earlier entry."""

    rel: str
    entry_id: str
    leaf_hash: str


class EntryResponse(ClosedModel):
    """A ledger entry as a document: ids, digests and part names."""

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


class EntrySummary(ClosedModel):
    """An entry in words; empty where it has none, or was erased."""

    question: str
    answer: str
    cited: list[str]
    sources: list[str]
    place: str


class FoundEntry(EntryResponse):
    """An entry with what can be searched for in it. `actor` is a pseudonym; null where it does not apply, was erased,
    or where the page was not searched for."""

    outcome: str | None = None
    model: str | None = None
    actor: str | None = None
    rules: list[str] | None = None
    summary: EntrySummary | None = None
    contents: dict[str, str] | None = None


class EntriesResponse(ClosedModel):
    """A page of entries; `next` is the cursor for `after`, null on the last page. With filters a page may hold fewer
    than asked for, or none, and have a next one."""

    entries: list[FoundEntry]
    next: int | None


class ReadyResponse(ClosedModel):
    """Each part by name with its state and latency; `degraded` still answers."""

    status: str
    parts: dict[str, dict[str, Any]]
