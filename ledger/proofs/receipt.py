"""The receipt: a C2SP `tlog-proof` with `extra`, enough to prove an entry and what is disclosed of it without asking
anyone.

    c2sp.org/tlog-proof@v1
    extra base64(canonical {"v", "leaf", "disclosures": [{"name", "salt", "bytes"}]})     leaf, salt and bytes in base64
    index <zero-based decimal>
    <base64 hash, one line each, from the leaf's sibling up>

    <checkpoint>

`extra` is authenticated by what it leads to: the leaf by the proof, each disclosed part by its commitment in the leaf,
each disclosed source by its commitment in the disclosed part `sources`. Disclosures rise by name; no name stands twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ledger.canonical import canonical_json, is_canonical
from ledger.entry.leaf import parse_leaf, strict_object
from ledger.entry.parts import SALT_BYTES, OpenedPart, commitment, parse_source_commitments, source_number
from ledger.errors import MalformedLeaf, MalformedNote, VerificationFailed
from ledger.merkle.tree import HASH_BYTES, MAX_SIZE, hash_leaf, verify_inclusion
from ledger.model import RECEIPT_VERSION, SOURCES, Leaf
from ledger.notes.note import VerifierKey, b64, parse_checkpoint_text, parse_note, parse_vkey, unb64, verify_checkpoint
from ledger.notes.trust import TrustPolicy, WitnessedHead

HEADER = "c2sp.org/tlog-proof@v1"
MAX_RECEIPT_CHARS = 400_000_000
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True)
class Receipt:
    """A parsed receipt; nothing in it is verified."""

    leaf_bytes: bytes
    disclosures: tuple[OpenedPart, ...]
    index: int
    proof: tuple[bytes, ...]
    checkpoint: str


@dataclass(frozen=True, slots=True)
class VerifiedReceipt:
    """The content that a receipt proves: this leaf stands at `index` of the log `origin`, and these are its disclosed
    parts and sources (by number, from 1). `cosigned` are the trusted witnesses whose cosignatures hold; None if none
    was checked, so that the log's operator alone vouches for the checkpoint."""

    origin: str
    size: int
    root: str
    index: int
    leaf: Leaf
    leaf_hash: str
    parts: Mapping[str, bytes]
    sources: Mapping[int, bytes]
    cosigned: WitnessedHead | None = None

    @property
    def witnessed(self) -> bool:
        """True if cosignatures of trusted witnesses were checked and hold."""
        return self.cosigned is not None


def format_receipt(receipt: Receipt) -> str:
    """The receipt's text."""
    extra: dict[str, Any] = {
        "v": RECEIPT_VERSION,
        "leaf": b64(receipt.leaf_bytes),
        "disclosures": [
            {"name": part.name, "salt": b64(part.salt), "bytes": b64(part.data)}
            for part in sorted(receipt.disclosures, key=lambda part: part.name)
        ],
    }
    lines = [HEADER, f"extra {b64(canonical_json(extra))}", f"index {receipt.index}", *map(b64, receipt.proof), ""]
    return "\n".join(lines) + "\n" + receipt.checkpoint


def parse_receipt(text: str) -> Receipt:
    """The parts of a receipt's text. Raises MalformedNote for anything that `format_receipt` would not have written."""
    if len(text) > MAX_RECEIPT_CHARS:
        _refuse("the receipt is too large")
    head, gap, checkpoint = text.partition("\n\n")
    lines = head.split("\n")
    if not gap or lines[0] != HEADER or len(lines) < 3:
        _refuse(f"not a proof: the first line is not {HEADER}, or lines are missing")
    if not lines[1].startswith("extra "):
        _refuse("the second line is not extra data")
    match = _INDEX.fullmatch(lines[2])
    if not match or int(match[1]) >= MAX_SIZE:
        _refuse("the third line is not the index, or no tree is so large")
    proof = tuple(unb64(line, "a proof hash") for line in lines[3:])
    if len(proof) > 63 or any(len(item) != HASH_BYTES for item in proof):
        _refuse("a proof is at most 63 hashes of 32 bytes")
    parse_checkpoint_text(parse_note(checkpoint).text)
    leaf_bytes, disclosures = _parse_extra(unb64(lines[1].removeprefix("extra "), "extra"))
    return Receipt(leaf_bytes, disclosures, int(match[1]), proof, checkpoint)


def verify_receipt(text: str, *, vkey: str, policy: TrustPolicy | None = None) -> VerifiedReceipt:
    """Check a receipt against the log's verifier key and, with a policy, against the witnesses that it trusts, offline.
    Raises MalformedNote or MalformedLeaf for a text that is no receipt, and VerificationFailed whose `step` is the
    first that failed: `signature`, `origin`, `cosignature`, `quorum`, `inclusion-proof`, `seen`, `commitment`,
    `sources`.

    The log is the one that the key names: a checkpoint whose origin is not the key's name is refused."""
    return verify_with_any(text, vkeys=[vkey], policy=policy)


def verify_with_any(text: str, *, vkeys: Sequence[str], policy: TrustPolicy | None = None) -> VerifiedReceipt:
    """The same with the keys that a log has had: one of them signed the checkpoint, and no signature of any of them
    fails. Raises MalformedNote also for keys of two logs."""
    keys, receipt = _keys_of_one_log(vkeys), parse_receipt(text)
    head = verify_checkpoint(receipt.checkpoint, *keys, origin=keys[0].name)
    cosigned = None if policy is None else policy.check(receipt.checkpoint)
    leaf_hash = hash_leaf(receipt.leaf_bytes)
    verify_inclusion(leaf_hash=leaf_hash, index=receipt.index, size=head.size, proof=receipt.proof, root=head.root)
    leaf = parse_leaf(receipt.leaf_bytes)
    if leaf.seen.size > receipt.index:
        raise VerificationFailed("seen", f"the entry claims to have seen {leaf.seen.size} leaves")
    parts = _verified_parts(leaf, receipt.disclosures)
    return VerifiedReceipt(
        origin=keys[0].name,
        size=head.size,
        root=head.root.hex(),
        index=receipt.index,
        leaf=leaf,
        leaf_hash=leaf_hash.hex(),
        parts=parts,
        sources=_verified_sources(parts, receipt.disclosures),
        cosigned=cosigned,
    )


def seen_at(verified: VerifiedReceipt, checkpoint: str, *, vkeys: Sequence[str], policy: TrustPolicy) -> int:
    """When witnesses had cosigned the checkpoint that the entry says it had seen, in seconds since 1970: a log that
    writes honestly writes no entry before it has seen what it names. Raises MalformedNote, and VerificationFailed with
    the step `seen` for a checkpoint of another head, else as the checks of a checkpoint do."""
    seen = verified.leaf.seen
    if (verified.origin, seen) != parse_checkpoint_text(parse_note(checkpoint).text):
        raise VerificationFailed("seen", f"it is not the checkpoint of size {seen.size} that the entry had seen")
    keys = _keys_of_one_log(vkeys)
    verify_checkpoint(checkpoint, *keys, origin=keys[0].name)
    cosigned = policy.check(checkpoint)
    if cosigned is None:
        raise VerificationFailed("quorum", "nobody cosigned the checkpoint that the entry had seen")
    return cosigned.by_s


def _keys_of_one_log(vkeys: Sequence[str]) -> list[VerifierKey]:
    keys = [parse_vkey(vkey) for vkey in vkeys]
    if len({key.name for key in keys}) != 1:
        _refuse("keys of one log are needed")
    return keys


def _verified_parts(leaf: Leaf, disclosures: Sequence[OpenedPart]) -> dict[str, bytes]:
    parts = {}
    for part in disclosures:
        if source_number(part.name) is not None:
            continue
        if part.name not in leaf.parts:
            raise VerificationFailed("commitment", f"the leaf commits to no part {part.name}")
        if commitment(part.salt, part.name, part.data) != leaf.parts[part.name]:
            raise VerificationFailed("commitment", f"part {part.name} is not what the leaf commits to")
        parts[part.name] = part.data
    return parts


def _verified_sources(parts: Mapping[str, bytes], disclosures: Sequence[OpenedPart]) -> dict[int, bytes]:
    numbered = [(number, part) for part in disclosures if (number := source_number(part.name)) is not None]
    if SOURCES not in parts:
        if numbered:
            raise VerificationFailed("sources", "a source is disclosed without the array of commitments")
        return {}
    committed = parse_source_commitments(parts[SOURCES])
    sources = {}
    for number, part in numbered:
        if number > len(committed):
            raise VerificationFailed("sources", f"the entry has no source {number}")
        if commitment(part.salt, part.name, part.data) != committed[number - 1]:
            raise VerificationFailed("sources", f"source {number} is not what the entry commits to")
        sources[number] = part.data
    return sources


def _parse_extra(data: bytes) -> tuple[bytes, tuple[OpenedPart, ...]]:
    try:
        body = strict_object(data)
    except MalformedLeaf as exc:
        raise MalformedNote(f"extra is not a strict JSON object: {exc}") from exc
    if set(body) != {"v", "leaf", "disclosures"} or body["v"] != RECEIPT_VERSION:
        _refuse(f"extra is not {{v, leaf, disclosures}} of {RECEIPT_VERSION}")
    if not isinstance(body["disclosures"], list):
        _refuse("disclosures is not a list")
    disclosures = tuple(_parse_disclosure(item) for item in body["disclosures"])
    names = [part.name for part in disclosures]
    if names != sorted(set(names)):
        _refuse("disclosures do not rise by name")
    leaf_bytes = _field(body, "leaf")
    if not is_canonical(body, data):
        _refuse("extra is not in canonical form")
    return leaf_bytes, disclosures


def _parse_disclosure(item: object) -> OpenedPart:
    if not isinstance(item, dict) or set(item) != {"name", "salt", "bytes"} or not isinstance(item["name"], str):
        _refuse("a disclosure is not {name, salt, bytes}")
    salt = _field(item, "salt")
    if len(salt) != SALT_BYTES:
        _refuse("a salt is not 32 bytes long")
    if not item["name"].isascii():
        _refuse("a part name is not ASCII")
    return OpenedPart(item["name"], salt, _field(item, "bytes"))


def _field(body: Mapping[str, Any], name: str) -> bytes:
    if not isinstance(body[name], str):
        _refuse(f"{name} is not text")
    return unb64(body[name], name)


def _refuse(reason: str) -> NoReturn:
    raise MalformedNote(reason)
