"""Witnesses for tests: real ones over files in a folder, a policy over them, and doubles that fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ledger.errors import WitnessUnavailable
from ledger.notes.cosignature import witness_signing_key
from ledger.notes.note import SigningKey, VerifierKey
from ledger.notes.trust import TrustedWitness, TrustPolicy, parse_policy
from ledger.stores.store import LedgerStore
from ledger.witnesses.cosigning import Cosigner
from ledger.witnesses.sqlite import SqliteWitness
from ledger.witnesses.witness import Witness, WitnessReply

T0_S = 1_700_000_100


def witness_key(number: int) -> SigningKey:
    """The key of witness n, of an operator of its own."""
    return witness_signing_key(f"w{number}.example/witness", bytes([number]) * 32)


def policy_text(log: VerifierKey, count: int = 2, quorum: str = "all") -> bytes:
    """A policy over that many witnesses of as many operators."""
    lines = [f"log {log}", *(f"witness w{n} {witness_key(n).verifier}" for n in range(1, count + 1))]
    lines += [f"group q {quorum} " + " ".join(f"w{n}" for n in range(1, count + 1)), "quorum q"]
    return ("\n".join(lines) + "\n").encode()


@dataclass
class Deaf:
    """A witness that cannot be reached while `deaf`, and counts what it is asked."""

    behind: Witness
    deaf: bool = False
    asked: list[str] = field(default_factory=list)

    async def add_checkpoint(self, request: str) -> WitnessReply:
        self.asked.append(request)
        if self.deaf:
            raise WitnessUnavailable("no route")
        return await self.behind.add_checkpoint(request)

    async def aclose(self) -> None:
        await self.behind.aclose()


@dataclass
class Says:
    """A witness that answers what it was told to."""

    replies: Sequence[WitnessReply]
    asked: list[str] = field(default_factory=list)

    async def add_checkpoint(self, request: str) -> WitnessReply:
        self.asked.append(request)
        return self.replies[min(len(self.asked), len(self.replies)) - 1]

    async def aclose(self) -> None:
        pass


async def open_witness(
    folder: Path, log: VerifierKey, number: int, clock_s: Callable[[], int] = lambda: T0_S
) -> SqliteWitness:
    """Witness n over its file in the folder."""
    path = folder / f"witness-{number}.sqlite"
    return await SqliteWitness.open(path, key=witness_key(number), logs={log.name: [log]}, clock_s=clock_s)


def cosigner_of(store: LedgerStore, policy: bytes | TrustPolicy, witnesses: Sequence[Witness]) -> Cosigner:
    """A cosigner that asks these witnesses in the order of the policy."""
    parsed = policy if isinstance(policy, TrustPolicy) else parse_policy(policy)
    pairs = paired(parsed, witnesses)
    return Cosigner(store=store, policy=parsed, witnesses=pairs, deadline_s=5.0)


def paired(policy: TrustPolicy, witnesses: Sequence[Witness]) -> list[tuple[TrustedWitness, Witness]]:
    """The witnesses of a policy with those that answer for them, in its order."""
    return list(zip(policy.witnesses, witnesses, strict=True))
