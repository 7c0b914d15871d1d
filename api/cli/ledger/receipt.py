"""`exhibit ledger receipt`: the receipt of an answer, as text or as a page that verifies itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import emit, note
from api.cli.ledger.common import EntryId, Shard, with_ledger, write_file
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from ledger.ledger import Ledger


def receipt(
    entry_id: EntryId,
    *,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one HTML file that verifies itself without network.")
    ] = None,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """The receipt with answer and cited sources; with --html a page of question, quotes, sources and provenance."""
    from api.cli.ledger.proof import receipt_of

    if html is None:
        text = with_ledger(home, lambda ledger: receipt_of(ledger, entry_id), shard=shard)
        emit({"entry_id": entry_id, "receipt": text}, as_json=as_json, render=lambda: text.rstrip("\n"))
        return

    async def page(ledger: Ledger) -> str:
        from api.web.receipt_page import receipt_page

        return await receipt_page(ledger, entry_id)

    text = with_ledger(home, page, shard=shard)
    write_file(html, text.encode())
    note("open it in a browser; compare the verifier key with one that you have from elsewhere")
    emit({"entry_id": entry_id, "file": str(html)}, as_json=as_json, render=lambda: str(html))
