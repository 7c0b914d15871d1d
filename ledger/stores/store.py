"""The boundary to what keeps the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ledger.merkle.tree import Node
from ledger.model import Checkpoint, Kind, Leaf, SealedPart


@dataclass(frozen=True, slots=True)
class LogIdentity:
    """Which log a store holds: origin, verifier key, and a check value of the pseudonym key."""

    origin: str
    vkey: str
    pseudonym_check: str


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to append: its leaf, the leaf's bytes, and its sealed parts; with `since` only where no change of what
    its tenant holds (`CHANGES`) stands at that index of the log or above it."""

    leaf: Leaf
    leaf_bytes: bytes
    parts: tuple[SealedPart, ...]
    since: int | None = None


@dataclass(frozen=True, slots=True)
class PartAt:
    """The place of a part: its entry and its name."""

    entry_id: str
    name: str


@dataclass(frozen=True, slots=True)
class StoredLeaf:
    """A leaf as the store has it: bytes, and the hash that stands beside them."""

    index: int
    entry_id: str
    leaf_bytes: bytes
    leaf_hash: bytes


@dataclass(frozen=True, slots=True)
class AppendedBatch:
    """The batch is durable; its first leaf has this index, the others follow."""

    first_index: int


class Clash(StrEnum):
    """Why a batch was refused."""

    REQUEST = "request"
    SEQUENCE = "sequence"
    OVERTAKEN = "overtaken"


CHANGES = (Kind.CONFIG, Kind.REDACTION)
"""The kinds of entries that tell of a change of what a tenant holds."""


def overtaken(batch: Sequence[NewEntry], changed: Callable[[str, int], bool]) -> RefusedBatch | None:
    """Refuses a batch one of whose entries comes after a change that it does not know: in the log, as `changed` tells
    for a tenant and an index, or earlier in the batch."""
    told: set[str] = set()
    for position, entry in enumerate(batch):
        tenant = entry.leaf.tenant
        if entry.since is not None and (tenant in told or changed(tenant, entry.since)):
            return RefusedBatch(Clash.OVERTAKEN, position)
        if entry.leaf.kind in CHANGES:
            told.add(tenant)
    return None


@dataclass(frozen=True, slots=True)
class RefusedBatch:
    """Nothing was written. REQUEST: entry `position` of the batch has the request id and kind of the leaf `existing`.
    OVERTAKEN: it has a `since`, and its tenant's holdings were changed since. SEQUENCE: the replica's next number is
    `next_rseq`."""

    clash: Clash
    position: int
    existing: StoredLeaf | None = None
    next_rseq: int | None = None


class LedgerStore(Protocol):
    """Keeps leaves, tree nodes, checkpoints and sealed parts of one log.

    - `bind` writes the identity of an empty store and returns the one that the store has.
    - `append` takes a batch of at least one entry of one replica, in order, all or nothing, durable when it returns.
      Indexes are contiguous from 0. A request id and kind that are already there, or a `rseq` that is not the
      replica's next number (from 1), refuse the batch as a value. With the leaves it keeps every perfect subtree that
      they complete. `erase` names parts of stored entries whose salts, keys and contents are gone with the same
      transaction, from the file too once `shrink` has returned; a batch that erases holds a redaction.
    - Leaves, nodes and checkpoints are insert-only: there is no method that changes or deletes them, and a backend
      refuses it.
    - `scan` returns at most `limit` leaves of rising index above `after`, of that kind and tenant if given.
    - `nodes` returns those of the wanted perfect subtrees that exist. `parts` returns an entry's sealed parts, of
      those names if given, ordered by name. `find` returns the leaves of a request, by index.
    - `add_checkpoint` keeps one checkpoint per size: it returns the one that is kept for that size, which may be an
      earlier one. `add_cosignatures` keeps the witnesses' signature lines of a kept checkpoint, in order, the first set
      for each size for ever; `Checkpoint.cosignatures` holds them wherever a checkpoint is returned.
    - `covering` returns the smallest checkpoint of at least `size` leaves, with `cosigned` the smallest such that bears
      cosignatures; None if there is none.
    - `dangling` returns at most `limit` intents by index whose request has no outcome, of that replica
      and tenant if given.
    - `faults` returns what the backend itself finds wrong with its file or tables, as text; empty if nothing.
    Every method raises only LedgerUnavailable, and leaves nothing half-written. Safe to call concurrently and to
    cancel; a cancelled `append` is either whole or absent.
    """

    async def bind(self, identity: LogIdentity) -> LogIdentity: ...
    async def append(
        self, batch: Sequence[NewEntry], *, erase: Sequence[PartAt] = ()
    ) -> AppendedBatch | RefusedBatch: ...
    async def shrink(self) -> None: ...
    async def size(self) -> int: ...
    async def next_rseq(self, replica: str) -> int: ...
    async def leaf(self, entry_id: str) -> StoredLeaf | None: ...
    async def find(self, request_id: str) -> tuple[StoredLeaf, ...]: ...
    async def scan(
        self, *, after: int, limit: int, kind: Kind | None = None, tenant: str | None = None
    ) -> tuple[StoredLeaf, ...]: ...
    async def dangling(
        self, *, limit: int, replica: str | None = None, tenant: str | None = None
    ) -> tuple[StoredLeaf, ...]: ...
    async def nodes(self, wanted: Sequence[Node]) -> Mapping[Node, bytes]: ...
    async def parts(self, entry_id: str, names: Sequence[str] | None = None) -> tuple[SealedPart, ...]: ...
    async def add_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint: ...
    async def add_cosignatures(self, size: int, lines: Sequence[str]) -> None: ...
    async def latest_checkpoint(self) -> Checkpoint | None: ...
    async def covering(self, size: int, *, cosigned: bool = False) -> Checkpoint | None: ...
    async def checkpoints(self) -> tuple[Checkpoint, ...]: ...
    async def faults(self) -> tuple[str, ...]: ...
    async def aclose(self) -> None: ...
