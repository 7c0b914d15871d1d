"""`exhibit replay ENTRY --swap`: which component's change changes the answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from api.cli.console import configuration, emit, table
from api.problems import EXIT_VERIFICATION

if TYPE_CHECKING:
    from ai.replay.attribution import Attribution

NOTHING = "nothing"


def show_swaps(home: Path | None, entry_id: str | None, swap: str, *, as_json: bool) -> None:
    """Print what each swap changes. Exit code 7: something differs."""
    from ai.replay.attribution import Swap

    if entry_id is None:
        raise typer.BadParameter("--swap needs one entry")
    if swap != "all" and swap not in tuple(Swap):
        raise typer.BadParameter(f"--swap is one of {', '.join(Swap)} and all")
    found = asyncio.run(_attributed(home, entry_id, None if swap == "all" else Swap(swap)))
    rows = [[str(each.swap or NOTHING), each.differs_at or "", len(each.drift)] for each in found]
    headings, causes = ["today's", "differs at", "drift"], causes_of(found)
    emit(
        {"entry_id": entry_id, "swaps": [attribution_json(each) for each in found], "causes": causes},
        as_json=as_json,
        render=lambda: f"{table(headings, rows)}\n\ncause: {', '.join(causes) or 'no change'}",
    )
    if causes:
        raise typer.Exit(EXIT_VERIFICATION)


def causes_of(found: tuple[Attribution, ...]) -> list[str]:
    """The components whose swap alone changes something, a setting by its name; where nothing needs to be swapped the
    settings that are gone, else `software`."""
    [base] = [each for each in found if each.swap is None]
    if base.differs_at is not None:
        return [f"setting {name}" for name in base.changed] or ["software"]
    changing = [each for each in found if each.swap is not None and each.differs_at is not None]
    settings = [each for each in changing if each.swap == "settings"]
    alone = [each for each in settings if len(each.changed) == 1] or settings
    named = dict.fromkeys(f"setting {name}" for each in alone for name in each.changed)
    return [*(str(each.swap) for each in changing if each not in settings), *named]


def attribution_json(each: Attribution) -> dict[str, Any]:
    """One swap as a document."""
    return {
        "swap": str(each.swap or NOTHING),
        "differs_at": each.differs_at,
        "changed": list(each.changed),
        "stages": [{"name": stage.name, "same": stage.same, "detail": stage.detail} for stage in each.stages],
        "drift": [
            {"channel": d.channel, "what": d.what, "record_id": d.record_id, "detail": d.detail} for d in each.drift
        ],
    }


async def _attributed(home: Path | None, entry_id: str, swap: Any) -> tuple[Attribution, ...]:
    from ai.replay.attribution import attribute, attribute_all
    from api.wiring import open_system

    async with open_system(configuration(home)) as system:
        if swap is None:
            return await attribute_all(entry_id, services=system.services)
        return tuple([await attribute(entry_id, each, services=system.services) for each in (None, swap)])
