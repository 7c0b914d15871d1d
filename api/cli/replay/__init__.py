"""`exhibit replay`: recorded answers recomputed, to a grade."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit, table
from api.cli.options import AsJson, Home
from api.problems import EXIT_CANNOT_RUN, EXIT_VERIFICATION

if TYPE_CHECKING:
    from ai.replay.replay import ReplayReport
    from api.audit.log.search import EntryCriteria
    from api.wiring import System

app = typer.Typer(help="Recompute recorded answers and grade them.", add_completion=False, rich_markup_mode=None)
_PAGE = 500


class GradeLimit(StrEnum):
    """Grades that can be tried for."""

    R0 = "R0"
    R1 = "R1"
    R2 = "R2"
    R3 = "R3"


@app.command()
def replay(
    entry_id: Annotated[str | None, typer.Argument(help="Id of an outcome entry.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every entry of the ledger.")] = False,
    since: Annotated[datetime | None, typer.Option("--since", help="Every entry from this time (UTC) on.")] = None,
    until: Annotated[datetime | None, typer.Option("--until", help="Every entry before this time (UTC).")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", help="Entries that match: name=value as `ledger search` has them, such as outcome=DENY."
        ),
    ] = None,
    up_to: Annotated[
        GradeLimit, typer.Option("--to", help="The grade to try for; R2 asks the model again, R3 the stores too.")
    ] = GradeLimit.R2,
    swap: Annotated[
        str | None,
        typer.Option(
            "--swap", help="model, template, policy, index, settings or all: today's, everything else as recorded."
        ),
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """R0: bytes and proofs hold. R1: in addition, the deterministic core gives the recorded bytes again. R2: in
    addition, the same model gives the recorded words again. R3: in addition, the stores find the same again; other
    results are listed as drift. Exit code 7: an entry fell short of what its kind can reach (outcomes with a
    repeatable model call R2, other outcomes and searches R1, all else R0). Exit code 9: none did, but an entry cannot
    be run, because something that it names is no longer here."""
    chosen = since is not None or until is not None or bool(where)
    if (entry_id is not None) + everything + chosen != 1:
        raise typer.BadParameter("name an entry, or give --all, or any of --since, --until and --where")
    if swap is not None:
        from api.cli.replay.swap import show_swaps

        show_swaps(home, entry_id, swap, as_json=as_json)
        return
    wanted = _wanted(since, until, where or ())
    results = asyncio.run(_replay(home, entry_id, up_to, wanted))
    rows = [
        [r.entry_id, r.kind, r.grade, r.differs_at or "", ",".join(r.changed), ",".join(r.missing), len(r.drift) or ""]
        for r in results
    ]
    tally = ", ".join(f"{count} {grade}" for grade, count in sorted(grades(results).items()))
    from api.audit.entries.replay import replay_document

    emit(
        {"entries": [replay_document(r) for r in results], "grades": grades(results)},
        as_json=as_json,
        render=lambda: (
            table(["entry", "kind", "grade", "differs at", "changed settings", "missing", "drift"], rows)
            + f"\n\n{bold(tally)}"
        ),
    )
    said = {str(result.verdict) for result in results}
    if said & {"differs", "broken"}:
        raise typer.Exit(EXIT_VERIFICATION)
    if "cannot_run" in said:
        raise typer.Exit(EXIT_CANNOT_RUN)


def _wanted(since: datetime | None, until: datetime | None, where: Sequence[str]) -> EntryCriteria | None:
    """The criteria of the search; None is everything. Raises BadParameter for what no search knows."""
    if since is None and until is None and not where:
        return None
    from pydantic import ValidationError

    from api.schemas.ledger.search import EntryFilters

    values: dict[str, Any] = dict(each.partition("=")[::2] for each in where)
    for name, at in (("since", since), ("until", until)):
        if at is not None:
            values[name] = at if at.tzinfo else at.replace(tzinfo=UTC)
    try:
        return EntryFilters.model_validate(values).wanted(None)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        raise typer.BadParameter(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


async def _matching(system: System, wanted: EntryCriteria) -> AsyncIterator[str]:
    from api.audit.log.search import EntrySearch
    from api.wiring import open_entry_index
    from ledger.model import DamagedEntry

    ledger = system.services.ledger
    async with open_entry_index(system.configuration, origin=ledger.origin) as index:
        search, after = EntrySearch(ledger, index), -1
        following: int | None = after
        while following is not None:
            page = await search.page(wanted, after=following, limit=_PAGE)
            for entry, _ in page.found:
                yield entry.entry_id if isinstance(entry, DamagedEntry) else entry.leaf.entry_id
            following = page.next


async def _replay(
    home: Path | None, entry_id: str | None, up_to: GradeLimit, wanted: EntryCriteria | None
) -> list[ReplayReport]:
    from ai.replay.replay import Grade
    from api.audit.entries.replay import replay_entry
    from api.cli.replay.shares import replay_each, replay_shared, shares
    from api.wiring import open_system

    async with open_system(configuration(home)) as system:
        if entry_id is not None:
            return [await replay_entry(entry_id, system=system, up_to=Grade(up_to))]
        ids = [each async for each in (_every(system) if wanted is None else _matching(system, wanted))]
        if len(shares(ids, os.cpu_count() or 1)) == 1:
            return [report async for report in replay_each(system, ids, up_to=Grade(up_to))]
    return await replay_shared(home, ids, up_to=Grade(up_to))


async def replay_all(system: System, *, up_to: GradeLimit) -> AsyncIterator[ReplayReport]:
    """Every entry by index, each under the policy that decided it."""
    from ai.replay.replay import Grade
    from api.cli.replay.shares import replay_each

    async for report in replay_each(system, [each async for each in _every(system)], up_to=Grade(up_to)):
        yield report


async def _every(system: System) -> AsyncIterator[str]:
    async for entry in system.services.ledger.every():
        yield entry.leaf.entry_id


def grades(results: list[ReplayReport]) -> dict[str, int]:
    """How many entries have each grade."""
    tally: dict[str, int] = {}
    for result in results:
        tally[str(result.grade)] = tally.get(str(result.grade), 0) + 1
    return tally
