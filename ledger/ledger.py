"""The facade: what happened goes in as bytes, receipts come out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ledger.errors import (
    EntryConflict,
    EntryNotFound,
    KeyUnusable,
    LedgerUnavailable,
    PartErased,
    VerificationFailed,
)
from ledger.keys import KeyRing, pseudonym
from ledger.leaf import encode_leaf, parse_leaf
from ledger.model import PART_NAMES, SOURCES, Checkpoint, Entry, EntryRef, Kind, Leaf, Ref, TreeHead, VerifyReport
from ledger.note import checkpoint_text, sign_note, verify_checkpoint
from ledger.parts import (
    Entropy,
    OpenedPart,
    SealedEntry,
    open_part,
    parse_source_commitments,
    seal_entry,
    source_name,
    source_number,
)
from ledger.receipt import Receipt, format_receipt
from ledger.store import Appended, Clash, LedgerStore, LogIdentity, NewEntry, StoredLeaf
from ledger.tree import (
    EMPTY_ROOT,
    Frontier,
    frontier_nodes,
    hash_leaf,
    inclusion_spans,
    nodes_of,
    resolve,
    verify_inclusion,
)
from ledger.verify import verify_log

BATCH_ENTRIES = 64
_SCAN_ENTRIES = 1000


@dataclass(frozen=True, slots=True)
class _Draft:
    """An entry that waits for its number, and who waits for it."""

    kind: Kind
    entry_id: str
    t_ms: int
    tenant: str
    request_id: str
    refs: tuple[Ref, ...]
    sealed: SealedEntry
    done: asyncio.Future[StoredLeaf]


class Ledger:
    """One log. Open it with `Ledger.open`; safe to use from many tasks of one event loop."""

    def __init__(
        self, *, store: LedgerStore, keys: KeyRing, origin: str, replica: str, clock_ms: Callable[[], int],
        new_id: Callable[[], str], entropy: Entropy, latest: Checkpoint | None,
    ) -> None:  # fmt: skip
        self._store = store
        self._keys = keys
        self._origin = origin
        self._replica = replica
        self._clock_ms = clock_ms
        self._new_id = new_id
        self._entropy = entropy
        self._latest = latest
        self._verified: Frontier | None = None
        self._next_rseq: int | None = None
        self._waiting: list[_Draft] = []
        self._flusher: asyncio.Task[None] | None = None
        self._signing = asyncio.Lock()

    @classmethod
    async def open(
        cls,
        *,
        store: LedgerStore,
        keys: KeyRing,
        origin: str,
        replica: str,
        clock_ms: Callable[[], int],
        new_id: Callable[[], str],
        entropy: Entropy = os.urandom,
    ) -> Ledger:
        """The log in `store`. `clock_ms` gives UTC milliseconds, `new_id` UUIDs of version 7. Raises KeyUnusable if
        the store belongs to another key or origin, LedgerUnavailable if it cannot be used, VerificationFailed if its
        latest checkpoint does not verify."""
        ours = LogIdentity(
            origin=origin,
            vkey=str(keys.signer.verifier),
            pseudonym_check=pseudonym(keys.pseudonym_key, "check", "key ring"),
        )
        if keys.signer.name != origin:
            raise KeyUnusable(f"the signing key is of {keys.signer.name}, not of {origin}")
        theirs = await store.bind(ours)
        for name in ("origin", "vkey", "pseudonym_check"):
            if getattr(ours, name) != getattr(theirs, name):
                raise KeyUnusable(f"the log was made with another key ring: its {name} differs")
        latest = await store.latest_checkpoint()
        if latest is not None:
            _check_own(latest, keys, origin)
        return cls(
            store=store,
            keys=keys,
            origin=origin,
            replica=replica,
            clock_ms=clock_ms,
            new_id=new_id,
            entropy=entropy,
            latest=latest,
        )

    @property
    def vkey(self) -> str:
        """The signed-note verifier key of the log."""
        return str(self._keys.signer.verifier)

    @property
    def origin(self) -> str:
        """The log's name, the first line of its checkpoints."""
        return self._origin

    def pseudonym(self, domain: str, value: str) -> str:
        """A stable pseudonym, 32 hex digits: for the principal in PROV, or the tenant (domain `tenant`) as leaves name
        it."""
        return pseudonym(self._keys.pseudonym_key, domain, value)

    async def record(
        self,
        kind: Kind,
        *,
        tenant: str,
        request_id: str,
        parts: Mapping[str, bytes],
        sources: Sequence[bytes] = (),
        refs: Sequence[Ref] = (),
    ) -> EntryRef:
        """Append an entry; it is durable when this returns. The same request, kind and content again returns the first
        entry.

        Raises EntryRefused for a part that the kind does not have or a leaf over 4 KiB, EntryConflict if the request
        has an entry of that kind with other content, LedgerUnavailable if it could not be made durable: then nothing
        was written."""
        alias = self.pseudonym("tenant", tenant)
        tenant_key = await self._keys.tenant_key(alias, create=True)
        entry_id = self._new_id()
        sealed = await asyncio.to_thread(
            seal_entry,
            kind,
            entry_id=entry_id,
            parts=parts,
            sources=sources,
            tenant_key=tenant_key,
            entropy=self._entropy,
        )
        done: asyncio.Future[StoredLeaf] = asyncio.get_running_loop().create_future()
        draft = _Draft(kind, entry_id, self._clock_ms(), alias, request_id, tuple(refs), sealed, done)
        encode_leaf(self._leaf(draft, 1))  # refuse alone what would refuse a whole batch
        self._enqueue(draft)
        entry = _entry(await done)
        if entry.leaf.entry_id != entry_id:
            await self._check_repeat(entry, alias, parts, sources, tuple(refs))
        return entry.ref

    async def entry(self, entry_id: str) -> Entry:
        """The entry of that id. Raises EntryNotFound."""
        stored = await self._store.leaf(entry_id)
        if stored is None:
            raise EntryNotFound(f"no entry {entry_id}")
        return _entry(stored)

    async def find(self, *, request_id: str) -> tuple[Entry, ...]:
        """The entries of a request, oldest first."""
        return tuple(_entry(stored) for stored in await self._store.find(request_id))

    async def entries(
        self, *, after: int = -1, limit: int = 100, kind: Kind | None = None, tenant: str | None = None
    ) -> tuple[Entry, ...]:
        """At most `limit` entries above the index `after`, by index; the last one's index is the cursor of the next
        page."""
        alias = None if tenant is None else self.pseudonym("tenant", tenant)
        found = await self._store.scan(after=after, limit=limit, kind=kind, tenant=alias)
        return tuple(_entry(stored) for stored in found)

    async def part(self, entry_id: str, name: str) -> bytes:
        """A part in the clear, checked against its commitment; `sources/<n>` is the n-th source, n from 1. Raises
        EntryNotFound (also for a name that the entry does not have), PartErased, VerificationFailed."""
        return (await self._open_parts(await self.entry(entry_id), (name,)))[name].data

    async def sources(self, entry_id: str) -> tuple[bytes, ...]:
        """The entry's sources in order, each checked against its commitment. Raises as `part` does."""
        entry = await self.entry(entry_id)
        if SOURCES not in entry.leaf.parts:
            return ()
        count = len(parse_source_commitments((await self._open_parts(entry, (SOURCES,)))[SOURCES].data))
        names = [source_name(number) for number in range(1, count + 1)]
        opened = await self._open_parts(entry, names)
        return tuple(opened[name].data for name in names)

    async def receipt(self, entry_id: str, *, disclose: Collection[str]) -> str:
        """The receipt of an entry (C2SP `tlog-proof`) that discloses the named parts and sources; a source brings
        `sources` with it. Raises as `part` does, and LedgerUnavailable if no checkpoint could be signed."""
        entry = await self.entry(entry_id)
        names = set(disclose)
        if any(source_number(name) is not None for name in names):
            names.add(SOURCES)
        opened = await self._open_parts(entry, sorted(names))
        checkpoint = await self._checkpoint()
        spans = inclusion_spans(entry.index, checkpoint.head.size)
        hashes = await self._store.nodes(nodes_of(spans))
        try:
            proof = resolve(spans, hashes)
        except KeyError as exc:
            raise VerificationFailed("nodes", f"the tree node {exc.args[0]} is missing") from exc
        verify_inclusion(
            leaf_hash=hash_leaf(entry.leaf_bytes),
            index=entry.index,
            size=checkpoint.head.size,
            proof=proof,
            root=checkpoint.head.root,
        )
        return format_receipt(Receipt(entry.leaf_bytes, tuple(opened.values()), entry.index, proof, checkpoint.note))

    async def checkpoint(self) -> str:
        """The signed checkpoint of the current head. Its root is recomputed from the stored leaves; one size has one
        root, ever."""
        return (await self._checkpoint()).note

    async def verify(self) -> VerifyReport:
        """Recompute everything from the stored bytes; every problem is in the report, none is raised but
        LedgerUnavailable."""
        return await verify_log(store=self._store, keys=self._keys, origin=self._origin)

    async def aclose(self) -> None:
        """Wait for what is being written, then close the store."""
        if self._flusher is not None:
            await asyncio.wait([self._flusher])
        await self._store.aclose()

    def _enqueue(self, draft: _Draft) -> None:
        self._waiting.append(draft)
        if self._flusher is None or self._flusher.done():
            self._flusher = asyncio.create_task(self._flush())

    async def _flush(self) -> None:
        """Append what waits, in batches; whoever comes while a batch is written shares the next transaction."""
        while self._waiting:
            batch, self._waiting = _next_batch(self._waiting)
            try:
                await self._append(batch)
            except BaseException as exc:
                self._next_rseq = None
                fault = exc if isinstance(exc, Exception) else LedgerUnavailable("the ledger was stopped")
                for draft in batch:
                    if not draft.done.done():
                        draft.done.set_exception(fault)
                if not isinstance(exc, Exception):
                    raise

    async def _append(self, batch: list[_Draft]) -> None:
        while batch:
            first = self._next_rseq or await self._store.next_rseq(self._replica)
            entries = [self._new_entry(draft, first + offset) for offset, draft in enumerate(batch)]
            result = await self._store.append(entries)
            if isinstance(result, Appended):
                self._next_rseq = first + len(batch)
                for offset, (draft, entry) in enumerate(zip(batch, entries, strict=True)):
                    _resolve(draft, _stored(entry, result.first_index + offset))
                return
            self._next_rseq = result.next_rseq
            if result.clash is Clash.REQUEST and result.existing is not None:
                _resolve(batch.pop(result.position), result.existing)

    def _new_entry(self, draft: _Draft, rseq: int) -> NewEntry:
        leaf = self._leaf(draft, rseq)
        return NewEntry(leaf, encode_leaf(leaf), draft.sealed.parts)

    def _leaf(self, draft: _Draft, rseq: int) -> Leaf:
        return Leaf(
            kind=draft.kind,
            entry_id=draft.entry_id,
            t_ms=draft.t_ms,
            tenant=draft.tenant,
            replica=self._replica,
            rseq=rseq,
            request_id=draft.request_id,
            parts=draft.sealed.commitments,
            refs=draft.refs,
            seen=self._latest.head if self._latest else TreeHead(0, EMPTY_ROOT),
        )

    async def _check_repeat(
        self, entry: Entry, tenant: str, parts: Mapping[str, bytes], sources: Sequence[bytes], refs: tuple[Ref, ...]
    ) -> None:
        conflict = EntryConflict(f"request {entry.leaf.request_id} has another entry of kind {entry.leaf.kind}")
        if entry.leaf.tenant != tenant or entry.leaf.refs != refs:
            raise conflict
        names = [name for name in PART_NAMES[entry.leaf.kind] if name != SOURCES]
        try:
            opened = await self._open_parts(entry, names)
            recorded = await self.sources(entry.leaf.entry_id)
        except PartErased as exc:
            raise conflict from exc
        if recorded != tuple(sources) or any(opened[name].data != parts.get(name, b"") for name in names):
            raise conflict

    async def _open_parts(self, entry: Entry, names: Collection[str]) -> dict[str, OpenedPart]:
        if not names:
            return {}
        leaf = entry.leaf
        numbered = any(source_number(name) is not None for name in names)
        wanted = sorted({*names, SOURCES}) if numbered else sorted(names)
        tenant_key = await self._keys.tenant_key(leaf.tenant, create=False)
        sealed = {part.name: part for part in await self._store.parts(leaf.entry_id, wanted)}

        def work() -> dict[str, OpenedPart]:
            committed = dict(leaf.parts)
            opened = {}
            for name in sorted(wanted, key=lambda name: (source_number(name) or 0, name)):
                if name not in committed:
                    raise EntryNotFound(f"entry {leaf.entry_id} has no part {name}")
                if name not in sealed:
                    raise PartErased(f"part {name} of entry {leaf.entry_id} was erased")
                opened[name] = open_part(
                    sealed[name], entry_id=leaf.entry_id, tenant_key=tenant_key, committed=committed[name]
                )
                if name == SOURCES and numbered:
                    each = parse_source_commitments(opened[name].data)
                    committed |= {source_name(number): item for number, item in enumerate(each, start=1)}
            return opened

        return await asyncio.to_thread(work)

    async def _checkpoint(self) -> Checkpoint:
        async with self._signing:
            size = await self._store.size()
            latest = await self._store.latest_checkpoint()
            if latest is not None:
                _check_own(latest, self._keys, self._origin)
                if latest.head.size > size:
                    raise VerificationFailed("head", f"{size} leaves are stored, {latest.head.size} were signed for")
                if latest.head.size == size:
                    self._latest = latest
                    return latest
            head = TreeHead(size, (await self._verified_frontier(latest, size)).root)
            note = sign_note(checkpoint_text(self._origin, head), [self._keys.signer])
            kept = await self._store.add_checkpoint(Checkpoint(head, note))
            if kept.head != head:
                raise VerificationFailed("checkpoint", f"size {size} was signed for with another root")
            self._latest = kept
            return kept

    async def _verified_frontier(self, latest: Checkpoint | None, size: int) -> Frontier:
        """The frontier of `size` leaves, hashed from stored bytes: all since the last signed checkpoint, whose own
        frontier is proved by its signature."""
        frontier = self._verified
        if frontier is None:
            frontier = await self._signed_frontier(latest) if latest else Frontier()
        while frontier.size < size:
            for stored in await self._store.scan(
                after=frontier.size - 1, limit=min(_SCAN_ENTRIES, size - frontier.size)
            ):
                leaf_hash = hash_leaf(stored.leaf_bytes)
                if stored.index != frontier.size or stored.leaf_hash != leaf_hash:
                    raise VerificationFailed("leaf-hash", f"leaf {frontier.size} is missing or changed")
                frontier, _ = frontier.append(leaf_hash)
                if latest and frontier.size == latest.head.size and frontier.root != latest.head.root:
                    raise VerificationFailed(
                        "checkpoint", f"the root over {frontier.size} leaves is not the signed one"
                    )
        self._verified = frontier
        return frontier

    async def _signed_frontier(self, latest: Checkpoint) -> Frontier:
        wanted = frontier_nodes(latest.head.size)
        found = await self._store.nodes(wanted)
        frontier = Frontier(latest.head.size, tuple(found.get(node, b"") for node in wanted))
        if frontier.root != latest.head.root:
            raise VerificationFailed("nodes", "the stored tree does not lead to the root of the latest checkpoint")
        return frontier


def _next_batch(waiting: list[_Draft]) -> tuple[list[_Draft], list[_Draft]]:
    """What to write now and what to leave: at most `BATCH_ENTRIES`, each request and kind once."""
    batch: dict[tuple[str, Kind], _Draft] = {}
    rest = []
    for draft in waiting:
        key = (draft.request_id, draft.kind)
        if len(batch) < BATCH_ENTRIES and key not in batch:
            batch[key] = draft
        else:
            rest.append(draft)
    return list(batch.values()), rest


def _resolve(draft: _Draft, stored: StoredLeaf) -> None:
    if not draft.done.done():  # its task may have been cancelled
        draft.done.set_result(stored)


def _stored(entry: NewEntry, index: int) -> StoredLeaf:
    return StoredLeaf(index, entry.leaf.entry_id, entry.leaf_bytes, hash_leaf(entry.leaf_bytes))


def _entry(stored: StoredLeaf) -> Entry:
    """The entry, its hash taken from its bytes."""
    leaf_hash = hash_leaf(stored.leaf_bytes)
    if leaf_hash != stored.leaf_hash:
        raise VerificationFailed("leaf-hash", f"the bytes of leaf {stored.index} do not have the stored hash")
    return Entry(stored.index, parse_leaf(stored.leaf_bytes), stored.leaf_bytes, leaf_hash.hex())


def _check_own(checkpoint: Checkpoint, keys: KeyRing, origin: str) -> None:
    head = verify_checkpoint(checkpoint.note, keys.signer.verifier, origin=origin)
    if head != checkpoint.head:
        raise VerificationFailed("checkpoint", f"the stored head of size {checkpoint.head.size} is not the signed one")
