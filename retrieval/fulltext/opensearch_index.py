"""The write side of full text on OpenSearch: a version per visibility class and commit, published by one alias swap."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from opensearchpy import AsyncOpenSearch

from retrieval.errors import ChannelUnavailable
from retrieval.fulltext.opensearch_schema import PREFIX, IndexNames, class_key, entry, marker
from retrieval.fulltext.opensearch_server import GONE, Address, check_server, client_of, faults
from retrieval.fulltext.opensearch_state import read_state, write_state
from retrieval.fulltext.opensearch_versions import Versions
from retrieval.index import IndexBatch
from retrieval.index_text import index_text
from retrieval.model import ChannelName, Record

T = TypeVar("T")
_DOCUMENTS = 10_000
_LOST = "what was added before was lost with the full-text server's fault; add it again"


@dataclass(slots=True)
class _StagedClass:
    """The next version of a class: the index that is written (None: the class goes), and whether something was taken
    out of it, which must leave no trace in its statistics."""

    version: str | None
    thinned: bool = False


class OpenSearchIndex:
    """Writes the indexes of one home. A published version never changes: what is added or removed goes into a copy of
    it, which shares its files, or into a new one where something was taken out; `commit` puts the new versions in
    the place of the old, all classes in one step, so that a search sees a commit whole or not at all.

    Work that raises leaves nothing of itself; where that costs earlier work of the same commit, the commit raises too.
    A writer that begins clears away what another never committed. A `ChannelIndex`.
    """

    name = ChannelName.FULLTEXT

    def __init__(self, client: AsyncOpenSearch, *, prefix: str = PREFIX) -> None:
        self._client = client
        self._names = IndexNames(prefix)
        self._versions = Versions(client, self._names)
        self._lock = asyncio.Lock()
        self._stage: dict[str, _StagedClass] | None = None  # by class key
        self._published: Mapping[str, Sequence[str]] = {}
        self._added: dict[str, str] = {}  # class key by document, of this stage
        self._lost = False

    @classmethod
    def open(cls, url: str, *, ca_file: Path | None = None, prefix: str = PREFIX, deadline_s: float = 60.0) -> Self:
        """The index over a server, which is not asked before it is used; no request takes longer than `deadline_s`
        but the copying of a class. Raises ChannelUnavailable for an address or a file of authorities that is none."""
        return cls(client_of(Address.parse(url, ca_file=ca_file), deadline_s=deadline_s), prefix=prefix)

    async def add(self, batch: IndexBatch) -> None:
        """See `ChannelIndex`. Raises ChannelFault where the server refuses an entry, IndexNotReady where the index is
        of another version."""
        by_class = _by_class(batch.records)
        documents = {document for found in by_class.values() for document in found}
        async with self._staging() as stage:
            await self._take_out(stage, documents)
            for class_id, found in by_class.items():
                version = await self._version(stage, class_key(class_id))
                self._added.update(dict.fromkeys(found, class_key(class_id)))
                await self._versions.fill(version, list(_entries(class_id, found)))

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `ChannelIndex`."""
        async with self._staging() as stage:
            await self._take_out(stage, set(document_ids))

    async def clear(self) -> None:
        """See `ChannelIndex`; what was committed is seen until the next commit."""
        async with self._staging(clear=True) as stage:
            stated = await read_state(self._client, self._names)
            for key in {*self._published, *stage, *stated}:
                stage[key] = _StagedClass(None)
            self._added.clear()

    async def commit(self) -> None:
        """See `ChannelIndex`."""
        async with self._lock:
            stage, lost, self._stage, self._lost = self._stage, self._lost, None, False
            if lost:
                raise ChannelUnavailable(self.name, _LOST)
            if stage:
                with faults():
                    await self._publish(stage)

    async def documents(self) -> frozenset[str]:
        """See `ChannelIndex`."""
        with faults():
            published = await self._read_published()
            return await self._versions.documents(v for versions in published.values() for v in versions)

    async def aclose(self) -> None:
        """See `ChannelIndex`. What was not committed is never seen, and cleared away by the next writer."""
        await self._client.close()

    @asynccontextmanager
    async def _staging(self, *, clear: bool = False) -> AsyncIterator[dict[str, _StagedClass]]:
        """Work on the stage, which is opened when there is none and dropped when the work fails."""
        async with self._lock:
            earlier = bool(self._stage)
            try:
                with faults():
                    if self._stage is None:
                        self._stage = await self._begin(clear=clear)
                    yield self._stage
            except BaseException:
                self._stage, self._lost = None, earlier or self._lost
                raise

    async def _begin(self, *, clear: bool) -> dict[str, _StagedClass]:
        self._published = await self._read_published(mend=clear)
        await self._versions.sweep()
        self._added.clear()
        return {}

    async def _read_published(self, *, mend: bool = False) -> Mapping[str, Sequence[str]]:
        try:
            await check_server(self._client)
        except GONE:  # a connection of a server that has since been started again
            await check_server(self._client)
        return await self._versions.published(mend=mend)

    async def _take_out(self, stage: dict[str, _StagedClass], documents: Collection[str]) -> None:
        """Takes documents out of whichever classes hold them."""
        for some in _slices(sorted(documents), _DOCUMENTS):
            held = await self._versions.holders(some) if self._published else frozenset()
            keys = {key for key, versions in self._published.items() if not held.isdisjoint(versions)}
            for key in sorted(keys | {self._added.pop(document) for document in some if document in self._added}):
                await self._take_out_of(stage, key, some)

    async def _take_out_of(self, stage: dict[str, _StagedClass], key: str, documents: Sequence[str]) -> None:
        staged = stage.get(key)
        if staged is None:
            stage[key] = _StagedClass(await self._versions.copy_without(key, self._published[key][0], documents))
        elif staged.version is not None:
            staged.thinned |= await self._versions.take_out(staged.version, documents)

    async def _version(self, stage: dict[str, _StagedClass], key: str) -> str:
        """The version of a class that this stage writes."""
        staged = stage.get(key)
        if staged is not None and staged.version is not None:
            return staged.version
        if staged is None and key in self._published:
            version = await self._versions.copy(key, self._published[key][0])
        else:
            version = await self._versions.make(key)
        stage[key] = _StagedClass(version)
        return version

    async def _publish(self, stage: Mapping[str, _StagedClass]) -> None:
        after = {key: await self._finished(key, staged) for key, staged in sorted(stage.items())}
        stated = await read_state(self._client, self._names)
        going = {key for key, version in after.items() if version is None}
        if going & stated:
            await write_state(self._client, self._names, stated - going)
        await self._versions.publish(self._published, after)
        coming = after.keys() - going
        if not coming <= stated:
            await write_state(self._client, self._names, (stated - going) | coming)

    async def _finished(self, key: str, staged: _StagedClass) -> str | None:
        """The version as it is published; None where nothing is left of the class."""
        version = staged.version
        if version is None or not await self._versions.finish(version):
            return None
        if staged.thinned:
            version = await self._versions.copy_without(key, version, ())
            await self._versions.finish(version)
        return version


def _by_class(records: Sequence[Record]) -> dict[str, dict[str, list[Record]]]:
    """Records by class and document. ValueError for a document in two classes."""
    classes: dict[str, str] = {}
    found: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        if classes.setdefault(record.document_id, record.class_id) != record.class_id:
            raise ValueError(f"document {record.document_id} has records in two classes")
        found.setdefault(record.class_id, {}).setdefault(record.document_id, []).append(record)
    return found


def _entries(class_id: str, found: Mapping[str, Sequence[Record]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for document_id, records in found.items():
        yield marker(document_id, class_id)
        for record in records:
            text = index_text(record)
            if text is not None:
                yield entry(record.record_id, document_id, class_id, text)


def _slices(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
