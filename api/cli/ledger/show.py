"""`exhibit ledger show`: one entry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from api.cli.console import bold, emit, table
from api.cli.ledger.common import Shard, utc, with_ledger
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from ledger.model import Entry


def show(
    entry_id: Annotated[str | None, typer.Argument(help="Id of the entry.")] = None,
    *,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", help="Instead: say what this receipt proves; needs no home.")
    ] = None,
    vkey: Annotated[
        list[str] | None, typer.Option("--vkey", help="With --receipt: the log's verifier key, from elsewhere.")
    ] = None,
    part: Annotated[str | None, typer.Option("--part", help="Print this part as recorded.")] = None,
    prov: Annotated[
        Literal["json", "provn", "jsonld"] | None, typer.Option("--prov", help="Print the provenance in this notation.")
    ] = None,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """One entry: what it commits to, and with --part the recorded bytes of a part."""
    from api.audit.entries.records import entry_json

    if (entry_id is None) == (receipt is None):
        raise typer.BadParameter("name an entry, or give --receipt")
    if receipt is not None:
        from api.cli.ledger.show_receipt import show_receipt
        from api.cli.ledger.verify import keys_of

        show_receipt(receipt, keys_of(vkey, home, shard), as_json=as_json)
        return
    if entry_id is None:
        raise AssertionError("one of the two was given")
    if prov is not None:
        from ledger.provenance.document import prov_jsonld, prov_n

        data = _part(entry_id, "prov", home, shard)
        print(data.decode() if prov == "json" else prov_n(data) if prov == "provn" else prov_jsonld(data))
        return
    if part is not None:
        data = _part(entry_id, part, home, shard)
        print(data.decode("utf-8", "replace"))
        return
    entry = with_ledger(home, lambda ledger: ledger.entry(entry_id), shard=shard)
    emit(entry_json(entry), as_json=as_json, render=lambda: _shown(entry))


def _part(entry_id: str, name: str, home: Path | None, shard: int | None) -> bytes:
    """A part in the clear. Raises EntryNotFound where the entry has none of that name."""
    from ledger.errors import EntryNotFound

    data: bytes = with_ledger(home, lambda ledger: ledger.part(entry_id, name), shard=shard)
    if not data:  # an absent part is committed to as no bytes
        raise EntryNotFound(f"entry {entry_id} has no part {name}")
    return data


def _shown(entry: Entry) -> str:
    leaf = entry.leaf
    head = [
        f"{bold(str(leaf.kind))} {leaf.entry_id}",
        f"index {entry.index}, {utc(leaf.t_ms)}, request {leaf.request_id}",
    ]
    refs = [f"{ref.rel} {ref.id}" for ref in leaf.refs]
    return "\n".join([*head, f"leaf {entry.leaf_hash}", *refs, "", table(["part", "commitment"], leaf.parts.items())])
