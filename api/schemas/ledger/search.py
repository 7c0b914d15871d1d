"""Search criteria of auditors, as written in a request."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from api.audit.log.search import EntryCriteria
from api.schemas.answer import ClosedModel
from ledger.model import FORMS, Kind
from ledger.search.entry_index import DAY_MS, EntryQuery, first_ms

KindName = Literal["intent", "outcome", "retrieval", "redaction", "key", "config", "incident"]
OutcomeName = Literal["ANSWER", "ABSTAIN", "DENY", "FAULT"]
Format = Literal["json", "ndjson", "csv"]
_PARTS = sorted({name for names in FORMS.values() for name in names})
PartName = Annotated[str, Field(pattern=rf"^({'|'.join(map(re.escape, _PARTS))}|sources/[1-9][0-9]{{0,5}})$")]
_Name = Annotated[str, Field(min_length=1, max_length=200)]


class EntryNames(BaseModel):
    """The filters that entries are searched by; all that are given must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: KindName | None = None
    id: Annotated[str, Field(pattern=r"^[0-9a-f-]{36}$")] | None = None
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="leaf hash")] | None = None
    request_id: _Name | None = None
    text: (
        Annotated[str, Field(min_length=2, max_length=200, description="words of question, answer or quote")] | None
    ) = None
    actor: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="pseudonym of who asked")] | None = None
    subject: Annotated[str, Field(min_length=1, max_length=200, description="id of who asked")] | None = None
    outcome: OutcomeName | None = None
    rule: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,80}$", description="policy rule or reason code")] | None = (
        None
    )
    model: _Name | None = None
    place: Annotated[str, Field(min_length=1, max_length=200, description="name or id of a place")] | None = None
    source: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    cited: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    since: Annotated[AwareDatetime, Field(description="recorded at this time or later")] | None = None
    until: Annotated[AwareDatetime, Field(description="recorded before this time")] | None = None
    day: Annotated[date, Field(description="recorded on this day, UTC")] | None = None

    def wanted(self, tenant: str | None) -> EntryCriteria:
        """The criteria of a search in that tenant; None is every tenant."""
        named = self.model_dump(include={"request_id", "actor", "outcome", "rule", "model", "place", "source", "cited"})
        since, until = self._span()
        query = EntryQuery(
            tenant=tenant,
            kind=None if self.kind is None else Kind(self.kind),
            entry_id=self.id,
            leaf_hash=self.hash,
            since_ms=since,
            until_ms=until,
            **named,
        )
        return EntryCriteria(query, subject=self.subject, text=self.text)

    def _span(self) -> tuple[int | None, int | None]:
        """From when, and before when, in milliseconds: what times and day have in common."""
        given = [None if each is None else round(each.timestamp() * 1000) for each in (self.since, self.until)]
        if self.day is None:
            return given[0], given[1]
        first = first_ms(self.day)
        since = first if given[0] is None else max(first, given[0])
        return since, first + DAY_MS if given[1] is None else min(first + DAY_MS, given[1])


class EntryFilters(EntryNames):
    """A search, and which page of it in which form."""

    after: Annotated[int, Field(ge=-1, le=2**62, description="cursor: entries above this index")] = -1
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    format: Format = "json"
    summary: Annotated[
        bool, Field(description="each entry with question, answer, sources and place; in a table as columns")
    ] = False
    parts: Annotated[
        tuple[PartName, ...], Field(max_length=16, description="parts to give with each entry, as recorded")
    ] = ()

    @property
    def searches(self) -> bool:
        """True if anything is asked for that the log itself does not order by."""
        return bool(self.model_fields_set - {"after", "limit", "format", "kind", "summary", "parts"})


class FacetFilters(EntryNames):
    """A search whose entries are counted, and the form of the counts."""

    format: Literal["json", "csv"] = "json"


class FacetValue(ClosedModel):
    """A value, and how many of the entries have it."""

    value: str
    count: int


class Facet(ClosedModel):
    """A facet by which the entries are counted: its name is that of the filter that narrows to a value."""

    name: Literal["kind", "outcome", "rule", "model", "source", "cited", "place", "actor", "day"]
    values: list[FacetValue]


class FacetsResponse(ClosedModel):
    """How many entries match a search, by their values."""

    entries: int
    complete: bool
    facets: list[Facet]


class LogCheckpoint(ClosedModel):
    """A signed head of the log."""

    size: int
    root: str
    newest_ms: int | None


class LogWitness(ClosedModel):
    """A witness of the trust policy, and what it cosigned last."""

    name: str = Field(examples=["witness.example"])
    key: str = Field(examples=["5a1f0c9b"])
    size: int | None = Field(examples=[120])
    cosigned_ms: int | None = Field(examples=[1795354024124])


class OpenRequest(ClosedModel):
    """A request of the tenant without an outcome."""

    entry_id: str = Field(examples=["01a2031f-1fc5-776c-bb33-2bf6a0c1861e"])
    t_ms: int = Field(examples=[1795354024124])


class LogHealthResponse(ClosedModel):
    """The state of the log, as far as it is known without reading all of it."""

    origin: str
    at_ms: int
    entries: int
    indexed: int
    checkpoint: LogCheckpoint | None
    unsigned: int
    unsigned_since_ms: int | None
    witnesses: list[LogWitness]
    quorum: bool | None
    open_requests: list[OpenRequest]
    gaps: list[Literal["FORKED", "UNSIGNED", "UNWITNESSED", "UNFINISHED"]]
