"""Getting a checkpoint cosigned: every witness of the policy is asked, and what one says against the log stops it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ledger.errors import LedgerError, LogForked, WitnessUnavailable
from ledger.merkle.tree import MAX_SIZE
from ledger.model import Checkpoint
from ledger.notes.cosignature import cosigned_at
from ledger.notes.note import parse_note, parse_signatures, signature_line
from ledger.notes.trust import TrustedWitness, TrustPolicy
from ledger.proofs.proving import prove_consistency
from ledger.stores.store import LedgerStore
from ledger.witnesses.witness import AddCheckpoint, Witness, WitnessReply

_SIZE = re.compile(r"(0|[1-9][0-9]{0,18})\n")
_TURNS = 3  # another replica may get its checkpoint in between


@dataclass(frozen=True, slots=True)
class WitnessAnswer:
    """The reply of one witness: `lines` that hold, or `fault`, in words, why there are none."""

    witness: TrustedWitness
    lines: tuple[str, ...] = ()
    fault: str | None = None
    reached: bool = True


@dataclass(frozen=True, slots=True)
class CosigningResult:
    """The replies of the witnesses to one checkpoint; `lines` are empty unless they make the policy's quorum."""

    checkpoint: Checkpoint
    asked: tuple[WitnessAnswer, ...]
    lines: tuple[str, ...]

    @property
    def reached(self) -> bool:
        """True if any witness answered."""
        return any(each.reached for each in self.asked)


class Cosigner:
    """Asks the witnesses of one log. Remembers the size that each has seen, to spare a question."""

    def __init__(
        self,
        *,
        store: LedgerStore,
        policy: TrustPolicy,
        witnesses: Sequence[tuple[TrustedWitness, Witness]],
        deadline_s: float = 5.0,
    ) -> None:
        self._store = store
        self._policy = policy
        self._witnesses = tuple(witnesses)
        self.deadline_s = deadline_s
        self._seen: dict[str, int] = {}

    async def cosign(self, checkpoint: Checkpoint) -> CosigningResult:
        """Ask every witness at the same time, and keep the cosignatures in the store if they make the quorum. Raises
        LogForked if one has seen a checkpoint that this log cannot lead to; a witness that fails otherwise is a
        value."""
        asked = await asyncio.gather(*(self._ask(each, at, checkpoint) for each, at in self._witnesses))
        lines = tuple(line for each in asked for line in each.lines)
        enough = bool(lines) and self._policy.satisfied_by({each.witness.name for each in asked if each.lines})
        if enough:
            await self._store.add_cosignatures(checkpoint.head.size, lines)
        return CosigningResult(checkpoint, tuple(asked), lines if enough else ())

    async def aclose(self) -> None:
        """Close the connections."""
        for _, witness in self._witnesses:
            await witness.aclose()

    async def _ask(self, known: TrustedWitness, witness: Witness, checkpoint: Checkpoint) -> WitnessAnswer:
        try:
            async with asyncio.timeout(self.deadline_s):
                return await self._converse(known, witness, checkpoint)
        except (TimeoutError, WitnessUnavailable) as exc:
            return WitnessAnswer(known, fault=str(exc) or f"no answer within {self.deadline_s:g} s", reached=False)

    async def _converse(self, known: TrustedWitness, witness: Witness, checkpoint: Checkpoint) -> WitnessAnswer:
        size = checkpoint.head.size
        for _ in range(_TURNS):
            old = min(self._seen.get(known.name, 0), size)
            proof = await prove_consistency(self._store, old=old, head=checkpoint.head)
            reply = await witness.add_checkpoint(str(AddCheckpoint(old, proof, checkpoint.note)))
            match reply.status:
                case 200:
                    self._seen[known.name] = size
                    return _taken(known, checkpoint, reply.body)
                case 409:
                    seen = _size_in(reply)
                    if seen == old == size:
                        raise LogForked(f"witness {known.key.name} has cosigned another tree of {seen} leaves")
                    self._seen[known.name] = seen
                    if seen > size:
                        return await self._overtaken(known, seen)
                case 422:
                    raise LogForked(f"witness {known.key.name} has cosigned {old} leaves that are not this log's")
                case status:
                    return WitnessAnswer(known, fault=f"status {status}: {reply.body.strip()[:200]}")
        return WitnessAnswer(known, fault="its size changed at every turn")

    async def _overtaken(self, known: TrustedWitness, seen: int) -> WitnessAnswer:
        """The witness has seen more than this checkpoint: of a replica that was faster, or of what this store lost."""
        stored = await self._store.size()
        if seen > stored:
            raise LogForked(f"{stored} leaves are stored, witness {known.key.name} has cosigned {seen}")
        return WitnessAnswer(known, fault=f"it has cosigned {seen} leaves already")


def _taken(known: TrustedWitness, checkpoint: Checkpoint, body: str) -> WitnessAnswer:
    """The witness's own lines of its reply, once they hold; lines of other keys are ignored."""
    try:
        ours = [line for line in parse_signatures(body) if known.key.wrote(line)]
        lines = tuple(signature_line(known.key, line.signature) for line in ours)
        note = checkpoint.note + "".join(f"{line}\n" for line in lines)
        if cosigned_at(note, known.key) is None:
            return WitnessAnswer(known, fault="it answered without a cosignature of its key")
        parse_note(note)
    except LedgerError as exc:
        return WitnessAnswer(known, fault=f"its cosignature does not hold: {exc}")
    return WitnessAnswer(known, lines)


def _size_in(reply: WitnessReply) -> int:
    match = _SIZE.fullmatch(reply.body)
    if match is None or int(match[1]) > MAX_SIZE:
        raise WitnessUnavailable("the witness answers 409 without a size")
    return int(match[1])
