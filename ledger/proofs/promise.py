"""The promise that leaves with an answer: the log's key signs, before the release, which leaf stands for it.

The signature is over the text, each line ended by a newline,

    exhibit.promise/1
    <origin>
    <entry id>
    <leaf hash, hex>
    <digest of the part `answer`>
    <replica>
    <number of the entry among those of its replica>
    <time of the entry, UTC, RFC 3339 with milliseconds and Z>
    <merge delay, seconds>

so it is the text of a signed note, and no checkpoint: its second line is the name of a log, its third no hash. Whoever
keeps the promise can hold the log to it (`ledger.proofs.claim`), as a signed certificate timestamp of RFC 6962 does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NoReturn

from ledger.entry.leaf_form import HEX32, TOKEN, UUID7
from ledger.errors import MalformedNote, VerificationFailed
from ledger.model import EntryRef
from ledger.notes.note import Signature, Signer, VerifierKey, b64, check_name, unb64

PROMISE_VERSION = "exhibit.promise/1"
MERGE_DELAY_S = 86_400
"""The longest that a checkpoint over a promised entry may take: it is part of what is signed."""
SIGNATURE_BYTES = 64
MAX_COUNT = 2**53 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORMS = {
    "entry_id": re.compile(UUID7),
    "leaf_hash": re.compile(HEX32),
    "answer_digest": re.compile(f"sha256:{HEX32}"),
    "replica": re.compile(TOKEN),
    "time": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"),
    "key": re.compile(r"(?<![^+])[^+]++\+[0-9a-f]{8}"),
}
_COUNTS = ("rseq", "merge_delay_s")
_MEMBERS = frozenset({"v", *_FORMS, *_COUNTS, "signature"})


@dataclass(frozen=True, slots=True)
class Commitment:
    """The content of a promise: the log `origin` will cover the leaf of this hash, whose part `answer` has this digest,
    within `merge_delay_s` seconds of `t_ms`."""

    origin: str
    entry_id: str
    leaf_hash: str
    answer_digest: str
    replica: str
    rseq: int
    t_ms: int
    merge_delay_s: int = MERGE_DELAY_S

    @property
    def text(self) -> str:
        """The text that is signed."""
        lines = (
            *(PROMISE_VERSION, self.origin, self.entry_id, self.leaf_hash, self.answer_digest, self.replica),
            *(str(self.rseq), utc_text(self.t_ms), str(self.merge_delay_s)),
        )
        return "".join(f"{line}\n" for line in lines)

    @property
    def due_ms(self) -> int:
        """The end of the merge delay, UTC milliseconds."""
        return self.t_ms + self.merge_delay_s * 1000


@dataclass(frozen=True, slots=True)
class Promise:
    """A commitment and the signature of the log's key with these four bytes of id over its text."""

    of: Commitment
    key_id: bytes
    signature: bytes

    def as_json(self) -> dict[str, Any]:
        """The promise as a body carries it."""
        of = self.of
        return {
            "v": PROMISE_VERSION,
            "entry_id": of.entry_id,
            "leaf_hash": of.leaf_hash,
            "answer_digest": of.answer_digest,
            "replica": of.replica,
            "rseq": of.rseq,
            "time": utc_text(of.t_ms),
            "merge_delay_s": of.merge_delay_s,
            "key": f"{of.origin}+{self.key_id.hex()}",
            "signature": b64(self.signature),
        }


async def make_promise(entry: EntryRef, *, answer: bytes, signer: Signer) -> Promise:
    """The promise of a durable entry whose part `answer` has these bytes. Raises KeyUnusable."""
    of = Commitment(
        origin=signer.verifier.name,
        entry_id=entry.entry_id,
        leaf_hash=entry.leaf_hash,
        answer_digest=digest_of(answer),
        replica=entry.replica,
        rseq=entry.rseq,
        t_ms=entry.t_ms,
    )
    return Promise(of, signer.verifier.key_id, await signer.sign(of.text.encode()))


def parse_promise(value: object) -> Promise:
    """A promise as a body carries it, nothing verified yet. Raises MalformedNote for anything that `as_json` would not
    have given."""
    if not isinstance(value, Mapping) or set(value) != _MEMBERS:
        _refuse(f"a promise has exactly the members {', '.join(sorted(_MEMBERS))}")
    if value["v"] != PROMISE_VERSION:
        _refuse(f"the promise is not of version {PROMISE_VERSION}")
    for name, form in _FORMS.items():
        if not isinstance(value[name], str) or not form.fullmatch(value[name]):
            _refuse(f"{name} of the promise is not in its form")
    for name in _COUNTS:
        if type(value[name]) is not int or not 0 < value[name] <= MAX_COUNT:
            _refuse(f"{name} of the promise is not a positive integer")
    if not isinstance(value["signature"], str):
        _refuse("the promise's signature is not a string")
    origin, _, key_id = value["key"].partition("+")
    check_name(origin)
    signature = unb64(value["signature"], "the signature of the promise")
    if len(signature) != SIGNATURE_BYTES:
        _refuse(f"the signature of the promise is not {SIGNATURE_BYTES} bytes long")
    of = Commitment(
        origin=origin,
        entry_id=value["entry_id"],
        leaf_hash=value["leaf_hash"],
        answer_digest=value["answer_digest"],
        replica=value["replica"],
        rseq=value["rseq"],
        t_ms=_milliseconds(value["time"]),
        merge_delay_s=value["merge_delay_s"],
    )
    return Promise(of, bytes.fromhex(key_id), signature)


def verify_promise(promise: Promise, keys: Sequence[VerifierKey]) -> None:
    """Raise VerificationFailed with the step `promise` unless one of the keys signed it."""
    line = Signature(promise.of.origin, promise.key_id, promise.signature)
    key = next((key for key in keys if key.wrote(line)), None)
    if key is None:
        named = f"{promise.of.origin}+{promise.key_id.hex()}"
        raise VerificationFailed("promise", f"the promise names the key {named}, which is not one of the log's")
    if not key.holds(promise.signature, promise.of.text.encode()):
        raise VerificationFailed("promise", "the log's key did not sign this promise: it was forged or altered")


def digest_of(answer: bytes) -> str:
    """The digest of the bytes of a part `answer`."""
    return f"sha256:{sha256(answer).hexdigest()}"


def utc_text(t_ms: int) -> str:
    """A time in UTC as RFC 3339 with milliseconds."""
    moment = (_EPOCH + timedelta(milliseconds=t_ms)).replace(tzinfo=None)
    return moment.isoformat(timespec="milliseconds") + "Z"


def _milliseconds(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        _refuse("the promise's time is not a time")
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _refuse(reason: str) -> NoReturn:
    raise MalformedNote(reason)
