"""`exhibit ledger diff`: two entries beside each other, and which difference explains the answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.console import bold, configuration, emit
from api.cli.options import AsJson, Home


def diff(
    one: Annotated[str, typer.Argument(help="Id of an entry.", metavar="A")],
    other: Annotated[str, typer.Argument(help="Id of the other entry.", metavar="B")],
    *,
    everything: Annotated[bool, typer.Option("--all", help="Show what is the same too.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """The differences between two entries, and, where both can be replayed, which of them explains the answer."""
    found = asyncio.run(_difference(home, one, other))
    emit(found, as_json=as_json, render=lambda: _text(found, everything=everything))


async def _difference(home: Path | None, one: str, other: str) -> dict[str, Any]:
    from api.audit.entries.difference import difference
    from api.wiring import open_system

    async with open_system(configuration(home)) as system:
        return await difference(system, one, other)


def _text(found: dict[str, Any], *, everything: bool) -> str:
    from api.web.page import strings

    names, lines = vars(strings().compare), list[str]()
    for row in found["rows"]:
        if row["same"] and not everything:
            continue
        lines.append(bold(names[row["name"]]) + (" (same)" if row["same"] else ""))
        if row["same"]:
            lines += [f"  {line}" for line in row["one"]]
        else:
            lines += [f"- {line}" for line in row["one"] if line not in row["other"]]
            lines += [f"+ {line}" for line in row["other"] if line not in row["one"]]
            lines += ["  the same in another order"] if sorted(row["one"]) == sorted(row["other"]) else []
    effects = [f"  {each['name']} alone: {each['effect']}" for each in found["explanation"]["effects"]]
    return "\n".join([*lines, "", found["explanation"]["text"], *effects])
