"""Values of the ledger: what an entry is, what a verification says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

V1 = "exhibit.ledger/1"
LEAF_VERSION = V1
"""The version that is written."""
RECEIPT_VERSION = "exhibit.receipt/1"
LEAF_MAX_BYTES = 4096
SOURCES = "sources"


class Kind(StrEnum):
    """The kind of an entry."""

    INTENT = "intent"
    OUTCOME = "outcome"
    RETRIEVAL = "retrieval"
    REDACTION = "redaction"
    KEY = "key"
    CONFIG = "config"
    INCIDENT = "incident"


# The parts of each form of a leaf, by its version and kind: those of LEAF_VERSION are written, all are read for ever.
# Frozen: every leaf of a form commits to exactly these names, so a change of the list is another version. An absent
# part is committed to as empty bytes under a salt of its own, so that a leaf does not show which parts there are.
FORMS: Mapping[tuple[str, Kind], tuple[str, ...]] = MappingProxyType(
    {
        (V1, Kind.INTENT): ("question", "context", "scope", "policy.query"),
        (V1, Kind.OUTCOME): (
            "candidates",
            "bundle",
            "sources",
            "calls",
            "policy.evidence",
            "policy.answer",
            "answer",
            "prov",
            "replay",
        ),
        (V1, Kind.RETRIEVAL): (
            "question",
            "context",
            "scope",
            "candidates",
            "bundle",
            "sources",
            "calls",
            "policy.query",
            "policy.evidence",
            "answer",
            "prov",
            "replay",
        ),
        (V1, Kind.REDACTION): ("detail", "prov"),
        (V1, Kind.KEY): ("detail",),
        (V1, Kind.CONFIG): ("detail",),
        (V1, Kind.INCIDENT): ("detail",),
    }
)
PART_NAMES: Mapping[Kind, tuple[str, ...]] = MappingProxyType({kind: FORMS[LEAF_VERSION, kind] for kind in Kind})
"""The parts of what is written."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A pointer of one entry to an earlier one: its relation (`intent`, `redacts` ...), entry id and leaf hash
    (hex)."""

    rel: str
    id: str
    leaf: str


@dataclass(frozen=True, slots=True)
class TreeHead:
    """Size of a tree and its root (32 bytes)."""

    size: int
    root: bytes


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf's content; `ledger.entry.leaf` maps it to its bytes and back. `parts` holds commitments as lower-case hex,
    by the names of the leaf's own form."""

    kind: Kind
    entry_id: str
    t_ms: int
    tenant: str
    replica: str
    rseq: int
    request_id: str
    parts: Mapping[str, str]
    refs: tuple[Ref, ...]
    seen: TreeHead
    version: str = LEAF_VERSION


@dataclass(frozen=True, slots=True)
class EntryRef:
    """Where an entry is: enough to ask for it, to point at it from a later entry and to promise it."""

    entry_id: str
    kind: Kind
    index: int
    leaf_hash: str
    t_ms: int
    replica: str
    rseq: int

    def as_ref(self, rel: str) -> Ref:
        """This entry as the target of a relation `rel`."""
        return Ref(rel=rel, id=self.entry_id, leaf=self.leaf_hash)


@dataclass(frozen=True, slots=True)
class DamagedEntry:
    """An entry whose leaf is not the one that was appended: its place and its name as the store has them, and what is
    wrong. Nothing of it is proved."""

    index: int
    entry_id: str
    detail: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A parsed leaf, its zero-based index, and the very bytes that were hashed."""

    index: int
    leaf: Leaf
    leaf_bytes: bytes
    leaf_hash: str

    @property
    def ref(self) -> EntryRef:
        """Where this entry is."""
        leaf = self.leaf
        return EntryRef(leaf.entry_id, leaf.kind, self.index, self.leaf_hash, leaf.t_ms, leaf.replica, leaf.rseq)


@dataclass(frozen=True, slots=True)
class SealedPart:
    """A part as the store keeps it: salt and key wrapped by the tenant's key, content compressed and encrypted."""

    name: str
    salt: bytes
    key: bytes
    blob: bytes


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed tree head: `note` is the text that was signed and stored, byte for byte. `cosignatures` are the
    signature lines of witnesses, without their newlines."""

    head: TreeHead
    note: str
    cosignatures: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The note with its cosignatures, as it is handed out."""
        return self.note + "".join(f"{line}\n" for line in self.cosignatures)


class Verdict(StrEnum):
    """The finding of a verification, in one word."""

    INTACT = "intact"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not hold. `step` is a stable code; entry, index and part say where, as far as known."""

    step: str
    detail: str
    index: int | None = None
    entry_id: str | None = None
    part: str | None = None

    def __str__(self) -> str:
        where = [f"index {self.index}"] if self.index is not None else []
        where += [f"entry {self.entry_id}"] if self.entry_id else []
        where += [f"part {self.part}"] if self.part else []
        return f"{self.step} ({', '.join(where)}): {self.detail}" if where else f"{self.step}: {self.detail}"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The recomputed parts and those that did not hold. `dangling` lists intents without an outcome: a crash, not a
    forgery. `erased` counts parts that a redaction entry accounts for. `witnessed_size` is the size of the largest
    checkpoint whose cosignatures were checked and make the quorum; None if none was: the operator alone vouches for the
    log."""

    verdict: Verdict
    size: int
    root: str
    entries: int
    parts: int
    erased: int
    checkpoints: int
    problems: tuple[Problem, ...]
    dangling: tuple[EntryRef, ...]
    witnessed_size: int | None = None

    @property
    def witnessed(self) -> bool:
        """True if cosignatures of the trusted witnesses were checked and hold."""
        return self.witnessed_size is not None

    @property
    def ok(self) -> bool:
        """True if nothing is broken."""
        return self.verdict is Verdict.INTACT
