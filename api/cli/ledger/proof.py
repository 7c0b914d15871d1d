"""`exhibit ledger proof`: the receipt of an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import emit
from api.cli.ledger.common import EntryId, Shard, with_ledger
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.ledger import Ledger


def proof(
    entry_id: EntryId,
    *,
    disclose: Annotated[
        list[str] | None,
        typer.Option("--disclose", help="Only this part or source, such as sources/2; may be given several times."),
    ] = None,
    size: Annotated[int | None, typer.Option("--size", min=1, help="Against the checkpoint of this size.")] = None,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """The receipt of an entry, which verifies offline: exhibit ledger verify --receipt FILE --vkey KEY."""
    text = with_ledger(home, lambda ledger: receipt_of(ledger, entry_id, disclose=disclose, size=size), shard=shard)
    emit({"entry_id": entry_id, "receipt": text}, as_json=as_json, render=lambda: text.rstrip("\n"))


async def receipt_of(
    ledger: Ledger, entry_id: str, *, disclose: Sequence[str] | None = None, size: int | None = None
) -> str:
    """The receipt; unless parts are named, with question or answer and the cited sources disclosed."""
    from api.audit.entries.records import disclosures

    names = await disclosures(await ledger.entry(entry_id), ledger) if disclose is None else disclose
    return await ledger.receipt(entry_id, disclose=names, size=size)
