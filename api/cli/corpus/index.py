"""`exhibit index`: the channels' indexes, which derive from the store of record."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import configuration, emit, note, table
from api.cli.options import AsJson, Home, Tenant
from api.problems import EXIT_FAILED, EXIT_VERIFICATION

if TYPE_CHECKING:
    from retrieval.registry.sums import Damage

app = typer.Typer(
    help="Compare, verify, rebuild and repair the channels' indexes; withdraw sources.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.command()
def status(home: Home = None, as_json: AsJson = False) -> None:
    """Documents in each channel against the store. Exit code 1: they differ."""
    found = asyncio.run(compared(configuration(home)))
    rows = [[c["channel"], c["documents"], c["missing"], c["fault"] or c["stale"]] for c in found["channels"]]
    text = f"store: {found['documents']} documents\n\n"
    emit(found, as_json=as_json, render=lambda: text + table(["channel", "documents", "missing", "stale"], rows))
    if not found["consistent"]:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def rebuild(home: Home = None, as_json: AsJson = False) -> None:
    """Empty every channel and fill it from the store."""
    count = asyncio.run(_rebuild(configuration(home)))
    emit({"documents": count}, as_json=as_json, render=lambda: f"{count} documents")


@app.command()
def upgrade(
    *,
    backed_up: Annotated[
        bool, typer.Option("--backed-up", help="A backup of the server's database has been made.")
    ] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Upgrade a store of record on a PostgreSQL server to this version. A file in the home is copied and upgraded when
    it is opened."""
    from api.errors import RequestRejected
    from api.wiring import upgrade_records

    if not backed_up:
        raise RequestRejected("back the server's database up first, then give --backed-up")
    found, now = asyncio.run(upgrade_records(configuration(home)))
    emit({"from": found, "to": now}, as_json=as_json, render=lambda: f"schema {found} to {now}")


@app.command()
def reembed(
    *,
    force: Annotated[bool, typer.Option("--force", help="Even if the vectors are already of this model.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Recompute the vectors with the embedding model of the settings, beside the old ones, which are used until the
    end. If interrupted, it continues where it stopped."""
    done = asyncio.run(_reembed(configuration(home), force=force))
    emit(done, as_json=as_json, render=lambda: _told(done))


def _told(done: dict[str, Any]) -> str:
    if done["documents"] is None:
        return f"the vectors are of {done['model']} already"
    taken_up = f", {done['resumed']} of an earlier run" if done["resumed"] else ""
    return f"{done['documents']} documents with {done['model']} ({done['dimension']} dimensions){taken_up}"


@app.command()
def repair(tenant: Tenant = "default", home: Home = None, as_json: AsJson = False) -> None:
    """Add what a channel lacks and remove what it should not hold."""
    found = asyncio.run(_repair(configuration(home), tenant))
    emit(found, as_json=as_json, render=lambda: "consistent" if found["consistent"] else "still not consistent")
    if not found["consistent"]:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def remove(
    source_ids: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Source ids, as citations show them.")],
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw sources: from every answer at once, then from every channel. Exit code 3: no such source."""
    gone = asyncio.run(_remove(configuration(home), source_ids, tenant))
    emit({"withdrawn": list(gone)}, as_json=as_json, render=lambda: "\n".join(gone))


@app.command()
def verify(home: Home = None, as_json: AsJson = False) -> None:
    """Compare everything that is kept of the documents with the sums that ingest wrote, and with them what the indexes
    of graph and figures state. Exit code 7: something is not what was stored; each is named."""
    found = asyncio.run(damaged(configuration(home)))
    told = [{"name": each.name, "part": each.part} for each in found]
    shown = "\n".join(f"damaged: {each}" for each in found) or "intact"
    emit({"intact": not found, "damage": told}, as_json=as_json, render=lambda: shown)
    if found:
        raise typer.Exit(EXIT_VERIFICATION)


async def damaged(configured: Any) -> tuple[Damage, ...]:
    """Everything of the corpus that is not what was stored. Raises IndexNotReady for a folder without a corpus,
    StoreDamaged where nothing can be told apart."""
    from api.home.backends import backends_of
    from api.wiring import open_bundle, open_indexes, require_corpus, suspicion
    from retrieval.ingest.upkeep.damage import damage_of

    require_corpus(configured)
    suspect = suspicion(open_bundle(backends_of(configured).policy).data)
    async with open_indexes(configured) as (store, _, indexes):
        return await damage_of(store, indexes, suspect=suspect)


async def compared(configured: Any) -> dict[str, Any]:
    """Compare the contents of each channel with the active documents of the store. Raises IndexNotReady for a folder
    without a corpus."""
    from api.wiring import open_indexes, require_corpus
    from retrieval.errors import ChannelError, IndexNotReady

    require_corpus(configured)
    async with open_indexes(configured) as (store, _, indexes):
        active: set[str] = set()
        for tenant in await store.tenants():
            active |= {document.document_id for document in await store.stored(tenant)}
        channels = []
        for index in indexes:
            fault, held = None, frozenset[str]()
            try:
                held = await index.documents()
            except (ChannelError, IndexNotReady) as exc:
                fault = str(exc)
            # A channel keeps only what it can search: not every document has a place or an edge.
            channels.append(
                {
                    "channel": str(index.name),
                    "documents": len(held),
                    "missing": len(active - held),
                    "stale": len(held - active),
                    "fault": fault,
                }
            )
    consistent = all(c["missing"] == 0 and c["stale"] == 0 and c["fault"] is None for c in channels)
    return {"documents": len(active), "channels": channels, "consistent": consistent}


async def _remove(configured: Any, source_ids: list[str], tenant: str) -> tuple[str, ...]:
    from api.errors import NoSuchThing
    from api.wiring import open_ingest, require_corpus

    require_corpus(configured)
    async with open_ingest(configured) as ingest:
        gone = await ingest.remove(source_ids, tenant=tenant)
    if not gone:
        raise NoSuchThing(f"tenant {tenant} has no active source of that name")
    return gone


async def _rebuild(configured: Any) -> int:
    from api.wiring import open_ingest, require_corpus

    require_corpus(configured)
    async with open_ingest(configured) as ingest:
        return await ingest.rebuild()


async def _reembed(configured: Any, *, force: bool) -> dict[str, Any]:
    from api.home.backends import backends_of
    from api.wiring import open_bundle, open_renewal, require_corpus, suspicion
    from retrieval.ingest.upkeep.reembed import reembed as make_anew

    require_corpus(configured)
    async with open_renewal(configured) as (store, current, renewal, embedder):
        model = await embedder.identity()
        done = await make_anew(
            store=store,
            current=current,
            renewal=renewal,
            suspect=suspicion(open_bundle(backends_of(configured).policy).data),
            force=force,
            progress=lambda count, total: note(f"{count} of {total} documents"),
        )
    return {
        "model": model.name,
        "dimension": model.dimension,
        "documents": None if done is None else done.documents,
        "resumed": None if done is None else done.resumed,
    }


async def _repair(configured: Any, tenant: str) -> dict[str, Any]:
    from api.wiring import open_ingest, require_corpus

    require_corpus(configured)
    async with open_ingest(configured) as ingest:
        await ingest.repair(tenant)
    return await compared(configured)
