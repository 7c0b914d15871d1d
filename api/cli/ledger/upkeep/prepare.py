"""`exhibit ledger prepare`: roles and tables of a log in PostgreSQL, by an administrator."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from api.cli.console import emit
from api.cli.options import AsJson


def prepare(
    *,
    dsn: Annotated[str, typer.Option("--dsn", help="Connection of a role that may create roles and schemas.")],
    writer: Annotated[list[str] | None, typer.Option("--writer", help="A login role that may write.")] = None,
    redactor: Annotated[list[str] | None, typer.Option("--redactor", help="A login role that may erase too.")] = None,
    shard: Annotated[
        int, typer.Option("--shard", min=1, help="Number of the log; above 1 beside one that was put back.")
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Make what is not there, owned by a role that cannot log in, and let login roles use it."""
    from api.wiring.ledger.server import prepare_ledger_server

    writers, redactors = list(writer or ()), list(redactor or ())
    asyncio.run(prepare_ledger_server(dsn, writers=writers, redactors=redactors, shard=shard))
    emit(
        {"writers": writers, "redactors": redactors, "shard": shard},
        as_json=as_json,
        render=lambda: "the log's tables are ready",
    )
