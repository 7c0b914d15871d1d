"""The claim on a promise (`ledger.proofs.promise`): whether the log kept it, from the body that carried it and what the
log showed afterwards.

A promise is kept once a checkpoint covers the promised leaf. It is broken by what the log itself has signed since: a
leaf under the promised id or number that is another, a later number of the same replica, an entry made after the merge
delay. What the log has signed is evidence for anybody; that the delay has passed on one's own clock (`overdue`) is
evidence for oneself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import rfc8785

from ledger.entry.leaf import parse_leaf
from ledger.errors import MalformedLeaf, MalformedNote, VerificationFailed
from ledger.merkle.tiles import parse_bundle, tile_path, tiles_of
from ledger.merkle.tree import hash_leaf
from ledger.model import Leaf
from ledger.notes.note import VerifierKey, parse_vkey
from ledger.proofs.folder import Read, verify_folder
from ledger.proofs.promise import Commitment, digest_of, parse_promise, verify_promise
from ledger.proofs.receipt import parse_receipt, verify_with_any

PROMISE = "promise"
BESIDE_THE_RECORD = frozenset({PROMISE, "timings_ms", "took_ms"})
"""The members of a released body that are not in the part `answer` of its entry."""

_OF_THE_LOG = frozenset({"leaf", "duplicate", "rseq", "seen", "ref"})
"""The steps of an export that hold the log's own faults, which it signed: an entry left out leaves a gap, for one."""


class ClaimVerdict(StrEnum):
    """The verdict on a promise."""

    COVERED = "covered"
    PENDING = "not yet covered"
    BROKEN = "broken promise"


class Breach(StrEnum):
    """A way in which a promise is broken."""

    ENTRY = "entry"
    SEQUENCE = "sequence"
    TIME = "time"
    FIELDS = "fields"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class Claim:
    """A verdict on a promise. `index` says where the leaf is that covers or contradicts it, `size` of how many entries
    the checkpoint is; `breach` is set where it is broken."""

    verdict: ClaimVerdict
    promised: Commitment
    detail: str
    index: int | None = None
    size: int | None = None
    breach: Breach | None = None


def promised_in(body: object, keys: Sequence[VerifierKey]) -> Commitment:
    """The promise in a released body: signed by one of the log's keys, and made for this body. Raises MalformedNote
    for a body without a promise in its form, VerificationFailed with the step `promise` or `answer`."""
    if not isinstance(body, Mapping) or PROMISE not in body:
        raise MalformedNote("the body carries no promise")
    promise = parse_promise(body[PROMISE])
    verify_promise(promise, keys)
    if digest_of(_recorded(body)) != promise.of.answer_digest:
        raise VerificationFailed("answer", "the promise was made for another body: this one was altered")
    return promise.of


def _recorded(body: Mapping[str, Any]) -> bytes:
    """The bytes of the part `answer` that this body was released from."""
    told = {name: value for name, value in body.items() if name not in BESIDE_THE_RECORD}
    if isinstance(trace := told.get("trace"), Mapping):
        told["trace"] = {name: value for name, value in trace.items() if name not in BESIDE_THE_RECORD}
    try:
        return rfc8785.dumps(told)
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as exc:
        raise MalformedNote(f"the body has no canonical form: {exc}") from exc


def claim_by_receipt(promised: Commitment, receipt: str, *, vkeys: Sequence[str]) -> Claim:
    """The verdict of a receipt of the log, of whichever entry, on the promise. Raises as `verify_with_any` does for a
    receipt that does not verify."""
    verified = verify_with_any(receipt, vkeys=vkeys)
    proved = [(verified.index, parse_receipt(receipt).leaf_bytes)]
    return claim_by_leaves(promised, proved, size=verified.size, whole=False)


def claim_by_folder(promised: Commitment, read: Read, *, vkeys: Sequence[str]) -> Claim:
    """The verdict of an exported log on the promise. Raises VerificationFailed, with the step of the first thing in the
    export that does not hold."""
    report = verify_folder(read, keys=[parse_vkey(vkey) for vkey in vkeys])
    faults = [problem for problem in report.problems if problem.step not in _OF_THE_LOG]
    if faults:
        raise VerificationFailed(faults[0].step, f"the export does not verify: {faults[0].detail}")
    bundles = (tile._replace(level=None) for tile in tiles_of(report.head.size) if tile.level == 0)
    leaves = (leaf for tile in bundles for leaf in parse_bundle(read(tile_path(tile)) or b"", width=tile.width))
    return claim_by_leaves(promised, enumerate(leaves), size=report.head.size, whole=True)


def claim_by_leaves(promised: Commitment, leaves: Iterable[tuple[int, bytes]], *, size: int, whole: bool) -> Claim:
    """The verdict of leaves under one checkpoint of that size on the promise; `whole` if they are all of it."""
    broken: Claim | None = None
    for index, data in leaves:
        try:
            leaf = parse_leaf(data)
        except MalformedLeaf:
            continue
        if hash_leaf(data).hex() == promised.leaf_hash:
            return _covered(promised, leaf, index, size)
        breach = _breach(promised, leaf, whole=whole)
        if breach is not None and broken is None:
            detail = f"leaf {index} of {size} {_TOLD[breach]}, and the promised leaf is not there"
            broken = Claim(ClaimVerdict.BROKEN, promised, detail, index, size, breach)
    said = f"none of the {size} entries" if whole else f"not what the receipt proves, under {size} entries,"
    return broken or Claim(ClaimVerdict.PENDING, promised, f"{said} is the promised leaf", size=size)


_TOLD = {
    Breach.ENTRY: "is another entry of the promised id",
    Breach.SEQUENCE: "has the promised number of its replica, or a later one",
    Breach.TIME: "was made after the merge delay had passed",
}


def _breach(promised: Commitment, leaf: Leaf, *, whole: bool) -> Breach | None:
    """The breach that a leaf other than the promised one shows."""
    if leaf.entry_id == promised.entry_id:
        return Breach.ENTRY
    if leaf.replica == promised.replica and (leaf.rseq == promised.rseq or (whole and leaf.rseq > promised.rseq)):
        return Breach.SEQUENCE
    return Breach.TIME if whole and leaf.t_ms > promised.due_ms else None


def _covered(promised: Commitment, leaf: Leaf, index: int, size: int) -> Claim:
    stated = (promised.entry_id, promised.replica, promised.rseq, promised.t_ms)
    if (leaf.entry_id, leaf.replica, leaf.rseq, leaf.t_ms) != stated:
        said = "the promised leaf says another id, replica, number or time than the promise"
        return Claim(ClaimVerdict.BROKEN, promised, said, index, size, Breach.FIELDS)
    return Claim(ClaimVerdict.COVERED, promised, f"leaf {index} of {size} is the promised one", index, size)


def best_of(claims: Sequence[Claim]) -> Claim:
    """The verdict of several findings, of which there is one at least: a checkpoint over the leaf keeps a promise,
    whatever else was shown."""
    order = (ClaimVerdict.COVERED, ClaimVerdict.BROKEN, ClaimVerdict.PENDING)
    return min(claims, key=lambda claim: order.index(claim.verdict))


def overdue(claim: Claim, now_ms: int) -> Claim:
    """The claim against what the log shows now: not yet covered, after the merge delay, is broken."""
    if claim.verdict is not ClaimVerdict.PENDING or now_ms <= claim.promised.due_ms:
        return claim
    said = f"{claim.detail}, and the merge delay of {claim.promised.merge_delay_s} s has passed"
    return replace(claim, verdict=ClaimVerdict.BROKEN, detail=said, breach=Breach.CLOCK)
