"""The witness protocol (c2sp.org/tlog-witness): its request, its rules, and the boundary to a witness. Pure; no I/O.

old <size>
<base64 hash, one line each: the consistency proof from the old size>

<checkpoint>
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

from ledger.errors import LedgerError, MalformedNote, VerificationFailed
from ledger.merkle.tree import EMPTY_ROOT, HASH_BYTES, MAX_SIZE, verify_consistency
from ledger.model import TreeHead
from ledger.notes.note import Note, VerifierKey, b64, parse_checkpoint_text, parse_note, unb64

SIZE_TYPE = "text/x.tlog.size"
TEXT_TYPE = "text/plain; charset=utf-8"
MAX_PROOF = 63
NOTHING = TreeHead(0, EMPTY_ROOT)
_OLD = re.compile(r"old (0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True)
class AddCheckpoint:
    """A request to cosign: the size that the witness is thought to have seen, the proof from there, the checkpoint."""

    old: int
    proof: tuple[bytes, ...]
    checkpoint: str

    def __str__(self) -> str:
        return "\n".join([f"old {self.old}", *map(b64, self.proof), "", self.checkpoint])


@dataclass(frozen=True, slots=True)
class WitnessReply:
    """The reply of a witness, as over HTTP: 200 with signature lines, 409 with the size that it has seen, or another
    refusal."""

    status: int
    body: str
    content_type: str = TEXT_TYPE


class Witness(Protocol):
    """A witness that can be asked. `add_checkpoint` sends the request of that text and returns the reply, whatever its
    status; raises only WitnessUnavailable. Safe to call concurrently and to cancel."""

    async def add_checkpoint(self, request: str) -> WitnessReply: ...
    async def aclose(self) -> None: ...


def parse_add_checkpoint(text: str) -> AddCheckpoint:
    """The request of a body. Raises MalformedNote for anything that `str(AddCheckpoint)` would not have written."""
    head, gap, checkpoint = text.partition("\n\n")
    first, *lines = head.split("\n")
    match = _OLD.fullmatch(first)
    if not gap or match is None or int(match[1]) > MAX_SIZE:
        _refuse("the first line is not the old size, or there is no empty line before the checkpoint")
    if len(lines) > MAX_PROOF:
        _refuse(f"a consistency proof has at most {MAX_PROOF} hashes")
    proof = tuple(unb64(line, "a proof hash") for line in lines)
    if any(len(item) != HASH_BYTES for item in proof):
        _refuse("a proof hash is not 32 bytes long")
    parse_checkpoint_text(parse_note(checkpoint).text)
    return AddCheckpoint(int(match[1]), proof, checkpoint)


@dataclass(frozen=True, slots=True)
class AcceptedCheckpoint:
    """The checkpoint may be cosigned, once `head` is kept as the latest of the log `origin`."""

    origin: str
    head: TreeHead
    text: str


@dataclass(frozen=True, slots=True)
class DeclinedCheckpoint:
    """The request is refused. `evidence` says that the log signed what contradicts what it signed before, or could not
    prove otherwise."""

    reply: WitnessReply
    evidence: bool = False


def origin_of(request: AddCheckpoint) -> str:
    """The log that a request is about; nothing is verified."""
    return parse_checkpoint_text(parse_note(request.checkpoint).text)[0]


def judge(
    request: AddCheckpoint, *, keys: Mapping[str, Sequence[VerifierKey]], seen: TreeHead
) -> AcceptedCheckpoint | DeclinedCheckpoint:
    """Decide over a request to a witness: `keys` are those of the logs that it knows by origin, `seen` is the latest
    head that it cosigned of this one (`NOTHING` if none)."""
    note = parse_note(request.checkpoint)
    origin, head = parse_checkpoint_text(note.text)
    if origin not in keys:
        return _declined(404, "unknown log")
    if not _signed(note, keys[origin]):
        return _declined(403, "no signature of a known key of this log holds")
    if request.old > head.size:
        return _declined(400, "the old size is larger than the checkpoint's")
    split = head.size == seen.size and head.root != seen.root
    if split or request.old != seen.size:
        return DeclinedCheckpoint(_conflict(seen), evidence=split)
    try:
        verify_consistency(old=seen.size, new=head.size, old_root=seen.root, new_root=head.root, proof=request.proof)
    except VerificationFailed as exc:
        return DeclinedCheckpoint(WitnessReply(422, f"{exc}\n"), evidence=True)
    return AcceptedCheckpoint(origin, head, note.text)


def _signed(note: Note, keys: Sequence[VerifierKey]) -> bool:
    """True if a signature of a known key is there and each that is holds."""
    lines = [(key, line) for key in keys for line in note.signatures if key.wrote(line)]
    return bool(lines) and all(key.holds(line.signature, note.text.encode()) for key, line in lines)


def _conflict(seen: TreeHead) -> WitnessReply:
    return WitnessReply(409, f"{seen.size}\n", SIZE_TYPE)


def _declined(status: int, reason: str) -> DeclinedCheckpoint:
    return DeclinedCheckpoint(WitnessReply(status, f"{reason}\n"))


def malformed(exc: LedgerError) -> WitnessReply:
    """The reply to what is no request."""
    return WitnessReply(400, f"{exc}\n")


def _refuse(reason: str) -> NoReturn:
    raise MalformedNote(reason)
