"""`exhibit ledger package`: a grounded answer as one file, and whether such a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import emit, note
from api.cli.ledger.common import CheckedKeys, Shard, read_bytes, with_ledger, write_file
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from ledger.ledger import Ledger


def package(
    entry_id: Annotated[str | None, typer.Argument(help="Id of an outcome entry.")] = None,
    *,
    out: Annotated[Path | None, typer.Option("--out", help="The file to write (zip).")] = None,
    check: Annotated[
        Path | None, typer.Option("--check", help="Instead: verify the package in that file, without a home.")
    ] = None,
    vkey: CheckedKeys = None,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Question, answer, bundle, quotes, sources, decisions, provenance and receipts in one file, with a page that
    verifies them offline. With --check everything is made again from the receipts and compared; exit code 7: it
    does not hold."""
    if check is not None:
        if entry_id is not None or out is not None or not vkey:
            raise typer.BadParameter("--check takes the file and --vkey, and nothing else")
        _check(check, vkey, as_json=as_json)
        return
    if entry_id is None or out is None or vkey:
        raise typer.BadParameter("name an entry and --out, or give --check and --vkey")
    data = with_ledger(home, lambda ledger: _made(ledger, entry_id), shard=shard)
    write_file(out, data)
    note(f"verify it: exhibit ledger package --check {out} --vkey KEY")
    emit({"entry_id": entry_id, "file": str(out), "bytes": len(data)}, as_json=as_json, render=lambda: str(out))


async def _made(ledger: Ledger, entry_id: str) -> bytes:
    from api.audit.entries.records import INTENT_PARTS, auditors_parts
    from api.web.answer_package import package_of

    entry = await ledger.entry(entry_id)
    return await package_of(entry, ledger, parts=await auditors_parts(entry, ledger), asked=INTENT_PARTS)


def _check(file: Path, vkeys: list[str], *, as_json: bool) -> None:
    from api.web.answer_package import check_package

    checked = check_package(read_bytes(file), vkeys=vkeys)
    entry_id = checked.outcome.leaf.entry_id
    document = {
        "verdict": "intact",
        "entry_id": entry_id,
        "origin": checked.outcome.origin,
        "files": checked.files,
        "page_compared": checked.page_compared,
    }
    said = [f"intact: all {len(checked.files)} files are what the receipts of entry {entry_id} prove"]
    if not checked.page_compared:
        said.append("verify.html was made by another version of this software and was not compared")
    emit(document, as_json=as_json, render=lambda: "\n".join(said))
