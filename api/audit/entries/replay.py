"""A recorded entry computed again under the policy that decided it, and the result as a document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ai.replay.replay import Grade, ReplayReport, replay
from api.audit.entries.recorded_policy import recorded_policies
from api.wiring import System


async def replay_entry(entry_id: str, *, system: System, up_to: Grade) -> ReplayReport:
    """Replay one entry, up to a grade. Raises EntryNotFound; what does not hold is in the report."""
    async with recorded_policies(system) as policies:
        return await replay(entry_id, services=await policies.services_of(entry_id), up_to=up_to)


def replay_document(report: ReplayReport) -> dict[str, Any]:
    """One report as JSON values."""
    return {
        "entry_id": report.entry_id,
        "kind": str(report.kind),
        "grade": str(report.grade),
        "verdict": str(report.verdict),
        "missing": list(report.missing),
        "differs_at": report.differs_at,
        "stages": [asdict(stage) for stage in report.stages],
        "changed": list(report.changed),
        "erased": list(report.erased),
        "limit": report.limit,
        "drift": [asdict(drift) for drift in report.drift],
        "parts": [asdict(part) for part in report.parts],
    }
