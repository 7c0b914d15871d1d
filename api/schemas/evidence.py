"""The responses of the reading routes, as they are described to clients."""

from __future__ import annotations

from typing import Annotated, Any, Self
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from ai.answer.links import MOST_MARKS
from ai.answer.shapes import Mark
from api.schemas.answer import ClosedModel

_MARKS = rf"^\d{{1,12}}-\d{{1,12}}(?:,\d{{1,12}}-\d{{1,12}}){{0,{MOST_MARKS - 1}}}$"


def _spans(text: str) -> list[tuple[int, int]]:
    """`0-5,9-12` as pairs."""
    pairs = (each.split("-") for each in text.split(",") if each)
    return [(int(start), int(end)) for start, end in pairs]


class Place(BaseModel):
    """Where to read in a document: one of `c` (with or without `mark`), `row` (with or without `col`), `feature` and
    `p`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    c: Annotated[str, Field(pattern=r"^\d{1,12}-\d{1,12}$", description="characters, start-end")] | None = None
    row: Annotated[int, Field(ge=0, le=2**31, description="data row, from 0")] | None = None
    col: Annotated[str, Field(max_length=200, description="column, with row")] | None = None
    feature: Annotated[str, Field(max_length=200, description="feature id", examples=["20177"])] | None = None
    p: Annotated[int, Field(ge=1, le=1_000_000, description="page, from 1", examples=[1])] | None = None
    mark: Annotated[
        str | None,
        Field(pattern=_MARKS, description="with `c`: parts of it to mark, start-end,…", examples=["10-34"]),
    ] = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [name for name in ("c", "row", "feature", "p") if getattr(self, name) is not None]
        if len(given) != 1 or (self.col is not None and given != ["row"]):
            raise PydanticCustomError("locator", "Give one of c, row (with or without col), feature and p")
        if self.mark is not None and (
            self.c is None or not all(self._within(self.c, each) for each in _spans(self.mark))
        ):
            raise PydanticCustomError("mark", "Give the parts in order and inside c")
        return self

    @staticmethod
    def _within(c: str, part: tuple[int, int]) -> bool:
        ((start, end),) = _spans(c)
        return start <= part[0] < part[1] <= end

    def marks_in(self, start: int, length: int) -> list[Mark]:
        """The marked parts in characters of a text that begins at `start`; of parts that overlap the first."""
        found: list[Mark] = []
        for first, last in sorted(_spans(self.mark or "")):
            at, end = first - start, min(last - start, length)
            if at < end and (not found or found[-1]["end"] <= at):
                found.append({"start": at, "end": end})
        return found

    def locator(self) -> str:
        """The query part of an evidence link, as the store reads it."""
        return urlencode(self.model_dump(exclude_none=True, exclude={"mark"}))


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
    damaged: str | None = None


class ChangedEntry(ClosedModel):
    """An entry whose leaf is not the one that was recorded; nothing else is known of it."""

    index: int
    entry_id: str
    damaged: str


class EntriesResponse(ClosedModel):
    """A page of entries; `next` is the cursor for `after`, null on the last page. With filters a page may hold fewer
    than asked for, or none, and have a next one. `damaged` are the entries of the page that were changed."""

    entries: list[FoundEntry]
    damaged: list[ChangedEntry] = Field(default=[])
    next: int | None


class ReadyResponse(ClosedModel):
    """Each part by name with its state and latency; `degraded` still answers."""

    status: str
    parts: dict[str, dict[str, Any]]
