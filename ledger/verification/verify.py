"""Verification of a whole log: everything is recomputed from stored bytes, and what does not hold is named."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from ledger.entry.leaf import parse_leaf
from ledger.entry.parts import open_part, parse_source_commitments, source_name
from ledger.erasure.redaction import REDACTS, parse_detail
from ledger.errors import LedgerError, LedgerUnavailable, LogForked, MalformedLeaf, VerificationFailed
from ledger.keys import KeyRing
from ledger.merkle.tree import EMPTY_ROOT, hash_leaf
from ledger.model import SOURCES, Checkpoint, Entry, EntryRef, Kind, Leaf, Problem, SealedPart, Verdict, VerifyReport
from ledger.notes.trust import TrustPolicy
from ledger.rotation import KeyChain
from ledger.stores.store import LedgerStore, StoredLeaf
from ledger.verification.provenance import PROV, READ, check_entry_prov
from ledger.verification.reading import tenant_key_of
from ledger.verification.regrowing import RegrownTree

_SCAN_ENTRIES = 500
STORE = "store"


async def verify_log(
    *,
    store: LedgerStore,
    keys: KeyRing,
    chain: KeyChain,
    policy: TrustPolicy | None = None,
    fork: LogForked | None = None,
    contents: bool = True,
    held: str | None = None,
) -> VerifyReport:
    """Recompute leaf hashes, tree, checkpoints, sequence numbers, references and every commitment; report what fails,
    in that order of discovery, and intents without an outcome. `chain` holds the keys that signed, `policy` the
    witnesses whose cosignatures are checked, `fork` what a checkpoint held outside contradicts, `held` the checkpoint
    that this home holds outside; without `contents` no
    part is opened. Raises only LedgerUnavailable."""
    audit = _Audit(store, keys, chain, policy, contents=contents)
    await audit.backend()
    if fork is not None:
        audit.outside(fork)
    await audit.checkpoints()
    await audit.held(held)
    await audit.leaves()
    return audit.report()


class _Audit:
    """The state of one verification."""

    def __init__(
        self, store: LedgerStore, keys: KeyRing, chain: KeyChain, policy: TrustPolicy | None, *, contents: bool
    ) -> None:
        self._with_contents = contents
        self._store = store
        self._keys = keys
        self._chain = chain
        self._policy = policy
        self._witnessed_size: int | None = None
        self._problems: list[Problem] = []
        self._latest: Checkpoint | None = None
        self._signed: dict[int, bytes] = {}
        self._tree = RegrownTree(nodes=store.nodes, signed=self._signed)
        self._next_rseq: dict[str, int] = {}
        # Bytes and text only, as many as there are leaves: what the garbage collector need not walk through.
        self._hashes: dict[str, bytes] = {}
        self._requests: set[str] = set()
        self._intents: dict[str, EntryRef] = {}
        self._redacted: set[tuple[str | None, str | None]] = set()
        self._missing: list[Problem] = []
        self._end = 0
        self._entries = 0
        self._parts = 0

    async def backend(self) -> None:
        """The store's own checks."""
        for fault in await self._store.faults():
            self._add(STORE, fault)

    async def checkpoints(self) -> None:
        """Signature of every checkpoint, and that the stored head is the signed one. What is appended from here on is
        left to the next verification: it rests on checkpoints that are not read here."""
        self._end = await self._store.size()
        for checkpoint in await self._store.checkpoints():
            size = checkpoint.head.size
            self._latest = checkpoint
            self._signed[size] = checkpoint.head.root
            try:
                self._chain.verify(checkpoint)
            except LedgerError as exc:
                self._add("checkpoint", f"the checkpoint of size {size} does not verify: {exc}")
                continue
            self._cosignatures(checkpoint)
        if self._policy is not None and not self._policy.asks_none:
            self._quorum_of_latest()
        if self._signed.get(0, EMPTY_ROOT) != EMPTY_ROOT:
            self._add("checkpoint", "the checkpoint of size 0 does not have the root of the empty tree")
        self._end = max(self._end, *self._signed, 0)

    def _quorum_of_latest(self) -> None:
        """The newest checkpoint is the one that everything else rests on: it must have its quorum."""
        latest = self._latest
        if latest is None:
            self._add("quorum", "no checkpoint is stored that witnesses could have signed")
        elif not latest.cosignatures:
            self._add("quorum", f"no witness cosigned the latest checkpoint, of size {latest.head.size}")

    async def held(self, note: str | None) -> None:
        """A checkpoint that is held outside was stored first; of one that is ahead of the store `fork` tells."""
        if note is None:
            return
        try:
            head = self._chain.verified(note)
        except LedgerError:
            return  # that it does not verify is what `fork` says
        if head.size not in self._signed and head.size <= await self._store.size():
            self._add("checkpoint-missing", f"the checkpoint of size {head.size}, held outside, is not stored")

    def outside(self, fork: LogForked) -> None:
        """Compare a checkpoint that is held outside with the store."""
        self._add("behind", str(fork))

    def _cosignatures(self, checkpoint: Checkpoint) -> None:
        if self._policy is None or not checkpoint.cosignatures:
            return
        try:
            if self._policy.check(checkpoint.text) is not None:
                self._witnessed_size = checkpoint.head.size
        except LedgerError as exc:
            step = getattr(exc, "step", "cosignature")
            self._add(step, f"the cosignatures of the checkpoint of size {checkpoint.head.size} do not hold: {exc}")

    async def leaves(self) -> None:
        """Every leaf with its tree nodes, fields, references and parts; then that nothing signed for is missing."""
        after = -1
        while batch := await self._before_end(after):
            hashes = [hash_leaf(stored.leaf_bytes) for stored in batch]
            unsound = await self._tree.grow(batch, hashes)
            for stored, leaf_hash in zip(batch, hashes, strict=True):
                leaf = self._leaf(stored, leaf_hash, unsound.get(stored.index, ()))
                if leaf is not None and (self._with_contents or leaf.kind is Kind.REDACTION):
                    await self._contents(stored, leaf)
            after = batch[-1].index
            await asyncio.sleep(0)
        for size in self._signed:
            if size > self._tree.size == self._tree.proved:
                self._add("truncated", f"{self._tree.size} leaves are stored, {size} were signed for")
        if self._unaccounted():
            await self._erased_meanwhile()

    async def _before_end(self, after: int) -> list[StoredLeaf]:
        batch = await self._store.scan(after=after, limit=_SCAN_ENTRIES)
        return [stored for stored in batch if stored.index < self._end]

    async def _erased_meanwhile(self) -> None:
        """The redactions since `checkpoints`: a part may have gone between that and its turn."""
        after = self._end - 1
        while batch := await self._store.scan(after=after, limit=_SCAN_ENTRIES, kind=Kind.REDACTION):
            for stored in batch:
                try:
                    await self._contents(stored, parse_leaf(stored.leaf_bytes))
                except MalformedLeaf as exc:
                    self._add("leaf", str(exc), stored)
            after = batch[-1].index

    def _unaccounted(self) -> list[Problem]:
        return [each for each in self._missing if (each.entry_id, each.part) not in self._redacted]

    def report(self) -> VerifyReport:
        """The findings."""
        unaccounted = self._unaccounted()
        found = (*self._problems, *unaccounted)
        problems = tuple(sorted(found, key=lambda problem: problem.step == STORE))  # what it means, before where it is
        return VerifyReport(
            verdict=Verdict.BROKEN if problems else Verdict.INTACT,
            size=self._tree.size,
            root=self._tree.root.hex(),
            entries=self._entries,
            parts=self._parts,
            erased=len(self._missing) - len(unaccounted),
            checkpoints=len(self._signed),
            problems=problems,
            dangling=tuple(self._intents.values()),
            witnessed_size=self._witnessed_size,
        )

    def _leaf(self, stored: StoredLeaf, leaf_hash: bytes, unsound: Iterable[Problem]) -> Leaf | None:
        self._entries += 1
        if leaf_hash != stored.leaf_hash:
            self._add("leaf-hash", "the leaf's bytes do not have the stored hash", stored)
        self._problems += unsound
        try:
            leaf = parse_leaf(stored.leaf_bytes)
        except MalformedLeaf as exc:
            self._add("leaf", str(exc), stored)
            return None
        if leaf.entry_id != stored.entry_id:
            self._add("leaf", f"the leaf is of entry {leaf.entry_id}", stored)
        self._fields(stored, leaf)
        self._hashes[leaf.entry_id] = leaf_hash
        self._follow(stored, leaf, leaf_hash)
        return leaf

    def _fields(self, stored: StoredLeaf, leaf: Leaf) -> None:
        request = f"{leaf.kind} {leaf.request_id}"
        if leaf.entry_id in self._hashes or request in self._requests:
            self._add("duplicate", f"an earlier entry has the id or the request and kind {leaf.kind}", stored)
        self._requests.add(request)
        expected = self._next_rseq.get(leaf.replica, 1)
        if leaf.rseq != expected:
            self._add("rseq", f"replica {leaf.replica} has number {leaf.rseq} where {expected} was due", stored)
        self._next_rseq[leaf.replica] = leaf.rseq + 1
        seen = leaf.seen
        if seen.size > stored.index:
            self._add("seen", f"the entry claims to have seen {seen.size} leaves", stored)
        elif stored.index < self._tree.proved and self._tree.roots.get(seen.size) != seen.root:
            fault = f"no checkpoint of size {seen.size} has the root that the entry claims to have seen"
            self._add("seen", fault, stored)
        for ref in leaf.refs:
            if self._hashes.get(ref.id, b"").hex() != ref.leaf:
                self._add("ref", f"no earlier entry {ref.id} has the leaf hash that the ref names", stored)

    def _follow(self, stored: StoredLeaf, leaf: Leaf, leaf_hash: bytes) -> None:
        match leaf.kind:
            case Kind.INTENT:
                self._intents[leaf.request_id] = Entry(stored.index, leaf, stored.leaf_bytes, leaf_hash.hex()).ref
            case Kind.OUTCOME:
                self._intents.pop(leaf.request_id, None)
            case Kind.KEY if stored.index not in {change.index for change in self._chain.changes}:
                self._add("key", "the entry announces a key that never came into force", stored)
            case _:
                pass

    async def _contents(self, stored: StoredLeaf, leaf: Leaf) -> None:
        """Every part opens and is what was committed to; none is missing, none too many."""
        try:
            tenant_key = await tenant_key_of(leaf, store=self._store, keys=self._keys)
        except LedgerUnavailable as exc:
            self._add("key", f"the parts cannot be opened: {exc}", stored)
            return
        sealed = await self._store.parts(leaf.entry_id)
        secrets = (tenant_key, self._keys.pseudonym_key)
        problems, missing, opened = await asyncio.to_thread(_check_parts, stored, leaf, sealed, *secrets)
        self._problems += problems
        self._missing += missing
        self._parts += opened
        if leaf.kind is Kind.REDACTION and not problems:
            self._account(stored, leaf, sealed, tenant_key)

    def _account(self, stored: StoredLeaf, leaf: Leaf, sealed: Iterable[SealedPart], tenant_key: bytes) -> None:
        """The parts that a redaction says it erased; it points at the entries that its detail names."""
        detail = {part.name: part for part in sealed}.get("detail")
        if detail is None:
            return
        opened = open_part(detail, entry_id=leaf.entry_id, tenant_key=tenant_key, committed=leaf.parts["detail"])
        try:
            redaction = parse_detail(opened.data)
        except MalformedLeaf:
            return  # it names no erasure, so it accounts for none
        if tuple(ref.id for ref in leaf.refs if ref.rel == REDACTS) != redaction.entry_ids:
            self._add("redaction", "the entry points at other entries than its detail names", stored)
            return
        self._redacted |= {(part.entry_id, part.name) for part in redaction.parts}

    def _add(self, step: str, detail: str, stored: StoredLeaf | None = None) -> None:
        index, entry_id = (stored.index, stored.entry_id) if stored else (None, None)
        self._problems.append(Problem(step, detail, index=index, entry_id=entry_id))


def _check_parts(
    stored: StoredLeaf, leaf: Leaf, sealed: Iterable[SealedPart], tenant_key: bytes, pseudonym_key: bytes
) -> tuple[list[Problem], list[Problem], int]:
    """Problems, missing parts, and how many parts hold."""
    problems: list[Problem] = []
    missing: list[Problem] = []
    by_name = {part.name: part for part in sealed}
    committed = dict(leaf.parts)
    names = [SOURCES] if SOURCES in committed else []  # first: it tells which sources there are
    names += [name for name in committed if name != SOURCES]
    opened, read = 0, dict[str, bytes]()
    for name in names:  # grows below
        if name not in by_name:
            missing.append(Problem("part-missing", "the part is not stored", stored.index, leaf.entry_id, name))
            continue
        try:
            part = open_part(by_name[name], entry_id=leaf.entry_id, tenant_key=tenant_key, committed=committed[name])
            if name == SOURCES:
                each = {source_name(n): item for n, item in enumerate(parse_source_commitments(part.data), start=1)}
                committed |= each
                names += each
            if name in READ:
                read[name] = part.data
            opened += 1
        except VerificationFailed as exc:
            problems.append(Problem(exc.step, str(exc), stored.index, leaf.entry_id, name))
    try:
        check_entry_prov(leaf, read, pseudonym_key)
    except VerificationFailed as exc:
        problems.append(Problem(exc.step, str(exc), stored.index, leaf.entry_id, PROV))
    known = SOURCES not in leaf.parts or source_name(1) in committed or SOURCES in by_name
    for name in by_name:
        if name not in committed and known and not problems:
            problems.append(
                Problem("part-unknown", "the leaf commits to no such part", stored.index, leaf.entry_id, name)
            )
    return problems, missing, opened
