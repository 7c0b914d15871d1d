"""`exhibit ledger export`: the whole log as C2SP tlog-tiles lays it out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from api.cli.console import emit, note
from api.cli.ledger.common import Shard, with_ledger, write_file
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from ledger.ledger import Ledger


PAGE = "verify.html"


def export(
    folder: Annotated[Path, typer.Argument(help="A folder that is empty or not there.")],
    *,
    format: Annotated[Literal["c2sp"], typer.Option("--format", help="c2sp: checkpoint, tiles, bundles.")] = "c2sp",
    size: Annotated[int | None, typer.Option("--size", min=0, help="At that checkpoint; default: now.")] = None,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Write checkpoint, tiles and entry bundles, which strangers' tools verify: exhibit ledger verify --export DIR, or
    the page verify.html in a browser, which is the same file for every log."""
    from api.errors import HomeInUse
    from api.web.log_page import log_page

    del format
    page = log_page()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise HomeInUse(f"{folder} is not empty")

    async def work(ledger: Ledger) -> dict[str, Any]:
        if size is None:
            await ledger.checkpoint()
        checkpoint = await ledger.latest_checkpoint() if size is None else await ledger.checkpoint_of(size)
        files = 0
        async for path, data in ledger.export(checkpoint):
            write_file(folder / path, data, parents=True)
            files += 1
        write_file(folder / "vkey", "".join(f"{vkey}\n" for vkey in ledger.vkeys).encode(), parents=True)
        write_file(folder / PAGE, page.encode(), parents=True)
        return {"folder": str(folder), "size": checkpoint.head.size, "files": files, "vkeys": list(ledger.vkeys)}

    done = with_ledger(home, work, shard=shard)
    note("verify it: exhibit ledger verify --export DIR --vkey KEY")
    emit(done, as_json=as_json, render=lambda: f"{done['size']} entries in {done['files']} files in {folder}")
