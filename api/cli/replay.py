"""`exhibit replay`: recorded answers recomputed, to a grade."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit, table
from api.cli.options import AsJson, Home
from api.problems import EXIT_VERIFICATION

if TYPE_CHECKING:
    from ai.replay import Replayed
    from api.wiring import System

app = typer.Typer(help="Recompute recorded answers and grade them.", add_completion=False, rich_markup_mode=None)
_PAGE = 500


class UpTo(StrEnum):
    """Grades that can be tried for."""

    R0 = "R0"
    R1 = "R1"
    R2 = "R2"
    R3 = "R3"


@app.command()
def replay(
    entry_id: Annotated[str | None, typer.Argument(help="Id of an outcome entry.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every entry of the ledger.")] = False,
    since: Annotated[datetime | None, typer.Option("--since", help="Every entry from this time (UTC) on.")] = None,
    up_to: Annotated[
        UpTo, typer.Option("--to", help="The grade to try for; R2 asks the model again, R3 the stores too.")
    ] = UpTo.R2,
    swap: Annotated[
        str | None,
        typer.Option("--swap", help="model, template, policy, index or all: today's, everything else as recorded."),
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """R0: bytes and proofs hold. R1: moreover the deterministic shell gives the recorded bytes again. R2: moreover the
    same model gives the recorded words again. R3: moreover the stores find the same again; what they find otherwise is
    listed as drift. Exit code 7: something fell short of what its kind can reach (outcomes
    with a repeatable model call R2, other outcomes and searches R1, all else R0)."""
    if (entry_id is not None) + everything + (since is not None) != 1:
        raise typer.BadParameter("name an entry, or give --all or --since")
    if swap is not None:
        from api.cli.replay_swap import show_swaps

        show_swaps(home, entry_id, swap, as_json=as_json)
        return
    results = asyncio.run(_replay(home, entry_id, up_to, _since_ms(since)))
    rows = [[r.entry_id, r.kind, r.grade, r.differs_at or "", ",".join(r.changed), len(r.drift) or ""] for r in results]
    tally = ", ".join(f"{count} {grade}" for grade, count in sorted(grades(results).items()))
    emit(
        {"entries": [replayed_json(r) for r in results], "grades": grades(results)},
        as_json=as_json,
        render=lambda: (
            table(["entry", "kind", "grade", "differs at", "changed settings", "drift"], rows) + f"\n\n{bold(tally)}"
        ),
    )
    if not all(r.reproduced for r in results):
        raise typer.Exit(EXIT_VERIFICATION)


def _since_ms(since: datetime | None) -> int:
    if since is None:
        return 0
    return round((since if since.tzinfo else since.replace(tzinfo=UTC)).timestamp() * 1000)


async def _replay(home: Path | None, entry_id: str | None, up_to: UpTo, since_ms: int) -> list[Replayed]:
    from api.wiring import open_system

    async with open_system(configuration(home)) as system:
        if entry_id is not None:
            from ai.replay import Grade
            from ai.replay import replay as replay_one
            from api.recorded_policy import recorded_policies

            async with recorded_policies(system) as policies:
                services = await policies.services_of(entry_id)
                return [await replay_one(entry_id, services=services, up_to=Grade(up_to))]
        return [result async for result in replay_all(system, up_to=up_to, since_ms=since_ms)]


async def replay_all(system: System, *, up_to: UpTo, since_ms: int = 0) -> AsyncIterator[Replayed]:
    """Every entry of that time or later by index, each under the policy that decided it."""
    from ai.replay import Grade
    from ai.replay import replay as replay_one
    from api.recorded_policy import recorded_policies

    after = -1
    async with recorded_policies(system) as policies:
        while page := await system.services.ledger.entries(after=after, limit=_PAGE):
            for entry in (each for each in page if each.leaf.t_ms >= since_ms):
                services = await policies.services_of(entry.leaf.entry_id)
                yield await replay_one(entry.leaf.entry_id, services=services, up_to=Grade(up_to))
            after = page[-1].index


def grades(results: list[Replayed]) -> dict[str, int]:
    """How many entries have each grade."""
    tally: dict[str, int] = {}
    for result in results:
        tally[str(result.grade)] = tally.get(str(result.grade), 0) + 1
    return tally


def replayed_json(result: Replayed) -> dict[str, Any]:
    """One result as a document."""
    return {
        "entry_id": result.entry_id,
        "kind": str(result.kind),
        "grade": str(result.grade),
        "differs_at": result.differs_at,
        "stages": [{"name": s.name, "same": s.same, "detail": s.detail} for s in result.stages],
        "changed": list(result.changed),
        "erased": list(result.erased),
        "limit": result.limit,
        "drift": [asdict(drift) for drift in result.drift],
    }
