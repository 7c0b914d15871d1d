"""`exhibit ledger key`: the keys that sign the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from api.cli.console import emit, note
from api.cli.ledger.common import Shard, with_ledger
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from ledger.ledger import Ledger

app = typer.Typer(help="The keys that sign the log.", no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.command()
def create(*, home: Home = None, as_json: AsJson = False) -> None:
    """Make the log and its keys in a home that has none, so that the verifier key is known before the first entry."""
    import asyncio

    from api.cli.console import configuration
    from api.wiring import create_ledger

    vkey = asyncio.run(create_ledger(configuration(home)))
    note("the keys are in the folder keys of the home; keep a copy of it, apart from copies of the log")
    emit({"vkey": vkey}, as_json=as_json, render=lambda: vkey)


@app.command("list")
def list_keys(*, shard: Shard = None, home: Home = None, as_json: AsJson = False) -> None:
    """The verifier keys that have signed, oldest first; the last one signs now."""

    async def work(ledger: Ledger) -> list[dict[str, Any]]:
        chain = ledger.head.chain
        starts = [0, *(change.index + 1 for change in chain.changes)]
        return [{"vkey": str(key), "from_size": start} for key, start in zip(chain.keys, starts, strict=True)]

    found = with_ledger(home, work, shard=shard)
    emit(found, as_json=as_json, render=lambda: "\n".join(each["vkey"] for each in found))


@app.command()
def rotate(*, home: Home = None, as_json: AsJson = False) -> None:
    """Let a new key sign from now on. The entry that says so is signed by the old key and the new one."""

    async def work(ledger: Ledger) -> dict[str, Any]:
        entry = await ledger.rotate_key()
        return {"entry_id": entry.entry_id, "index": entry.index, "vkey": ledger.vkey}

    done = with_ledger(home, work)
    note("give the new verifier key to everyone who verifies; earlier receipts verify with the key that signed them")
    emit(done, as_json=as_json, render=lambda: done["vkey"])
