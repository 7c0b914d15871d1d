"""The write side of a channel, driven by ingest only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from retrieval.model import ChannelName, EntityRef, Record, Relationship, TimeRange

_WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*", re.UNICODE)
_SHORT = {"ft": "fort", "co": "county", "mt": "mount", "st": "saint"}


@lru_cache(maxsize=32_768)
def surface_key(surface: str) -> str:
    """The form under which names compare: NFKC, case folded, apostrophes and a possessive s gone, `Ft.` and `Co.`
    written out, one space between words. The names of a `GazetteerEntry` and the surfaces of mentions meet here."""
    if surface.isascii() and "'" not in surface:  # as most names are: a third of the work
        bare = surface.lower().replace(",", " ")
        plain = bare.replace(" ", "").isalnum()
        return " ".join(
            [_SHORT.get(word, word) for word in (bare.split(" ") if plain else _WORD.findall(bare)) if word]
        )
    folded = unicodedata.normalize("NFKC", surface).replace("\u2019", "'").casefold()
    folded = re.sub(r"'s(?!\w)", "", folded).replace("'", "")
    return " ".join(_SHORT.get(word, word) for word in _WORD.findall(folded))


@dataclass(frozen=True, slots=True)
class GazetteerEntry:
    """A name that answers to an entity, in one visibility class, stated by one document."""

    entity: EntityRef
    names: tuple[str, ...]
    class_id: str
    document_id: str


@dataclass(frozen=True, slots=True)
class SurfaceMention:
    """A name or a time that a passage's own words carry, read from that passage alone: no hidden document shapes it.

    `key` is `surface_key` of a name (then `time` is None), or the ISO form of a time (`1850`, `1854-05`, `1854-05-30`)
    with its `time`. Whether a name is an entity is decided at search, against the gazetteer entries of the scope.
    """

    record_id: str
    key: str
    class_id: str
    document_id: str
    time: TimeRange | None = None


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """Everything that one or more whole documents contribute. `tenant` is the same for all; records of one document are
    never split."""

    tenant: str
    records: Sequence[Record]
    entries: Sequence[GazetteerEntry] = ()
    relationships: Sequence[Relationship] = ()
    mentions: Sequence[SurfaceMention] = ()


class ChannelIndex(Protocol):
    """The stores that ingest writes to.

    `add` takes whole documents; adding a document again replaces it (idempotent). Nothing is visible to a search before
    `commit`, and after a crash a document is either wholly there or can be added again. `remove` takes documents out.
    `documents` lists what is there, so that a repair can compare. A store error is `ChannelUnavailable`.
    """

    @property
    def name(self) -> ChannelName: ...

    async def add(self, batch: IndexBatch) -> None: ...

    async def remove(self, document_ids: Collection[str]) -> None: ...

    async def commit(self) -> None: ...

    async def documents(self) -> frozenset[str]: ...

    async def clear(self) -> None: ...

    async def aclose(self) -> None: ...


class IndexRenewal(ChannelIndex, Protocol):
    """An index that is made anew beside the one that searches read.

    What is committed survives a crash, so that the work can go on where it stopped. `promote` puts it in the place of
    the one that is read, at once and durably; until then nothing of it is seen.
    """

    async def promote(self) -> None: ...
