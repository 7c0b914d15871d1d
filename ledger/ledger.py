"""The facade: what happened goes in as bytes, receipts come out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence

from ledger.checkpointer import Checkpointer
from ledger.entry.leaf import is_entry_id, is_token, parse_leaf
from ledger.entry.parts import Entropy, SealedEntry, seal_entry, source_number
from ledger.erasure.redaction import REDACTS, Redaction, invalidation_document
from ledger.errors import (
    CheckpointPending,
    EntryConflict,
    EntryNotFound,
    EntryRefused,
    KeyUnusable,
    LogForked,
    PartErased,
)
from ledger.head import HeadSigner
from ledger.keys import KeyRing, pseudonym
from ledger.merkle.tiles import parse_tile_path
from ledger.merkle.tree import MAX_SIZE, hash_leaf
from ledger.model import SOURCES, Checkpoint, DamagedEntry, Entry, EntryRef, Kind, Ref, SealedPart, VerifyReport
from ledger.notes.trust import TrustedWitness, TrustPolicy
from ledger.outside import OutsideCheckpoint
from ledger.proofs.export import export_files, read_tile
from ledger.proofs.promise import Promise, make_promise
from ledger.proofs.proving import prove_inclusion
from ledger.proofs.receipt import Receipt, format_receipt
from ledger.rotation import DETAIL, key_request, opened_detail, rotation_detail
from ledger.stores.store import LedgerStore, LogIdentity, PartAt, StoredLeaf
from ledger.verification.reading import PartReader, entry_of, listed_entry, tenant_key_of
from ledger.verification.verify import verify_log
from ledger.witnesses.cosigning import Cosigner, CosigningResult
from ledger.witnesses.witness import Witness
from ledger.writer import Draft, Writer

MAX_PAGE_ENTRIES = 1000
_PAGE = 500
SYSTEM_TENANT = "exhibit.system"  # of entries about the log itself
_INLINE_BYTES = 256 * 1024  # below this, sealing takes about as long as the way to a worker thread and back


class Ledger:
    """One log. Open it with `Ledger.open`; safe to use from many tasks of one event loop."""

    def __init__(
        self,
        *,
        store: LedgerStore,
        keys: KeyRing,
        writer: Writer,
        head: HeadSigner,
        clock_ms: Callable[[], int],
        new_id: Callable[[], str],
        entropy: Entropy,
    ) -> None:
        self._store = store
        self._reader = PartReader(store, keys)
        self._keys = keys
        self._writer = writer
        self._head = head
        self._clock_ms = clock_ms
        self._new_id = new_id
        self._entropy = entropy
        self._tenants: set[str] = set()
        self._stop_after_ms: int | None = None

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
        outside: OutsideCheckpoint | None = None,
        deadline_s: float | None = None,
    ) -> Ledger:
        """The log in `store`. `clock_ms` gives UTC milliseconds, `new_id` UUIDs of version 7, `outside` holds the
        highest checkpoint, `deadline_s` bounds the wait for an entry. Raises KeyUnusable if the store belongs to
        another key or origin, LedgerUnavailable if it cannot be used, VerificationFailed if its latest checkpoint does
        not verify. A store that is behind the checkpoint outside can be read; `fork` says why nothing is written."""
        ours = LogIdentity(
            origin=origin,
            vkey=str(keys.signer.verifier),
            pseudonym_check=pseudonym(keys.pseudonym_key, "check", "key ring"),
        )
        if keys.signer.verifier.name != origin:
            raise KeyUnusable(f"the signing key is of {keys.signer.verifier.name}, not of {origin}")
        theirs = await store.bind(ours)
        for name in ("origin", "vkey", "pseudonym_check"):
            if getattr(ours, name) != getattr(theirs, name):
                raise KeyUnusable(f"the log was made with another key ring: its {name} differs")

        async def detail(stored: StoredLeaf) -> bytes:
            return await opened_detail(store, keys, stored)

        head = await HeadSigner.open(store=store, keys=keys, detail=detail, outside=outside)
        writer = Writer(store=store, replica=replica, seen=head.seen, deadline_s=deadline_s)
        return cls(store=store, keys=keys, writer=writer, head=head, clock_ms=clock_ms, new_id=new_id, entropy=entropy)

    @property
    def vkey(self) -> str:
        """The signed-note verifier key that signs now."""
        return str(self._head.chain.current)

    @property
    def vkeys(self) -> tuple[str, ...]:
        """Every verifier key that has signed for the log, oldest first."""
        return tuple(map(str, self._head.chain.keys))

    @property
    def origin(self) -> str:
        """The log's name, the first line of its checkpoints."""
        return self._keys.signer.verifier.name

    @property
    def replica(self) -> str:
        """Whose entries this process writes."""
        return self._writer.replica

    def now_ms(self) -> int:
        """The time by the log's clock."""
        return self._clock_ms()

    @property
    def head(self) -> HeadSigner:
        """The signer, for whoever keeps it signing."""
        return self._head

    @property
    def fork(self) -> LogForked | None:
        """The fork because of which nothing is written or signed any longer; None without one."""
        return self._head.fork

    @property
    def unpublished_ms(self) -> int | None:
        """For how long no checkpoint could be published: signed, and cosigned by the quorum where there are witnesses.
        None if nobody keeps this log signed."""
        published_ms = self._head.published_ms
        return None if published_ms is None else max(0, self._clock_ms() - published_ms)

    def stop_unpublished(self, after_ms: int) -> None:
        """Record no question and no search any more while no checkpoint could be published for so long: a promise that
        may not be kept is not made."""
        self._stop_after_ms = after_ms

    def check_published(self) -> None:
        """Raise CheckpointPending where no question and no search is recorded any more (`stop_unpublished`)."""
        waited_ms = self.unpublished_ms
        if self._stop_after_ms is not None and waited_ms is not None and waited_ms > self._stop_after_ms:
            raise CheckpointPending(f"no checkpoint could be published for {waited_ms // 1000} s")

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
        entry_id: str | None = None,
        since: int | None = None,
    ) -> EntryRef:
        """Append an entry; it is durable when this returns. The same request, kind and content again returns the first
        entry. `entry_id` is a UUID of version 7 that the caller has made because a part names it. `since` is the size
        of the log before the caller read what the entry rests on.

        Raises EntryRefused for a part that the kind does not have or a leaf over 4 KiB, EntryOvertaken if what the
        tenant holds has been changed since `since` (an entry of kind `config` or `redaction`), EntryConflict if the
        request has an entry of that kind with other content, LedgerUnavailable if it could not be made durable: then
        nothing was written, or (LedgerNotResponding) it is not known yet whether it is whole or absent."""
        if kind in (Kind.INTENT, Kind.RETRIEVAL):
            self.check_published()
        alias = self.pseudonym("tenant", tenant)
        return await self._record(
            kind, alias, request_id, parts, sources=sources, refs=tuple(refs), entry_id=entry_id, since=since
        )

    async def redact(self, redaction: Redaction, *, request_id: str, tenant: str | None = None) -> EntryRef:
        """Append a redaction entry; with it the salts, keys and contents of the parts are gone, and are overwritten in
        the file once `shrink` has returned. A part that is not stored is no error. `tenant` is needed where it names no
        part. Raises EntryNotFound for an entry that is not there, EntryRefused where the entries are not of one tenant,
        else as `record` does; but a log that was left is redacted too, by an entry that no checkpoint of it covers."""
        targets = [await self.entry(entry_id) for entry_id in redaction.entry_ids]
        tenants = {target.leaf.tenant for target in targets} or {self.pseudonym("tenant", tenant or SYSTEM_TENANT)}
        if len(tenants) != 1:
            raise EntryRefused("a redaction names entries of one tenant")
        entry_id = self._new_id()
        prov = invalidation_document(redaction, run_id=entry_id, at_ms=self._clock_ms())
        return await self._record(
            Kind.REDACTION,
            tenants.pop(),
            request_id,
            {DETAIL: redaction.detail(), "prov": prov},
            refs=tuple(target.ref.as_ref(REDACTS) for target in targets),
            entry_id=entry_id,
            erase=redaction.parts,
        )

    async def shrink(self) -> None:
        """Give back the room of what was erased, so that no byte of it stays in the store's files."""
        await self._store.shrink()

    async def sealed_parts(self, entry_id: str) -> tuple[SealedPart, ...]:
        """The stored parts of an entry as they lie in the store, so that what goes can be looked for afterwards."""
        return await self._store.parts(entry_id)

    async def part_names(self, entry_id: str) -> tuple[str, ...]:
        """The names of the parts and sources of an entry that are stored, in order."""
        return tuple(part.name for part in await self._store.parts(entry_id))

    async def _record(
        self,
        kind: Kind,
        alias: str,
        request_id: str,
        parts: Mapping[str, bytes],
        *,
        sources: Sequence[bytes] = (),
        refs: tuple[Ref, ...],
        entry_id: str | None,
        erase: tuple[PartAt, ...] = (),
        since: int | None = None,
    ) -> EntryRef:
        if kind is not Kind.REDACTION:
            self._head.check()
        tenant_key = await self._tenant_key(alias)
        t_ms, entry_id = self._clock_ms(), entry_id or self._new_id()
        sealed = await self._seal(kind, entry_id, parts, sources, tenant_key)
        draft = Draft(kind, entry_id, t_ms, alias, request_id, refs, sealed, erase, since)
        stored = await self._writer.append(draft)
        entry = entry_of(stored)
        if stored.entry_id != entry_id:
            await self._check_repeat(entry, alias, parts, sources, refs)
        return entry.ref

    async def promise(self, entry: EntryRef, *, answer: bytes) -> Promise:
        """The log's signed word that a checkpoint will cover this durable entry, whose part `answer` has these bytes:
        the same whenever it is asked for. Raises KeyUnusable."""
        return await make_promise(entry, answer=answer, signer=await self._head.signer_at(entry.index + 1))

    async def entry(self, entry_id: str) -> Entry:
        """The entry of that id. Raises EntryNotFound, VerificationFailed, MalformedLeaf."""
        return entry_of(await self._leaf(entry_id))

    async def listed_entry(self, entry_id: str) -> Entry | DamagedEntry:
        """As `entry`, and one that was changed is given as damaged. Raises EntryNotFound."""
        return listed_entry(await self._leaf(entry_id))

    async def _leaf(self, entry_id: str) -> StoredLeaf:
        stored = await self._store.leaf(entry_id) if is_entry_id(entry_id) else None
        if stored is None:
            raise EntryNotFound(f"no entry {entry_id}")
        return stored

    async def find(self, *, request_id: str) -> tuple[Entry, ...]:
        """The entries of a request, oldest first."""
        found = await self._store.find(request_id) if is_token(request_id) else ()
        return tuple(entry_of(stored) for stored in found)

    async def entries(
        self, *, after: int = -1, limit: int = 100, kind: Kind | None = None, tenant: str | None = None
    ) -> tuple[Entry, ...]:
        """At most `limit` entries (and at most 1,000) above the index `after`, by index; the last one's index is the
        cursor of the next page. Raises VerificationFailed, MalformedLeaf for one that was changed."""
        return tuple(map(entry_of, await self._leaves(after, limit, kind, tenant)))

    async def listed(
        self, *, after: int = -1, limit: int = 100, kind: Kind | None = None, tenant: str | None = None
    ) -> tuple[Entry | DamagedEntry, ...]:
        """As `entries`, and one that was changed hides no other: it is listed as damaged."""
        return tuple(map(listed_entry, await self._leaves(after, limit, kind, tenant)))

    async def _leaves(self, after: int, limit: int, kind: Kind | None, tenant: str | None) -> Sequence[StoredLeaf]:
        alias = None if tenant is None else self.pseudonym("tenant", tenant)
        after, limit = min(max(after, -1), MAX_SIZE), min(max(limit, 0), MAX_PAGE_ENTRIES)
        return await self._store.scan(after=after, limit=limit, kind=kind, tenant=alias)

    async def every(
        self, *, after: int = -1, kind: Kind | None = None, tenant: str | None = None
    ) -> AsyncIterator[Entry]:
        """Every entry above the index `after`, by index, read page by page as it is asked for."""
        while page := await self.entries(after=after, limit=_PAGE, kind=kind, tenant=tenant):
            for entry in page:
                yield entry
            after = page[-1].index

    async def part(self, entry_id: str, name: str) -> bytes:
        """A part in the clear, checked against its commitment; `sources/<n>` is the n-th source, n from 1. Raises
        EntryNotFound (also for a name that the entry does not have), PartErased, VerificationFailed."""
        return (await self._reader.open(await self.entry(entry_id), (name,)))[name].data

    async def parts(self, entry_id: str, names: Collection[str]) -> dict[str, bytes]:
        """Several parts in one read, by name. Raises as `part` does."""
        opened = await self._reader.open(await self.entry(entry_id), names)
        return {name: opened[name].data for name in names}

    async def contents(self, entry: Entry, names: Collection[str] | None = None) -> dict[str, bytes]:
        """The parts of an entry that are not erased, by name, sources among them; of those names if given. Each is
        checked against its commitment. Raises VerificationFailed."""
        return await self._reader.contents(entry, names)

    async def sources(self, entry_id: str) -> tuple[bytes, ...]:
        """The entry's sources in order, each checked against its commitment. Raises as `part` does."""
        return await self._reader.sources(await self.entry(entry_id))

    async def receipt(self, entry_id: str, *, disclose: Collection[str], size: int | None = None) -> str:
        """The receipt of an entry (C2SP `tlog-proof`) that discloses the named parts and sources; a source brings
        `sources` with it. It is against the first checkpoint that covers the entry, a cosigned one if there is any, or
        against the one of that `size`. Raises as `part` does, CheckpointPending if no checkpoint covers it yet, and
        LedgerUnavailable if none could be signed."""
        entry = await self.entry(entry_id)
        names = set(disclose)
        if any(source_number(name) is not None for name in names):
            names.add(SOURCES)
        opened = await self._reader.open(entry, sorted(names))
        checkpoint = await self._head.covering(entry.index) if size is None else await self.checkpoint_of(size)
        if checkpoint.head.size <= entry.index:
            raise EntryNotFound(f"the checkpoint of size {size} does not cover the entry")
        leaf_hash = hash_leaf(entry.leaf_bytes)
        proof = await prove_inclusion(self._store, leaf_hash=leaf_hash, index=entry.index, head=checkpoint.head)
        return format_receipt(Receipt(entry.leaf_bytes, tuple(opened.values()), entry.index, proof, checkpoint.text))

    async def checkpoint(self) -> str:
        """The signed checkpoint of the current head. Its root is recomputed from the stored leaves; one size has one
        root, ever. Raises LogForked."""
        return (await self._head.checkpoint()).text

    async def size(self) -> int:
        """The number of entries, signed for or not."""
        return await self._store.size()

    async def latest_cosigned(self) -> Checkpoint | None:
        """The largest checkpoint that bears cosignatures; None if none does. The store finds the next one from a size
        on, so that the largest is found by halving."""
        found, most = await self._store.covering(0, cosigned=True), await self._store.size()
        while found is not None and found.head.size < most:
            middle = (found.head.size + most + 1) // 2
            larger = await self._store.covering(middle, cosigned=True)
            if larger is None:
                most = middle - 1
            else:
                found = larger
        return found

    async def latest_checkpoint(self) -> Checkpoint:
        """The largest checkpoint that was signed. Raises CheckpointPending if none was."""
        latest = await self._store.latest_checkpoint()
        if latest is None:
            raise CheckpointPending("no checkpoint has been signed yet")
        self._head.chain.verify(latest)
        return latest

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """Every checkpoint that is stored, by size."""
        return await self._store.checkpoints()

    async def checkpoint_of(self, size: int) -> Checkpoint:
        """The checkpoint of exactly that size. Raises EntryNotFound."""
        found = await self._store.covering(size) if 0 <= size <= MAX_SIZE else None
        if found is None or found.head.size != size:
            raise EntryNotFound(f"no checkpoint of size {size} was signed")
        self._head.chain.verify(found)
        return found

    async def tile(self, path: str) -> bytes:
        """A tile or entry bundle by its C2SP path, as far as the latest checkpoint reaches. Raises MalformedNote for
        what is no path of one, EntryNotFound, CheckpointPending."""
        tile = parse_tile_path(path)
        return await read_tile(self._store, tile, size=(await self.latest_checkpoint()).head.size)

    def export(self, checkpoint: Checkpoint) -> AsyncIterator[tuple[str, bytes]]:
        """Path and bytes of every C2SP resource at that checkpoint (`ledger.proofs.export`)."""
        return export_files(self._store, checkpoint)

    async def rotate_key(self) -> EntryRef:
        """Let the next key sign from now on: an entry signed by the old one and the new one, and a checkpoint signed by
        both. Raises as `record` and `checkpoint` do."""
        await self._head.checkpoint()
        chain = self._head.chain
        old = self._keys.signer if not chain.changes else await self._keys.signer_of(chain.current)
        if old is None:
            raise KeyUnusable(f"the log's key {chain.current} is not in this key ring")
        detail = await rotation_detail(old, await self._keys.successor(chain.current))
        request_id = key_request(len(chain.changes) + 1)
        entry = await self.record(Kind.KEY, tenant=SYSTEM_TENANT, request_id=request_id, parts={DETAIL: detail})
        await self._head.checkpoint()
        return entry

    def cosigner(
        self, policy: TrustPolicy, witnesses: Sequence[tuple[TrustedWitness, Witness]], *, deadline_s: float = 5.0
    ) -> Cosigner:
        """The client that shows this log's checkpoints to the witnesses of a policy."""
        return Cosigner(store=self._store, policy=policy, witnesses=witnesses, deadline_s=deadline_s)

    def checkpointer(self, cosigner: Cosigner | None, *, interval_s: float = 1.0, entries: int = 256) -> Checkpointer:
        """The task that keeps this log signed, once started."""
        return Checkpointer(
            store=self._store,
            head=self._head,
            cosigner=cosigner,
            interval_s=interval_s,
            entries=entries,
            clock_ms=self._clock_ms,
        )

    async def show_to(self, cosigner: Cosigner) -> CosigningResult:
        """Show the latest checkpoint to the witnesses. Raises LogForked if one has seen what this log cannot lead to:
        nothing is written or signed from then on."""
        latest = await self._store.latest_checkpoint() or await self._head.empty()
        try:
            return await cosigner.cosign(latest)
        except LogForked as fork:
            self._head.refuse(fork)
            raise

    async def dangling(self, *, limit: int = 100, tenant: str | None = None) -> tuple[Entry, ...]:
        """The first intents, of that tenant if given, whose request has no outcome: in work, or cut off by a crash."""
        alias = None if tenant is None else self.pseudonym("tenant", tenant)
        return tuple(entry_of(stored) for stored in await self._store.dangling(limit=limit, tenant=alias))

    async def verify(self, *, policy: TrustPolicy | None = None, contents: bool = True) -> VerifyReport:
        """Recompute everything from the stored bytes, without `contents` everything but the parts, and check
        cosignatures against the policy; every problem is in the report, none is raised but LedgerUnavailable."""
        return await verify_log(
            store=self._store,
            keys=self._keys,
            chain=self._head.chain,
            policy=policy,
            fork=self._head.fork,
            contents=contents,
            held=await self._head.held_outside(),
        )

    async def aclose(self) -> None:
        """Wait for what is being written, then close the store."""
        await self._writer.aclose()
        await self._store.aclose()

    async def _tenant_key(self, alias: str) -> bytes:
        """The tenant's key, made for a tenant without entries only: a new key in the place of a lost one would go
        unnoticed."""
        if alias not in self._tenants:
            known = await self._store.scan(after=-1, limit=1, tenant=alias)
            if known:
                await tenant_key_of(parse_leaf(known[0].leaf_bytes), store=self._store, keys=self._keys)
            else:
                await self._keys.tenant_key(alias, create=True)
            self._tenants.add(alias)
        return await self._keys.tenant_key(alias, create=False)

    async def _seal(
        self, kind: Kind, entry_id: str, parts: Mapping[str, bytes], sources: Sequence[bytes], tenant_key: bytes
    ) -> SealedEntry:
        def work() -> SealedEntry:
            return seal_entry(
                kind,
                entry_id=entry_id,
                parts=parts,
                sources=sources,
                tenant_key=tenant_key,
                entropy=self._entropy,
            )

        size = sum(map(len, parts.values())) + sum(map(len, sources))
        return work() if size <= _INLINE_BYTES else await asyncio.to_thread(work)

    async def _check_repeat(
        self, entry: Entry, tenant: str, parts: Mapping[str, bytes], sources: Sequence[bytes], refs: tuple[Ref, ...]
    ) -> None:
        conflict = EntryConflict(f"request {entry.leaf.request_id} has another entry of kind {entry.leaf.kind}")
        if entry.leaf.tenant != tenant or entry.leaf.refs != refs:
            raise conflict
        names = [name for name in entry.leaf.parts if name != SOURCES]
        try:
            opened = await self._reader.open(entry, names)
            recorded = await self.sources(entry.leaf.entry_id)
        except PartErased as exc:
            raise conflict from exc
        if recorded != tuple(sources) or any(opened[name].data != parts.get(name, b"") for name in names):
            raise conflict
