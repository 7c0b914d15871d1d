"""Ingest: load -> chunk -> label -> link -> index, a row per file, and nothing visible before all of it is.

A document is stored as a draft, added to every channel, the channels are committed, and only then does one
transaction of the store make it active and its older version superseded. A kill at any point leaves at worst drafts,
and entries in a channel that no active record answers to; the next run takes up both.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from retrieval.errors import IngestError, ManifestError
from retrieval.index import ChannelIndex, IndexBatch
from retrieval.ingest.digest_cache import DigestCache, FileStatus, KnownDigests
from retrieval.ingest.formats.load import read_bytes
from retrieval.ingest.identity import KnownFiles, places_of, plain_name
from retrieval.ingest.kinds_told import KindsTold
from retrieval.ingest.label import AccessTerms, visibility_of
from retrieval.ingest.prepare import (
    IdentifiedFile,
    Opened,
    PreparedDocument,
    document_id_of,
    facts_of,
    identify,
    lookups_of,
    prepare,
)
from retrieval.ingest.reading import Reader, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.records.searchable import for_channels, tagged, without_suspects
from retrieval.ingest.report import NOTE, IngestReport, Progress, counts_of, told_of
from retrieval.ingest.sources import sources_of
from retrieval.ingest.upkeep.upkeep import IngestStore, Upkeep
from retrieval.ingest.values import SourceSpec
from retrieval.model import Lifecycle
from retrieval.registry.fields import description_of
from retrieval.registry.store import Description, FileJob, KnowledgeBase, StoredDocument
from retrieval.scope import VisibilityClass

_NAMESPACE = uuid.UUID("5f0c6a0e-3c1b-5d0a-9a52-2f6f3f6b8a11")
_ROW_INTERVAL_S = 0.25


@dataclass(slots=True)
class _Run:
    """State of one run: the rows, what waits for the next group, what was replaced. `untold` are the documents, by
    position, that wait until every file has told the kinds of its places; None where one is too large to wait."""

    run_id: str
    tenant: str
    jobs: list[FileJob]
    progress: Progress | None
    terms: AccessTerms
    known: Mapping[str, StoredDocument] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, Description] = field(default_factory=dict)
    files: KnownFiles = field(default_factory=KnownFiles)
    titles: Mapping[str, str] = field(default_factory=dict)
    opened: Opened = read_bytes
    collections: set[str] = field(default_factory=set)
    waiting: list[tuple[int, PreparedDocument]] = field(default_factory=list)
    kinds: KindsTold = field(default_factory=KindsTold)
    untold: dict[int, PreparedDocument | None] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    superseded: set[str] = field(default_factory=set)
    flushing: asyncio.Task[None] | None = None
    written_s: float = 0.0

    def move(self, position: int, **changes: object) -> None:
        """Changes a row; it is written with the next `_save`."""
        self.jobs[position] = replace(self.jobs[position], **changes)  # type: ignore[arg-type]
        self.changed.add(position)
        if self.progress:
            self.progress(self.jobs[position])


class Ingest(Upkeep):
    """Takes files into the store of record and into every channel. One run at a time per store. `terms` are read when
    a run begins; `digests` spares the reading of files that are as they were; `read` makes records of a file."""

    def __init__(
        self,
        *,
        store: IngestStore,
        indexes: Sequence[ChannelIndex],
        terms: Callable[[], AccessTerms],
        chunk_size: ChunkSize = ChunkSize(),  # noqa: B008  frozen
        group_records: int = 4096,
        digests: DigestCache | None = None,
        read: Reader = read_file,
    ) -> None:
        super().__init__(store=store, indexes=indexes, terms=terms, digests=digests)
        self._size = chunk_size
        self._group_records = group_records
        self._read = read

    async def run(
        self,
        paths: Sequence[Path],
        *,
        tenant: str,
        collection: str | None = None,
        label: str | None = None,
        manifest: Path | None = None,
        resume: bool = False,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Takes in what paths and manifest name. A file that cannot be taken in is a failed row, and the others go
        on; the same content again is skipped. `resume` goes on in the rows of the tenant's last run; `verify` reads
        every file, whatever its status says. Raises
        `ManifestError`, `StoreUnavailable`, `ChannelUnavailable`; after each the run can be repeated."""
        sources, titles = await asyncio.to_thread(sources_of, paths, manifest)
        run_id = await self.cut_off_run(sources, tenant=tenant) if resume else None
        return await self.take(
            sources,
            titles=titles,
            tenant=tenant,
            collection=collection,
            label=label,
            run_id=run_id,
            verify=verify,
            progress=progress,
        )

    async def cut_off_run(self, sources: Sequence[SourceSpec], *, tenant: str) -> str | None:
        """The tenant's last run, to go on in its rows, if it was of the same files. Raises `StoreUnavailable`."""
        await self.make_store()
        last = await self._store.files(tenant)
        places = await asyncio.to_thread(places_of, sources)
        return last[0].run_id if last and [file.path for file in last] == places else None

    async def make_store(self) -> None:
        """Makes the store where it is not there yet, so that it can be read. Raises `StoreUnavailable`."""
        await self._store.put_files([])

    async def take(
        self,
        sources: Sequence[SourceSpec],
        *,
        tenant: str,
        titles: Mapping[str, str] | None = None,
        collection: str | None = None,
        label: str | None = None,
        run_id: str | None = None,
        verify: bool = False,
        progress: Progress | None = None,
        opened: Opened = read_bytes,
    ) -> IngestReport:
        """Takes in sources, as `run` does; `run_id` names a run, or goes on in the rows of one that was cut off;
        `opened` reads their bytes."""
        run = await self._begin(sources, tenant, run_id or new_run_id(), progress)
        run.opened = opened
        await self.repair(tenant)
        held = await self._store.stored_files(tenant)
        run.known = {each.document.document_id: each.document for each in held}
        run.owners = {each.document.source_id: each.document.collection for each in held}
        run.descriptions = await self._store.descriptions(tenant)
        run.files, run.titles = KnownFiles.of(held), titles or {}
        known = KnownDigests() if verify else await asyncio.to_thread(self._digests.of, tenant)
        unchanged = await asyncio.to_thread(self._unchanged, run, sources, known, collection=collection, label=label)
        for position, (source_id, document_id, visibility) in unchanged.items():
            await self._name_collection(run, visibility)
            told = _kept(run, document_id, visibility)
            run.move(position, state="skipped", stage="load", source_id=source_id, document_id=document_id, **told)
        await self._take_each(run, list(enumerate(sources)), unchanged, collection=collection, label=label)
        await self._save(run, now=True)
        corpus = await self._store.manifest(tenant, known.rows)
        await asyncio.to_thread(self._remember, run, corpus.row_digests)
        return IngestReport(run.run_id, tuple(run.jobs), tuple(sorted(run.superseded)), corpus.hash)

    async def _take_each(
        self,
        run: _Run,
        sources: Sequence[tuple[int, SourceSpec]],
        unchanged: Collection[int],
        *,
        collection: str | None,
        label: str | None,
    ) -> None:
        """Takes in the sources but those at unchanged positions, in groups, last those whose places' kinds only other
        files tell; a run that is cut off leaves no flush unwatched."""
        try:
            for position, source in sources:
                if position not in unchanged:
                    await self._take_or_fail(run, position, source, collection=collection, label=label)
                    await self._hand_over(run, least=self._group_records)
            await self._note_stored_kinds(run)
            for position, source in sources:
                kinds = run.kinds.of(position)
                prepared = run.untold.pop(position, None)
                if prepared is not None and not kinds:
                    self._add(run, position, prepared)
                elif position in run.kinds.untold and (kinds or run.jobs[position].state != "skipped"):
                    told = replace(source, kinds=kinds)
                    await self._take_or_fail(run, position, told, collection=collection, label=label, last=True)
                await self._hand_over(run, least=self._group_records)
            await self._hand_over(run)
            await _settle(run)
        except BaseException:
            if run.flushing:
                run.flushing.cancel()
                await asyncio.gather(run.flushing, return_exceptions=True)
            raise

    async def _note_stored_kinds(self, run: _Run) -> None:
        """Notes what stored documents tell of kinds, where this run has read of places, and which of the skipped ones
        do not tell the kind."""
        if not run.kinds.is_needed:
            return
        waiting = {run.jobs[position].source_id for position in run.kinds.untold}
        skipped = {job.document_id: position for position, job in enumerate(run.jobs) if job.state == "skipped"}
        for document_id, entries in groupby(await self._store.places(run.tenant), key=lambda e: e.document_id):
            held = run.known.get(document_id)
            if held is None or held.source_id not in waiting:
                run.kinds.note(entries, skipped.get(document_id))

    def _unchanged(
        self,
        run: _Run,
        sources: Sequence[SourceSpec],
        known: KnownDigests,
        *,
        collection: str | None,
        label: str | None,
    ) -> dict[int, tuple[str, str, VisibilityClass]]:
        """The sources, by position, that are stored already as they are told now, with the source and the document that
        they are: nothing of their files is read. Whatever else is said of a source is left to `_take`."""
        found: dict[int, tuple[str, str, VisibilityClass]] = {}
        classes: dict[VisibilityClass, VisibilityClass] = {}
        for position, source in enumerate(sources) if known.files else ():
            place = run.jobs[position].path
            sha256 = known.sha256_of(place, FileStatus.of(source.path, follow=source.declared))
            if sha256 is None:
                continue
            with suppress(IngestError):
                visibility = visibility_of(
                    source, tenant=run.tenant, collection=collection, label=label, terms=run.terms
                )
                visibility = classes.setdefault(visibility, visibility)  # so that its id is made once
                named = run.files.found_again(source, place, sha256, visibility)
                _check_owner(named, visibility, run.owners)
                document_id = document_id_of(named, visibility, self._size, sha256, lookups_of(named))
                told = description_of(facts_of(named, visibility, document_id, sha256), named.metadata)
                if document_id in run.known and (not named.declared or run.descriptions[document_id] == told):
                    found[position] = (named.source_id, document_id, visibility)
        return found

    def _remember(self, run: _Run, row_digests: Mapping[str, str]) -> None:
        self._digests.of(run.tenant).rows = row_digests
        places = {*run.files.by_path, *(job.path for job in run.jobs)}
        self._digests.save(run.tenant, places=places)

    async def _begin(self, sources: Sequence[SourceSpec], tenant: str, run_id: str, progress: Progress | None) -> _Run:
        places = await asyncio.to_thread(places_of, sources)
        jobs = [FileJob(run_id, i, tenant, places[i], source.source_id) for i, source in enumerate(sources)]
        await self._store.put_files(jobs)
        return _Run(run_id, tenant, jobs, progress, self._terms())

    async def _take_or_fail(
        self,
        run: _Run,
        position: int,
        source: SourceSpec,
        *,
        collection: str | None,
        label: str | None,
        last: bool = False,
    ) -> None:
        try:
            run.move(position, state="loading", stage="label")
            visibility = visibility_of(source, tenant=run.tenant, collection=collection, label=label, terms=run.terms)
            await self._take(run, position, source, visibility, last=last)
        except IngestError as exc:
            run.move(position, state="failed", error_code=exc.code, error_message=plain_name(str(exc))[:500])
        await self._save(run)

    async def _take(
        self, run: _Run, position: int, source: SourceSpec, visibility: VisibilityClass, *, last: bool
    ) -> None:
        """Takes in one source; unless it is the `last` time, one whose places' kinds it does not tell waits."""
        run.move(position, stage="load")
        await self._save(run)
        identified = await asyncio.to_thread(self._identify, run, position, source, visibility)
        source = run.files.found_again(source, run.jobs[position].path, identified.sha256, visibility)
        identified = identified.called(source.source_id)
        _check_owner(source, visibility, run.owners)
        run.move(position, source_id=source.source_id)
        document_id = identified.document_id
        if document_id in run.known:
            await self._name_collection(run, visibility)
            await self._refresh_facts(run, source, visibility, identified)
            told = _kept(run, document_id, visibility)
            run.move(position, state="skipped", stage="load", document_id=document_id, **told)
            return
        run.move(position, stage="chunk")
        prepared = await asyncio.to_thread(
            prepare, source, visibility, identified, self._size, read=self._read, suspect=run.terms.suspect
        )
        await self._name_collection(run, visibility)
        if not last and source.table is None and run.kinds.note(prepared.parts.entries, position):
            held = sum(len(each.parts.records) for each in run.untold.values() if each is not None)
            fits = held + len(prepared.parts.records) <= self._group_records
            run.untold[position] = prepared if fits else None
        else:
            self._add(run, position, prepared)

    def _add(self, run: _Run, position: int, prepared: PreparedDocument) -> None:
        run.waiting.append((position, prepared))
        run.move(position, state="indexing", stage="index", document_id=prepared.document.facts.document_id)
        run.move(position, **counts_of(prepared), **told_of(prepared))

    def _identify(self, run: _Run, position: int, source: SourceSpec, visibility: VisibilityClass) -> IdentifiedFile:
        """The bytes of the file; their digest is kept where nobody wrote to the file meanwhile."""
        before = FileStatus.of(source.path, follow=source.declared)
        identified = identify(source, visibility, self._size, run.opened)
        settled = before if FileStatus.of(source.path, follow=source.declared) == before else None
        self._digests.keep(run.tenant, run.jobs[position].path, settled, identified.sha256)
        return identified

    async def _name_collection(self, run: _Run, visibility: VisibilityClass) -> None:
        """Makes the collection, once a run."""
        tenant, name, titles = visibility.tenant, visibility.collection, run.titles
        if name in run.collections:
            return
        run.collections.add(name)
        identity = str(uuid.uuid5(_NAMESPACE, f"{tenant}\n{name}"))
        held = {collection.name: collection for collection in await self._store.collections(tenant)}
        title = titles.get(name) or (held[name].title if name in held else name)
        if name not in held or held[name].title != title:
            await self._store.put_collection(KnowledgeBase(identity, tenant, name, title))

    async def _refresh_facts(
        self, run: _Run, source: SourceSpec, visibility: VisibilityClass, identified: IdentifiedFile
    ) -> None:
        if not source.declared:
            return  # the same bytes say the same of themselves
        told = facts_of(source, visibility, identified.document_id, identified.sha256)
        if run.descriptions[told.document_id] == description_of(told, source.metadata):
            return
        held = await self._store.facts_of(told.document_id)
        if held is None:
            return
        wanted = replace(
            held,
            title=told.title,
            license=told.license,
            attribution=told.attribution,
            uri=told.uri,
            valid_until_ms=told.valid_until_ms,
        )
        if wanted != held:
            await self._store.set_facts(wanted)
        await self._store.set_metadata(identified.document_id, source.metadata)

    async def _hand_over(self, run: _Run, *, least: int = 0) -> None:
        """Starts the flush of what waits, if it is `least` records, so that the next files are read meanwhile; one
        flush at a time."""
        if sum(len(prepared.parts.records) for _, prepared in run.waiting) < least:
            return
        await _settle(run)
        group, run.waiting = run.waiting, []
        if group:
            run.flushing = asyncio.create_task(self._flush(run, group))

    async def _flush(self, run: _Run, group: Sequence[tuple[int, PreparedDocument]]) -> None:
        parts = [prepared.parts for _, prepared in group]
        batch = IndexBatch(
            tenant=run.tenant,
            records=[record for part in parts for record in part.records],
            entries=[entry for part in parts for entry in part.entries],
            relationships=[edge for part in parts for edge in part.relationships],
        )
        documents, suspect = [prepared.document for _, prepared in group], run.terms.suspect
        batch = await asyncio.to_thread(without_suspects, batch, suspect)
        closed = tagged(document.facts.visibility for document in documents)
        seen = await asyncio.to_thread(for_channels, batch, tagged=closed, suspect=suspect)
        draft = self._store.put_all(documents, batch, lifecycle=Lifecycle.DRAFT)
        await _all([draft, *(index.add(seen) for index in self._indexes)])  # a channel keeps nothing before its commit
        await _all(index.commit() for index in self._indexes)
        superseded = await self._store.activate([document.facts.document_id for document in documents])
        await self._drop(superseded)
        run.superseded |= superseded
        for position, _ in group:
            run.move(position, state="done")
        await self._save(run, now=True)

    async def _save(self, run: _Run, *, now: bool = False) -> None:
        moment_s = time.monotonic()
        if run.changed and (now or moment_s - run.written_s >= _ROW_INTERVAL_S):
            rows = [run.jobs[position] for position in sorted(run.changed)]
            run.changed.clear()
            run.written_s = moment_s
            await self._store.put_files(rows)


def new_run_id() -> str:
    """The id of a run that begins now; later runs have later ids."""
    return f"{time.time_ns() // 1_000_000:013d}-{secrets.token_hex(4)}"


async def _settle(run: _Run) -> None:
    if run.flushing:
        await run.flushing
        run.flushing = None


async def _all(steps: Iterable[Awaitable[None]]) -> None:
    """Runs steps side by side to their end, then raises the first error: no channel is left at work unwatched."""
    for outcome in await asyncio.gather(*steps, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


def _kept(run: _Run, document_id: str, visibility: VisibilityClass) -> dict[str, str]:
    """The row's word on a document whose access facts were changed since: it keeps those."""
    if run.known[document_id].class_id == visibility.class_id:
        return {}
    return {"error_code": NOTE, "error_message": "it keeps the access facts that it was given since it was taken in"}


def _check_owner(source: SourceSpec, visibility: VisibilityClass, owners: Mapping[str, str]) -> None:
    """A source named after its file must not push out a source of another collection; `owners` are the collections of
    the sources that there are."""
    if not source.declared and owners.get(source.source_id, visibility.collection) != visibility.collection:
        raise ManifestError(
            f"source {source.source_id} is already in another collection; name it in a manifest to move it"
        )
