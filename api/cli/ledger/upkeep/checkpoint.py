"""`exhibit ledger checkpoint`: the signed head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import emit, note
from api.cli.ledger.common import Shard, with_ledger
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from ledger.ledger import Ledger


def checkpoint(
    *,
    size: Annotated[int | None, typer.Option("--size", min=0, help="That of this size; default: now.")] = None,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """The signed checkpoint of the log's head, and the key that verifies it."""

    async def both(ledger: Ledger) -> tuple[str, str]:
        text = await ledger.checkpoint() if size is None else (await ledger.checkpoint_of(size)).text
        return text, ledger.vkey

    text, vkey = with_ledger(home, both, shard=shard)
    note(f"verifier key: {vkey}")
    emit({"checkpoint": text, "vkey": vkey}, as_json=as_json, render=lambda: text.rstrip("\n"))
