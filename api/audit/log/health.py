"""The health of the log as an auditor sees it: signed up to where, cosigned by whom and when, and what is missing.

It is what can be told without reading the whole log; `ledger verify` recomputes everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.errors import CheckpointPending, LedgerError
from ledger.ledger import Ledger
from ledger.model import Checkpoint, Entry
from ledger.notes.cosignature import cosigned_at
from ledger.notes.trust import TrustPolicy

LATE_MS = 180_000
"""Milliseconds after which an entry that is unsigned or without an outcome is a gap: no request may take so long."""
_OPEN_REQUESTS = 1_000


@dataclass(frozen=True, slots=True)
class CosigningWitness:
    """A witness, and the checkpoint that it cosigned last, with its own time; None where there is none that holds."""

    name: str
    key: str
    size: int | None
    cosigned_ms: int | None


@dataclass(frozen=True, slots=True)
class LogHealth:
    """The state of one log for one tenant at a time (UTC milliseconds). `newest_ms` is when the newest entry under the
    checkpoint was recorded, so that it was signed after that; `unsigned_since_ms` is when the oldest entry above it
    was. `quorum` says whether the newest checkpoint has its cosignatures, None where nobody is asked for any. `open`
    are the tenant's requests without an outcome, some of them still in work."""

    origin: str
    at_ms: int
    entries: int
    checkpoint: Checkpoint | None
    newest_ms: int | None
    unsigned_since_ms: int | None
    witnesses: tuple[CosigningWitness, ...]
    quorum: bool | None
    open: tuple[Entry, ...]
    forked: bool

    @property
    def unsigned(self) -> int:
        """The number of entries that no checkpoint covers."""
        return self.entries - (self.checkpoint.head.size if self.checkpoint else 0)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Codes of what is missing, the worst first."""
        late = self.at_ms - LATE_MS
        found = {
            "FORKED": self.forked,
            "UNSIGNED": self.unsigned_since_ms is not None and self.unsigned_since_ms < late,
            "UNWITNESSED": self.quorum is False,
            "UNFINISHED": any(entry.leaf.t_ms < late for entry in self.open),
        }
        return tuple(code for code, holds in found.items() if holds)


async def log_health(ledger: Ledger, *, tenant: str, policy: TrustPolicy | None, at_ms: int) -> LogHealth:
    """The health of the log now; `policy` names the witnesses that cosign, if any do. Raises LedgerUnavailable, and
    VerificationFailed for a checkpoint that the log's keys did not sign."""
    try:
        checkpoint = await ledger.latest_checkpoint()
    except CheckpointPending:
        checkpoint = None
    entries, signed = await ledger.size(), checkpoint.head.size if checkpoint else 0
    asked = policy is not None and not policy.asks_none
    return LogHealth(
        origin=ledger.origin,
        at_ms=at_ms,
        entries=entries,
        checkpoint=checkpoint,
        newest_ms=await _recorded_ms(ledger, signed - 1),
        unsigned_since_ms=await _recorded_ms(ledger, signed),
        witnesses=await _witnesses(ledger, policy) if policy is not None else (),
        quorum=_has_quorum(policy, checkpoint) if policy is not None and asked else None,
        open=await ledger.dangling(limit=_OPEN_REQUESTS, tenant=tenant),
        forked=ledger.fork is not None,
    )


async def _recorded_ms(ledger: Ledger, index: int) -> int | None:
    """When the entry of that index was recorded; None where there is none, or it was changed."""
    found = await ledger.listed(after=index - 1, limit=1) if index >= 0 else ()
    return found[0].leaf.t_ms if found and isinstance(found[0], Entry) else None


async def _witnesses(ledger: Ledger, policy: TrustPolicy) -> tuple[CosigningWitness, ...]:
    latest = await ledger.latest_cosigned()
    found = []
    for each in policy.witnesses:
        try:
            at_s = None if latest is None else cosigned_at(latest.text, each.key)
        except LedgerError:
            at_s = None
        size = None if latest is None or at_s is None else latest.head.size
        found.append(CosigningWitness(each.name, str(each.key), size, None if at_s is None else at_s * 1000))
    return tuple(found)


def _has_quorum(policy: TrustPolicy, checkpoint: Checkpoint | None) -> bool:
    try:
        return checkpoint is not None and policy.check(checkpoint.text) is not None
    except LedgerError:
        return False
