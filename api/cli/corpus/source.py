"""`exhibit source`: the life of a source, from upload to erasure."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from api.cli.console import configuration, emit, note, table
from api.cli.options import AsJson, Home, Tenant

app = typer.Typer(
    help="List sources; label, withdraw, restore, supersede and erase them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
SourceId = Annotated[str, typer.Argument(metavar="SOURCE", help="Id of the source.")]
Why = Annotated[str, typer.Option("--why", help="The ground, recorded: names no person.")]


@app.command("list")
def list_sources(
    *,
    state: Annotated[str | None, typer.Option("--state", help="active, withdrawn, superseded or erased.")] = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Every version of every source, with its state and label."""
    found = asyncio.run(_listed(home, tenant, state))
    rows = [[v["source_id"], v["lifecycle"], v["label"], v["collection"], v["document_id"]] for v in found]
    emit(found, as_json=as_json, render=lambda: table(["source", "state", "label", "collection", "version"], rows))


@app.command()
def show(source_id: SourceId, tenant: Tenant = "default", home: Home = None, as_json: AsJson = False) -> None:
    """The versions of one source. Exit code 3: no such source."""
    _told(home, tenant, source_id, as_json=as_json, changes=False)


@app.command()
def history(source_id: SourceId, tenant: Tenant = "default", home: Home = None, as_json: AsJson = False) -> None:
    """The versions of one source, and who changed it when, as the ledger records it."""
    _told(home, tenant, source_id, as_json=as_json, changes=True)


@app.command()
def suspects(tenant: Tenant = "default", home: Home = None, as_json: AsJson = False) -> None:
    """List the sentences and rows of active sources that read like instructions; no search finds them."""
    found = asyncio.run(_suspects(home, tenant))
    rows = [[each["document_id"], f"{each['start_char']}-{each['end_char']}", each["text"]] for each in found]
    emit(found, as_json=as_json, render=lambda: table(["version", "characters", "text"], rows))


@app.command()
def label(
    source_id: SourceId,
    new: Annotated[str | None, typer.Argument(metavar="[LABEL]", help="public, internal, confidential ...")] = None,
    *,
    group: Annotated[list[str] | None, typer.Option("--group", help="Group that may see it; may be repeated.")] = None,
    everyone: Annotated[
        bool, typer.Option("--everyone", help="Remove all groups: everybody with the clearance sees it.")
    ] = False,
    handling: Annotated[list[str] | None, typer.Option("--handling", help="Handling tag; may be repeated.")] = None,
    why: Why = "",
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Give a source another label, groups or handling tags. It holds from the next read, in every channel."""
    from retrieval.ingest.upkeep.life import AccessChange

    groups = () if everyone else None if group is None else tuple(group)
    if new is None and groups is None and handling is None:
        raise typer.BadParameter("name a label, --group, --everyone or --handling")
    access = AccessChange(new, groups, None if handling is None else tuple(handling))
    _change("label", source_id, tenant, why, home=home, as_json=as_json, access=access)


@app.command()
def withdraw(
    source_id: SourceId, *, why: Why = "", tenant: Tenant = "default", home: Home = None, as_json: AsJson = False
) -> None:
    """Take a source out of every answer. Its versions stay, because old answers cite them."""
    _change("withdraw", source_id, tenant, why, home=home, as_json=as_json)


@app.command()
def supersede(
    source_id: SourceId,
    by: Annotated[str, typer.Option("--by", help="Id of the source that takes its place.")],
    *,
    why: Why = "",
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Mark a source as replaced by another one. Exit code 3: there is no such source."""
    _change("supersede", source_id, tenant, why, home=home, as_json=as_json, by=by)


@app.command()
def restore(
    source_id: SourceId,
    *,
    version: Annotated[str | None, typer.Option("--version", help="Id of the version; default: the last.")] = None,
    why: Why = "",
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Make a withdrawn or superseded version active again. Exit code 5: there is no such version, or one is active."""
    _change("restore", source_id, tenant, why, home=home, as_json=as_json, document_id=version)


@app.command()
def erase(
    source_id: SourceId,
    basis: Annotated[str, typer.Option("--basis", help="The ground, recorded: names no person.")],
    *,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Erase a source with all its versions, as `exhibit ledger redact --source` does."""
    from api.cli.ledger.upkeep.redact import redact

    redact(source=source_id, basis=basis, tenant=tenant, home=home, as_json=as_json)


def _change(action: Any, source_id: str, tenant: str, why: str, *, home: Any, as_json: bool, **more: Any) -> None:
    from api.audit.life.sources import SourceChange, change_source

    done = asyncio.run(change_source(configuration(home), SourceChange(action, source_id, tenant, why, **more)))
    note(f"recorded as {done['entry_id']}")
    emit(done, as_json=as_json, render=lambda: "\n".join(done["documents"]))


def _told(home: Any, tenant: str, source_id: str, *, as_json: bool, changes: bool) -> None:
    from api.audit.entries.export import time_text
    from api.audit.life.sources import history_of

    told = asyncio.run(history_of(configuration(home), tenant, source_id))
    if not changes:
        del told["changes"]
    rows = [[v["document_id"], v["lifecycle"], v["label"], v["collection"]] for v in told["versions"]]
    text = table(["version", "state", "label", "collection"], rows)
    if changes:
        made = [[time_text(c["t_ms"]), c["action"], c["who"], c["why"], c["entry_id"]] for c in told["changes"]]
        text += "\n\n" + table(["time", "change", "who", "why", "entry"], made)
    emit(told, as_json=as_json, render=lambda: text)


async def _suspects(home: Any, tenant: str) -> list[dict[str, Any]]:
    from api.home.backends import backends_of
    from api.wiring import open_bundle, open_indexes, require_corpus, suspicion
    from retrieval.ingest.identity import plain_name
    from retrieval.ingest.upkeep.suspects import suspects as suspects_of

    configured = configuration(home)
    require_corpus(configured)
    suspect = suspicion(open_bundle(backends_of(configured).policy).data)
    async with open_indexes(configured) as (store, _, _indexes):
        return [
            {
                "source_id": record.source_id,
                "document_id": record.document_id,
                "start_char": record.locator.start_char,
                "end_char": record.locator.end_char,
                "text": plain_name(record.statement or record.text),
            }
            async for record in suspects_of(store, tenant, suspect)
        ]


async def _listed(home: Any, tenant: str, state: str | None) -> list[dict[str, Any]]:
    from api.audit.life.sources import version_json
    from api.wiring import open_indexes, require_corpus
    from retrieval.model import Lifecycle

    configured = configuration(home)
    require_corpus(configured)
    states = [each for each in Lifecycle if state in (None, each.value)]
    if not states:
        raise typer.BadParameter(f"--state is one of {', '.join(Lifecycle)}")
    async with open_indexes(configured) as (store, _, _indexes):
        held = [each for one in states for each in await store.stored(tenant, one)]
        names = sorted({each.source_id for each in held})
        found = [(name, facts) for name in names for facts in await store.versions(tenant, name)]
    return [{"source_id": name, **version_json(facts)} for name, facts in found if facts.lifecycle in states]
