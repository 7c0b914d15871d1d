"""`exhibit ledger search`: entries by what an auditor knows of them."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import configuration, emit, note, table
from api.cli.ledger.common import Shard, tell_damaged
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from api.schemas.ledger.search import EntryFilters

_PAGE = 500
Tenant = Annotated[str | None, typer.Option("--tenant", help="Only this tenant; default: all.")]
Kind = Annotated[str | None, typer.Option("--kind", help="Only this kind.")]
EntryId = Annotated[str | None, typer.Option("--id", help="Id of the entry.")]
Hash = Annotated[str | None, typer.Option("--hash", help="Leaf hash, 64 hex digits.")]
RequestId = Annotated[str | None, typer.Option("--request", help="Id of the request.")]
Text = Annotated[str | None, typer.Option("--text", help="Words of the question, the answer or a quote.")]
Actor = Annotated[str | None, typer.Option("--actor", help="Pseudonym of who asked.")]
Subject = Annotated[str | None, typer.Option("--subject", help="Id of who asked, such as key:1f2e3d4c5b6a.")]
Outcome = Annotated[str | None, typer.Option("--outcome", help="ANSWER, ABSTAIN, DENY or FAULT.")]
Rule = Annotated[str | None, typer.Option("--rule", help="Policy rule or reason code that spoke.")]
Model = Annotated[str | None, typer.Option("--model", help="Name of the model.")]
Place = Annotated[str | None, typer.Option("--place", help="Name or id of a place.")]
Source = Annotated[str | None, typer.Option("--source", help="Id of a source or document that was admitted.")]
Cited = Annotated[str | None, typer.Option("--cited", help="Id of a source or document that the answer cites.")]
Since = Annotated[datetime | None, typer.Option("--since", help="Recorded at this time (UTC) or later.")]
Until = Annotated[datetime | None, typer.Option("--until", help="Recorded before this time (UTC).")]
After = Annotated[int, typer.Option("--after", help="Only entries above this index.")]


def search(
    *,
    tenant: Tenant = None,
    kind: Kind = None,
    entry_id: EntryId = None,
    leaf_hash: Hash = None,
    request_id: RequestId = None,
    text: Text = None,
    actor: Actor = None,
    subject: Subject = None,
    outcome: Outcome = None,
    rule: Rule = None,
    model: Model = None,
    place: Place = None,
    source: Source = None,
    cited: Cited = None,
    since: Since = None,
    until: Until = None,
    after: After = -1,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Most entries.")] = 100,
    form: Annotated[str, typer.Option("--format", help="table, json, csv or ndjson.")] = "table",
    parts: Annotated[
        str | None, typer.Option("--parts", help="Parts to add to each entry, as recorded, with commas.")
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Add question, answer, sources and place to each entry.")
    ] = False,
    mend: Annotated[
        bool, typer.Option("--mend", help="First compare the index of entries with the log, and mend it.")
    ] = False,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Entries that match everything given. Nothing found is an empty list. Exit code 7: some of them were changed; they
    are named, and all others are listed."""
    from api.audit.entries.export import csv_text, ndjson, time_text

    if mend:
        mended = asyncio.run(_mended(home, shard))
        note(f"{len(mended)} entries of the index were mended")
    filters = _filters(
        kind=kind, id=entry_id, hash=leaf_hash, request_id=request_id, text=text, actor=actor, subject=subject,
        outcome=outcome, rule=rule, model=model, place=place, source=source, cited=cited, since=since, until=until,
        after=after, parts=_names(parts), summary=summary,
    )  # fmt: skip
    if form not in ("table", "json", "csv", "ndjson"):
        raise typer.BadParameter("--format is table, json, csv or ndjson")
    found = asyncio.run(_found(home, filters, tenant, shard=shard, limit=limit))
    if len(found) == limit:
        note(f"there may be more: --after {found[-1]['index']}")
    match "json" if as_json else form:
        case "csv":
            sys.stdout.write(csv_text(found, summary=filters.summary, parts=filters.parts))
        case "ndjson":
            sys.stdout.write(ndjson(found))
        case _:
            rows = [
                [e["index"], e["kind"], time_text(e["t_ms"]), e["entry_id"], e["outcome"], e["model"]]
                if "kind" in e
                else [e["index"], "damaged", "", e["entry_id"], "", ""]
                for e in found
            ]
            emit(
                found,
                as_json=as_json or form == "json",
                render=lambda: table(["index", "kind", "time", "entry", "outcome", "model"], rows),
            )
    tell_damaged([(each["entry_id"], each["damaged"]) for each in found if each["damaged"]])


async def _mended(home: Path | None, shard: int | None) -> tuple[int, ...]:
    from api.audit.log.search import EntrySearch
    from api.wiring import open_entry_index, open_ledger

    configured = configuration(home)
    async with (
        open_ledger(configured, shard=shard) as ledger,
        open_entry_index(configured, origin=ledger.origin) as index,
    ):
        return await EntrySearch(ledger, index).mend()


async def _found(
    home: Path | None,
    filters: EntryFilters,
    tenant: str | None,
    *,
    shard: int | None,
    limit: int,
) -> list[dict[str, Any]]:
    """At most `limit` entries, page by page."""
    from api.audit.entries.contents import with_contents
    from api.audit.entries.export import damaged_json, found_json
    from api.audit.log.search import EntrySearch
    from api.wiring import open_entry_index, open_ledger
    from ledger.model import DamagedEntry

    configured, cursor, left = configuration(home), filters.after, limit
    async with (
        open_ledger(configured, shard=shard) as ledger,
        open_entry_index(configured, origin=ledger.origin) as index,
    ):
        entries, documents = EntrySearch(ledger, index), list[dict[str, Any]]()
        following: int | None = cursor
        while following is not None and left > 0:
            page = await entries.page(filters.wanted(tenant), after=following, limit=min(left, _PAGE))
            for entry, facts in page.found:
                if isinstance(entry, DamagedEntry):
                    documents.append(damaged_json(entry))
                    continue
                document = found_json(entry, facts)
                documents.append(
                    await with_contents(document, entry, ledger, summary=filters.summary, parts=filters.parts)
                )
            left, following = left - len(page.found), page.next
    return documents


def _filters(**given: Any) -> EntryFilters:
    """The filters of the command line, checked as those of a request. Raises BadParameter."""
    from datetime import UTC

    from pydantic import ValidationError

    from api.schemas.ledger.search import EntryFilters

    values = {name: value for name, value in given.items() if value is not None}
    for name in ("since", "until"):
        if name in values and values[name].tzinfo is None:
            values[name] = values[name].replace(tzinfo=UTC)
    try:
        return EntryFilters.model_validate(values)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        raise typer.BadParameter(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _names(parts: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (parts or "").split(",") if name.strip())
