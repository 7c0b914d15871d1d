"""`exhibit config`: the settings and where they come from."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.console import configuration, emit, table
from api.cli.options import AsJson, Home

app = typer.Typer(
    help="The settings and where they come from.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


@app.callback()
def group() -> None:
    """The settings and where they come from."""


@app.command()
def show(
    home: Home = None,
    as_json: AsJson = False,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value came from.")] = False,
) -> None:
    """Every setting; secrets are masked."""
    settings = configuration(home).shown()
    rows = [{"name": s.name, "value": s.value} | ({"origin": s.origin} if origin else {}) for s in settings]
    headings = ["name", "value", "origin"] if origin else ["name", "value"]
    emit(rows, as_json=as_json, render=lambda: table(headings, [list(row.values()) for row in rows]))
