"""The keys that sign a log's checkpoints, one after the other.

The first key is bound to the store. Each later one is announced by a `key` entry, `key:<n>` for the n-th change, whose
part `detail` is the canonical {"v", "from", "to", "statement"}; the statement is a note signed by the old key and the
new one over

    exhibit.key/1
    <origin>
    <old verifier key>
    <new verifier key>

A checkpoint that covers a key entry is signed by the new key; the first that does, by the old one too, so whoever knows
the old key learns of the new.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ledger.canonical import canonical_json, is_canonical
from ledger.entry.leaf import parse_leaf, strict_object
from ledger.entry.parts import open_part
from ledger.errors import LedgerError, MalformedLeaf, MalformedNote, VerificationFailed
from ledger.keys import KeyRing
from ledger.model import Checkpoint, Kind, TreeHead
from ledger.notes.note import Signer, VerifierKey, parse_note, parse_vkey, signed_note, verify_checkpoint, verify_note
from ledger.stores.store import LedgerStore, StoredLeaf

KEY_VERSION = "exhibit.key/1"
DETAIL = "detail"
Detail = Callable[[StoredLeaf], Awaitable[bytes]]


def key_request(number: int) -> str:
    """The request id of the entry of the n-th change of key, n from 1."""
    return f"key:{number}"


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key that took over with the leaf at `index`."""

    index: int
    key: VerifierKey


@dataclass(frozen=True, slots=True)
class KeyChain:
    """The first key and the changes since, by index."""

    first: VerifierKey
    changes: tuple[KeyChange, ...] = ()

    @property
    def current(self) -> VerifierKey:
        """The key that signs now."""
        return self.changes[-1].key if self.changes else self.first

    @property
    def keys(self) -> tuple[VerifierKey, ...]:
        """Every key, oldest first."""
        return (self.first, *(change.key for change in self.changes))

    def at(self, size: int) -> VerifierKey:
        """The key that signs a tree of that size."""
        return next((change.key for change in reversed(self.changes) if change.index < size), self.first)

    def followed(self, change: KeyChange) -> KeyChain:
        """The chain with one more change."""
        return KeyChain(self.first, (*self.changes, change))

    def verify(self, checkpoint: Checkpoint) -> None:
        """Raise MalformedNote or VerificationFailed unless the note is of the stored head and signed by the key of
        that size."""
        head = self.verified(checkpoint.note)
        if head != checkpoint.head:
            size = checkpoint.head.size
            raise VerificationFailed("checkpoint", f"the stored head of size {size} is not the signed one")

    def verified(self, note: str) -> TreeHead:
        """The head of a checkpoint that the key of its size signed; what other keys of the log signed in it must hold
        too. Raises as `verify` does."""
        head = verify_checkpoint(note, *self.keys, origin=self.first.name)
        due = self.at(head.size)
        if not any(due.wrote(item) for item in parse_note(note).signatures):
            raise VerificationFailed("signature", f"size {head.size} is signed by a key that was replaced")
        return head


def statement_text(old: VerifierKey, new: VerifierKey) -> str:
    """The message that both keys sign."""
    return f"{KEY_VERSION}\n{old.name}\n{old}\n{new}\n"


async def rotation_detail(old: Signer, new: Signer) -> bytes:
    """The part `detail` of the entry that announces the new key. Raises KeyUnusable."""
    statement = await signed_note(statement_text(old.verifier, new.verifier), [old, new])
    body = {"v": KEY_VERSION, "from": str(old.verifier), "to": str(new.verifier), "statement": statement}
    return canonical_json(body)


def verify_rotation(detail: bytes, *, old: VerifierKey) -> VerifierKey:
    """The key that takes over from `old`. Raises VerificationFailed with the step `key` for anything but a statement of
    this log that both keys signed."""
    try:
        body = strict_object(detail)
        if set(body) != {"v", "from", "to", "statement"} or not is_canonical(body, detail):
            raise MalformedNote("not exactly {v, from, to, statement} in canonical form")
        if body["v"] != KEY_VERSION or body["from"] != str(old):
            raise MalformedNote("the statement is not about the key that signed so far")
        new, text = parse_vkey(str(body["to"])), str(body["statement"])
        if new.name != old.name or new.public == old.public:
            raise MalformedNote("the new key is not another key of this log")
        for key in (old, new):
            if verify_note(text, key) != statement_text(old, new):
                raise MalformedNote("the signed statement says something else")
    except LedgerError as exc:
        raise VerificationFailed("key", f"the change of key does not hold: {exc}") from exc
    return new


async def follow(store: LedgerStore, chain: KeyChain, detail: Detail) -> KeyChain:
    """The chain with the changes that the store has beyond it; `detail` opens that part of a leaf. Raises
    VerificationFailed with the step `key`, LedgerUnavailable."""
    while found := await store.find(key_request(len(chain.changes) + 1)):
        leaf = next((each for each in found if _is_key(each)), None)
        if leaf is None:
            raise VerificationFailed("key", "another entry has the request id of a change of key")
        new = verify_rotation(await detail(leaf), old=chain.current)
        if chain.changes and chain.changes[-1].index >= leaf.index:
            raise VerificationFailed("key", "the changes of key are out of order")
        chain = chain.followed(KeyChange(leaf.index, new))
    return chain


async def opened_detail(store: LedgerStore, keys: KeyRing, stored: StoredLeaf) -> bytes:
    """The part `detail` of a stored leaf. Raises VerificationFailed, LedgerUnavailable."""
    leaf = parse_leaf(stored.leaf_bytes)
    sealed = await store.parts(leaf.entry_id, (DETAIL,))
    if not sealed or DETAIL not in leaf.parts:
        raise VerificationFailed("key", f"entry {leaf.entry_id} has no detail")
    tenant_key = await keys.tenant_key(leaf.tenant, create=False)
    return open_part(sealed[0], entry_id=leaf.entry_id, tenant_key=tenant_key, committed=leaf.parts[DETAIL]).data


def _is_key(stored: StoredLeaf) -> bool:
    try:
        return parse_leaf(stored.leaf_bytes).kind is Kind.KEY
    except MalformedLeaf:
        return False
