"""`exhibit ledger redact`: erase an entry, a subject or a source; the proofs stay."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit, note, table
from api.cli.options import AsJson, Home, Tenant

if TYPE_CHECKING:
    from api.erasure import Erased, Order


def redact(
    *,
    entry: Annotated[str | None, typer.Option("--entry", help="Id of an entry.")] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="Id of who asked, such as key:1f2e3d4c5b6a.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="Id of a source or document.")] = None,
    parts: Annotated[
        str | None, typer.Option("--parts", help="Only these parts, with commas; default: all that hold text.")
    ] = None,
    basis: Annotated[str | None, typer.Option("--basis", help="The ground, recorded: names no person.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="After a restore: carry out every recorded redaction once more.")
    ] = False,
    recorded: Annotated[
        Path | None, typer.Option("--recorded", help="With --again: redactions kept elsewhere, one detail a line.")
    ] = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Delete salts, keys and contents, and every copy; print what went, and which proofs and grades are left."""
    from api.erasure import erased_json
    from ledger.redaction import Target

    if again:
        made = asyncio.run(_again(home, recorded))
        emit({"redactions": list(made)}, as_json=as_json, render=lambda: f"{len(made)} redactions carried out again")
        return
    named = {Target.ENTRY: entry, Target.SUBJECT: subject, Target.SOURCE: source}
    given = [(target, name) for target, name in named.items() if name]
    if len(given) != 1 or not basis:
        raise typer.BadParameter("give one of --entry, --subject and --source, and --basis")
    erased = asyncio.run(_redact(home, _order(*given[0], tenant, basis, parts)))
    note("backups and write-ahead logs of a database server keep what they hold until they are recycled")
    emit(erased_json(erased), as_json=as_json, render=lambda: _shown(erased))


def _order(target: Any, name: str, tenant: str, basis: str, parts: str | None) -> Order:
    from api.erasure import Order
    from ledger.errors import EntryRefused
    from ledger.redaction import check_basis

    try:
        check_basis(basis)
    except EntryRefused as exc:
        raise typer.BadParameter(str(exc)) from None
    wanted = None if parts is None else tuple(part.strip() for part in parts.split(",") if part.strip())
    return Order(target, name, tenant, basis, wanted)


async def _redact(home: Path | None, order: Order) -> Erased:
    from dataclasses import replace

    from api.erasure import erase_from_ledger, forget_requests
    from api.searching import EntrySearch
    from api.wiring import new_id, open_entry_index, open_ledger
    from ledger.redaction import Target

    configured = configuration(home)
    async with open_ledger(configured) as ledger, open_entry_index(configured, origin=ledger.origin) as index:
        erased = await erase_from_ledger(order, EntrySearch(ledger, index), request_id=new_id())
    copies = {
        "idempotency records": await asyncio.to_thread(
            forget_requests,
            configured.home,
            tenant=order.tenant,
            subject=order.name if order.target is Target.SUBJECT else None,
            entry_ids={each.entry.leaf.entry_id for each in erased.survivals},
        )
    }
    if order.target is Target.SOURCE:
        from api.erasure_sources import erase_source
        from api.errors import NoSuchThing

        copies |= await erase_source(configured, order.name, tenant=order.tenant)
        if not erased.survivals and not any(copies.values()):
            raise NoSuchThing(f"tenant {order.tenant} has no source {order.name}")
    return replace(erased, copies=copies)


async def _again(home: Path | None, recorded: Path | None) -> tuple[str, ...]:
    from api.cli.ledger.common import read_text
    from api.erasure import erase_again, recorded_redactions
    from api.wiring import new_id, open_ledger
    from ledger.canonical import canonical_json

    kept = [] if recorded is None else [canonical_json(json.loads(line)) for line in read_text(recorded).splitlines()]
    async with open_ledger(configuration(home)) as ledger:
        return await erase_again(ledger, [*await recorded_redactions(ledger), *kept], request_id=new_id())


def _shown(erased: Erased) -> str:
    rows = [
        [each.entry.index, each.entry.leaf.kind, each.entry.leaf.entry_id, len(each.erased), len(each.kept), each.grade]
        for each in erased.survivals
    ]
    listed = table(["index", "kind", "entry", "erased", "kept", "grade"], rows)
    copies = "".join(f"\n{name}: {count} gone" for name, count in erased.copies.items())
    return (
        f"{listed}\n\n{bold('every inclusion proof still holds')}; redactions: {', '.join(erased.redactions)}{copies}"
    )
