"""`exhibit ledger redact`: erase an entry, a subject or a source; the proofs stay."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, emit, kept_home, note, table
from api.cli.options import AsJson, Home, Tenant
from api.problems import EXIT_VERIFICATION

if TYPE_CHECKING:
    from api.audit.erasure.erasure import ErasureReport, Order


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
    """Delete salts, keys and contents, and every copy; print what went, and which proofs and grades are left. Exit code
    7: it went from the log, and a search found something of it in a file."""
    from api.audit.erasure.erasing import carry_out
    from api.audit.erasure.erasure import erased_json
    from api.wiring import require_corpus
    from ledger.erasure.redaction import Target

    if again:
        made = asyncio.run(_again(home, recorded))
        emit({"redactions": list(made)}, as_json=as_json, render=lambda: f"{len(made)} redactions carried out again")
        return
    if recorded is not None:
        raise typer.BadParameter("--recorded goes with --again")
    named = {Target.ENTRY: entry, Target.SUBJECT: subject, Target.SOURCE: source}
    given = [(target, name) for target, name in named.items() if name]
    if len(given) != 1 or not basis:
        raise typer.BadParameter("give one of --entry, --subject and --source, and --basis")
    configured = kept_home(home)
    if source:
        require_corpus(configured)
    erased = asyncio.run(carry_out(configured, _order(*given[0], tenant, basis, parts)))
    for each in erased.remains:
        note(f"left in {each.where}: {each.what}, until {each.until}")
    for where, count in erased.scan.hits if erased.scan else ():
        note(f"found in {where}: {count} fingerprints of what was erased")
    for where in erased.scan.unread if erased.scan else ():
        note(f"could not be searched: {where}")
    emit(erased_json(erased), as_json=as_json, render=lambda: _shown(erased))
    if erased.scan is not None and not erased.scan.clean:
        raise typer.Exit(EXIT_VERIFICATION)


def _order(target: Any, name: str, tenant: str, basis: str, parts: str | None) -> Order:
    from api.audit.erasure.erasure import Order
    from ledger.erasure.redaction import check_basis
    from ledger.errors import EntryRefused

    try:
        check_basis(basis)
    except EntryRefused as exc:
        raise typer.BadParameter(str(exc)) from None
    wanted = None if parts is None else tuple(part.strip() for part in parts.split(",") if part.strip())
    return Order(target, name, tenant, basis, wanted)


async def _again(home: Path | None, recorded: Path | None) -> tuple[str, ...]:
    from api.audit.erasure.erasing import carry_out_again
    from api.cli.ledger.common import read_text
    from ledger.erasure.redaction import load_details

    return await carry_out_again(kept_home(home), load_details("" if recorded is None else read_text(recorded)))


def _shown(erased: ErasureReport) -> str:
    rows = [
        [each.entry.index, each.entry.leaf.kind, each.entry.leaf.entry_id, len(each.erased), len(each.kept), each.grade]
        for each in erased.survivals
    ]
    listed = table(["index", "kind", "entry", "erased", "kept", "grade"], rows)
    copies = "".join(f"\n{name}: {count} gone" for name, count in erased.copies.items())
    told = f"{bold('every inclusion proof still holds')}; redactions: {', '.join(erased.redactions)}{copies}"
    return f"{listed}\n\n{told}{_scan_text(erased)}"


def _scan_text(erased: ErasureReport) -> str:
    scan = erased.scan
    if scan is None:
        return ""
    looked = f"{scan.files} files searched for {scan.prints} fingerprints"
    found = "nothing is left" if scan.clean else f"{len(scan.hits)} files hold some, {len(scan.unread)} were not read"
    return f"\n{looked}: {found} (entry {erased.scan_entry})"
