"""Doubles of the ledger's collaborators: a store and a key ring in memory, and fixed clocks, ids and randomness."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256, shake_256

from ledger.errors import KeyUnusable, LedgerUnavailable
from ledger.ledger import Ledger
from ledger.merkle.tree import Frontier, Node, hash_leaf
from ledger.model import Checkpoint, Kind, SealedPart
from ledger.notes.note import SigningKey, VerifierKey
from ledger.stores.store import (
    CHANGES,
    AppendedBatch,
    Clash,
    LedgerStore,
    LogIdentity,
    NewEntry,
    PartAt,
    RefusedBatch,
    StoredLeaf,
    overtaken,
)

ORIGIN = "exhibit.example/log"
T0_MS = 1_700_000_000_000


@dataclass
class MemoryLedgerStore(LedgerStore):
    """A whole LedgerStore in lists. `broken` makes every call fail as a lost disk would."""

    identity: LogIdentity | None = None
    entries: list[NewEntry] = field(default_factory=list)
    tree: dict[Node, bytes] = field(default_factory=dict)
    frontier: Frontier = field(default_factory=Frontier)
    signed: dict[int, Checkpoint] = field(default_factory=dict)
    broken: bool = False

    def _check(self) -> None:
        if self.broken:
            raise LedgerUnavailable("the store is gone")

    async def bind(self, identity: LogIdentity) -> LogIdentity:
        self._check()
        self.identity = self.identity or identity
        return self.identity

    async def append(self, batch: Sequence[NewEntry], *, erase: Sequence[PartAt] = ()) -> AppendedBatch | RefusedBatch:
        self._check()
        for position, entry in enumerate(batch):
            for index, old in enumerate(self.entries):
                if (old.leaf.request_id, old.leaf.kind) == (entry.leaf.request_id, entry.leaf.kind):
                    return RefusedBatch(Clash.REQUEST, position, existing=self._stored(index))
        expected = await self.next_rseq(batch[0].leaf.replica)
        for position, entry in enumerate(batch):
            if entry.leaf.rseq != expected + position:
                return RefusedBatch(Clash.SEQUENCE, position, next_rseq=expected)

        def changed(tenant: str, since: int) -> bool:
            return any(old.leaf.tenant == tenant and old.leaf.kind in CHANGES for old in self.entries[since:])

        refused = overtaken(batch, changed)
        if refused is not None:
            return refused
        if erase and all(entry.leaf.kind is not Kind.REDACTION for entry in batch):
            raise LedgerUnavailable("parts are erased with a redaction only")
        first = len(self.entries)
        for entry in batch:
            self.frontier, made = self.frontier.append(hash_leaf(entry.leaf_bytes))
            self.tree.update(made)
            self.entries.append(entry)
        gone = {(part.entry_id, part.name) for part in erase}
        for index, entry in enumerate(self.entries):
            kept = tuple(part for part in entry.parts if (entry.leaf.entry_id, part.name) not in gone)
            self.entries[index] = replace(entry, parts=kept)
        return AppendedBatch(first)

    async def shrink(self) -> None:
        self._check()

    async def size(self) -> int:
        self._check()
        return len(self.entries)

    async def next_rseq(self, replica: str) -> int:
        self._check()
        return 1 + sum(entry.leaf.replica == replica for entry in self.entries)

    async def leaf(self, entry_id: str) -> StoredLeaf | None:
        self._check()
        found = [i for i, entry in enumerate(self.entries) if entry.leaf.entry_id == entry_id]
        return self._stored(found[0]) if found else None

    async def find(self, request_id: str) -> tuple[StoredLeaf, ...]:
        self._check()
        return tuple(self._stored(i) for i, entry in enumerate(self.entries) if entry.leaf.request_id == request_id)

    async def scan(
        self, *, after: int, limit: int, kind: Kind | None = None, tenant: str | None = None
    ) -> tuple[StoredLeaf, ...]:
        self._check()
        found = (
            self._stored(index)
            for index, entry in enumerate(self.entries)
            if index > after and kind in (None, entry.leaf.kind) and tenant in (None, entry.leaf.tenant)
        )
        return tuple(itertools.islice(found, limit))

    async def nodes(self, wanted: Sequence[Node]) -> Mapping[Node, bytes]:
        self._check()
        return {node: self.tree[node] for node in wanted if node in self.tree}

    async def parts(self, entry_id: str, names: Sequence[str] | None = None) -> tuple[SealedPart, ...]:
        self._check()
        found = [part for entry in self.entries if entry.leaf.entry_id == entry_id for part in entry.parts]
        return tuple(
            sorted((part for part in found if names is None or part.name in names), key=lambda part: part.name)
        )

    async def add_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        self._check()
        return self.signed.setdefault(checkpoint.head.size, checkpoint)

    async def add_cosignatures(self, size: int, lines: Sequence[str]) -> None:
        self._check()
        kept = self.signed[size]
        if not kept.cosignatures:
            self.signed[size] = replace(kept, cosignatures=tuple(lines))

    async def covering(self, size: int, *, cosigned: bool = False) -> Checkpoint | None:
        self._check()
        return next(
            (
                self.signed[n]
                for n in sorted(self.signed)
                if n >= size and (self.signed[n].cosignatures or not cosigned)
            ),
            None,
        )

    async def dangling(
        self, *, limit: int, replica: str | None = None, tenant: str | None = None
    ) -> tuple[StoredLeaf, ...]:
        self._check()
        answered = {entry.leaf.request_id for entry in self.entries if entry.leaf.kind is Kind.OUTCOME}
        found = (
            self._stored(index)
            for index, entry in enumerate(self.entries)
            if entry.leaf.kind is Kind.INTENT
            and entry.leaf.request_id not in answered
            and replica in (None, entry.leaf.replica)
            and tenant in (None, entry.leaf.tenant)
        )
        return tuple(itertools.islice(found, limit))

    async def latest_checkpoint(self) -> Checkpoint | None:
        self._check()
        return self.signed[max(self.signed)] if self.signed else None

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        self._check()
        return tuple(self.signed[size] for size in sorted(self.signed))

    async def faults(self) -> tuple[str, ...]:
        self._check()
        return ()

    async def aclose(self) -> None:
        self.broken = True

    def _stored(self, index: int) -> StoredLeaf:
        entry = self.entries[index]
        return StoredLeaf(index, entry.leaf.entry_id, entry.leaf_bytes, hash_leaf(entry.leaf_bytes))


class MemoryKeyRing:
    """Keys derived from a seed."""

    def __init__(self, seed: str = "exhibit golden", origin: str = ORIGIN) -> None:
        self._seed = seed
        self.signer = SigningKey.from_seed(origin, self._derive("log"))
        self.pseudonym_key = self._derive("pseudonym")
        self.later: list[SigningKey] = []
        self.lost: set[str] = set()

    async def signer_of(self, key: VerifierKey) -> SigningKey | None:
        return next((signer for signer in self.later if signer.verifier == key), None)

    async def successor(self, key: VerifierKey) -> SigningKey:
        order = [self.signer.verifier, *(signer.verifier for signer in self.later)]
        number = order.index(key)
        if number == len(self.later):
            self.later.append(SigningKey.from_seed(key.name, self._derive(f"log {number}")))
        return self.later[number]

    async def tenant_key(self, tenant: str, *, create: bool) -> bytes:
        if tenant in self.lost:
            raise KeyUnusable(f"the key of tenant {tenant} is missing")
        return self._derive("tenant " + tenant)

    def likely_key(self, tenant: str) -> bytes:
        return self._derive("another tenant " + tenant)

    def _derive(self, name: str) -> bytes:
        return sha256(f"{self._seed} / {name}".encode()).digest()


def fixed_entropy(seed: str = "exhibit golden") -> Callable[[int], bytes]:
    """Randomness that is none: call n gives the first bytes of SHAKE-256(seed / n)."""
    calls = itertools.count()
    return lambda count: shake_256(f"{seed} / {next(calls)}".encode()).digest(count)


def ticking_clock(start_ms: int = T0_MS) -> Callable[[], int]:
    """One millisecond later at each call."""
    ticks: Iterator[int] = itertools.count(start_ms)
    return lambda: next(ticks)


def fixed_ids(start: int = 1) -> Callable[[], str]:
    """UUIDs of version 7 with a counter in them."""
    numbers = itertools.count(start)
    return lambda: f"018bcfe5-6800-7000-8000-{next(numbers):012x}"


async def open_ledger(
    store: LedgerStore,
    *,
    keys: MemoryKeyRing | None = None,
    replica: str = "local",
    first_id: int = 1,
    deadline_s: float | None = None,
) -> Ledger:
    """A ledger over `store` in which nothing is random."""
    keys = keys or MemoryKeyRing()
    return await Ledger.open(
        store=store,
        keys=keys,
        origin=keys.signer.name,
        replica=replica,
        clock_ms=ticking_clock(),
        new_id=fixed_ids(first_id),
        entropy=fixed_entropy(),
        deadline_s=deadline_s,
    )
