"""`exhibit tenant`: tenants are made, suspended, resumed, limited, exported and erased."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.console import configuration, emit, kept_home, note, table
from api.cli.options import AsJson, Home
from api.problems import EXIT_VERIFICATION

app = typer.Typer(
    help="Tenants: make, suspend, limit, export, erase.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Name = Annotated[str, typer.Argument(help="Name of the tenant.")]
Why = Annotated[str, typer.Option("--why", help="Why, in words; kept on the ledger.")]
_NONE = "none"


@app.command()
def create(
    name: Name,
    quota: Annotated[
        str | None, typer.Option("--quota", help="Requests of all its callers, such as 600/minute.")
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Make a tenant, with a key of its own on the ledger."""
    from api.audit.life.tenants import create_tenant

    _done(create_tenant(configuration(home), name, quota), f"{name} made", as_json=as_json)


@app.command("list")
def list_tenants(home: Home = None, as_json: AsJson = False) -> None:
    """Every tenant that was made, has a key or has a document."""
    from api.audit.life.tenants import tenants_of

    found = asyncio.run(tenants_of(kept_home(home)))
    rows = [[t["name"], t["state"], t["quota"] or _NONE, t["keys"], t["documents"]] for t in found]
    emit(found, as_json=as_json, render=lambda: table(["name", "state", "quota", "keys", "documents"], rows))


@app.command()
def suspend(name: Name, why: Why = "", home: Home = None, as_json: AsJson = False) -> None:
    """Refuse every caller of the tenant from the next request on, with TENANT_SUSPENDED. Nothing is deleted."""
    from api.audit.life.tenants import suspend_tenant

    _done(suspend_tenant(kept_home(home), name, why), f"{name} suspended", as_json=as_json)


@app.command()
def resume(name: Name, why: Why = "", home: Home = None, as_json: AsJson = False) -> None:
    """Answer the tenant's callers again."""
    from api.audit.life.tenants import resume_tenant

    _done(resume_tenant(kept_home(home), name, why), f"{name} answered again", as_json=as_json)


@app.command()
def quota(
    name: Name,
    limit: Annotated[str, typer.Argument(help="COUNT/second, /minute, /hour or /day; none: the setting's.")],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Limit the requests of all callers of the tenant together; beyond it they get RATE_LIMITED."""
    from api.audit.life.tenants import set_quota

    wanted = None if limit == _NONE else limit
    _done(set_quota(kept_home(home), name, wanted), f"{name}: {limit}", as_json=as_json)


@app.command()
def export(
    name: Name,
    folder: Annotated[Path, typer.Argument(help="Folder to make; it must not exist.")],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Write what the home holds of the tenant: documents with their wording, entries with their parts, keys without
    tokens. In the clear, for the owner of the folder alone."""
    from api.audit.life.tenants import export_tenant

    counted = asyncio.run(export_tenant(kept_home(home), name, folder))
    told = ", ".join(f"{count} {what}" for what, count in counted.items())
    emit({"folder": str(folder), **counted}, as_json=as_json, render=lambda: f"{told} in {folder}")


@app.command()
def erase(
    name: Name,
    basis: Annotated[str, typer.Option("--basis", help="The ground, recorded: names no person.")],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Revoke the tenant's keys, erase its sources and every entry that it made, and search all files for what went.
    Exit code 7: a search found something of it in a file."""
    from api.audit.erasure.erasure import erased_json
    from api.audit.life.tenants import erase_tenant
    from ledger.erasure.redaction import check_basis
    from ledger.errors import EntryRefused

    try:
        check_basis(basis)
    except EntryRefused as exc:
        raise typer.BadParameter(str(exc)) from None
    report = asyncio.run(erase_tenant(kept_home(home), name, basis))
    document = {"name": name, "erased": report and erased_json(report)}
    for where, count in report.scan.hits if report and report.scan else ():
        note(f"found in {where}: {count} fingerprints of what was erased")
    entries = len(report.survivals) if report else 0
    emit(
        document, as_json=as_json, render=lambda: f"{name} erased: {entries} entries; every inclusion proof still holds"
    )
    if report is not None and report.scan is not None and not report.scan.clean:
        raise typer.Exit(EXIT_VERIFICATION)


def _done(work: Coroutine[Any, Any, str], told: str, *, as_json: bool) -> None:
    entry_id = asyncio.run(work)
    emit({"entry_id": entry_id}, as_json=as_json, render=lambda: f"{told}; recorded as {entry_id}")
