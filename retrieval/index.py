"""The write side of a channel, driven by ingest only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.model import ChannelName, EntityRef, Record, Relationship


@dataclass(frozen=True, slots=True)
class GazetteerEntry:
    """A name that answers to an entity, in one visibility class, stated by one document."""

    entity: EntityRef
    names: tuple[str, ...]
    class_id: str
    document_id: str


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """Everything that one or more whole documents contribute. `tenant` is the same for all; records of one document are never split."""

    tenant: str
    records: Sequence[Record]
    entries: Sequence[GazetteerEntry] = ()
    relationships: Sequence[Relationship] = ()


class ChannelIndex(Protocol):
    """What ingest writes to.

    `add` takes whole documents; adding a document again replaces it (idempotent). Nothing is visible to a search before `commit`, and
    after a crash a document is either wholly there or can be added again. `remove` takes documents out. `documents` lists what is
    there, so that a repair can compare. A store error is `ChannelUnavailable`.
    """

    @property
    def name(self) -> ChannelName: ...

    async def add(self, batch: IndexBatch) -> None: ...

    async def remove(self, document_ids: Collection[str]) -> None: ...

    async def commit(self) -> None: ...

    async def documents(self) -> frozenset[str]: ...

    async def clear(self) -> None: ...

    async def aclose(self) -> None: ...
