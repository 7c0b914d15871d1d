"""`exhibit ledger scrub`: after an erasure, what the write-ahead log of a PostgreSQL server still holds."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from api.cli.console import emit, note
from api.cli.options import AsJson


def scrub(
    *,
    dsn: Annotated[str, typer.Option("--dsn", help="Connection of a superuser of the server.")],
    as_json: AsJson = False,
) -> None:
    """Overwrite the write-ahead log of a PostgreSQL server, which keeps what was erased until it is reused. Run it for
    each server of the home. Slots, standbys, archives and backups keep their own copies; the first are named."""
    from api.wiring.ledger.server import scrub_server

    done = asyncio.run(scrub_server(dsn))
    for each in done.held_by:
        note(f"older bytes may be held by {each}")
    emit(
        {"files": done.files, "switches": done.switches, "held_by": list(done.held_by)},
        as_json=as_json,
        render=lambda: f"{done.files} files of the write-ahead log were overwritten or removed",
    )
