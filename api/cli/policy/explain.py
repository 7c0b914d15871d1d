"""`exhibit policy explain`."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import bold, configuration, dim, emit
from api.cli.options import AsJson, Groups, Home, Role, Tenant

if TYPE_CHECKING:
    from ai.explain.flips import Flip
    from ai.explain.paths import Path as CandidatePath
    from api.audit.policy.explaining import Explanation
    from api.wiring import System
    from policy.model import Subject


def explain(
    what: Annotated[
        str, typer.Argument(help="Id of the entry of a question or a search, or a question, which is asked first.")
    ],
    *,
    role: Role = "public_viewer",
    groups: Groups = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Why each candidate of each channel was kept, redacted or dropped, and the smallest change that turns it. Shown is
    only what the caller, named by --role and --groups, may see now; changes only within the caller's authority."""
    from api.audit.policy.explaining import explanation_document

    found = asyncio.run(_run(what, home, role=role, groups=groups, tenant=tenant))
    emit(explanation_document(found), as_json=as_json, render=lambda: "\n".join(_lines(found)))


async def _run(what: str, home: Path | None, *, role: str, groups: str | None, tenant: str) -> Explanation:
    from api.audit.policy.backtesting import Shelf
    from api.audit.policy.explaining import explain as run
    from api.home.identity.local_caller import local_subject
    from api.wiring import new_id, open_system

    async with open_system(configuration(home)) as system:
        caller = system.tenants.standing(local_subject(system.data, role=role, groups=groups, tenant=tenant))
        entry_id = what if _is_entry(what) else await _asked(what, caller, system)
        shelf = Shelf.of(system.configuration)
        return await run(entry_id, caller=caller, request_id=new_id(), services=system.services, shelf=shelf)


def _is_entry(what: str) -> bool:
    try:
        return str(uuid.UUID(what)) == what.lower()
    except ValueError:
        return False


async def _asked(question: str, caller: Subject, system: System) -> str:
    """The outcome entry of the question, asked now: it is recorded as every question is."""
    from ai.focus_pipeline import answer
    from api.schemas.ask import ask_of, parse_query
    from api.wiring import new_id

    parsed = parse_query({"question": question})
    asked = ask_of(parsed, subject=caller, request_id=new_id())
    answered = await answer(asked, services=system.services, profile=system.profile(asked.options.profile))
    return str(answered.entry.entry_id)


def _lines(found: Explanation) -> Iterator[str]:
    from api.audit.policy.explaining import reason_with_text

    query = found.request.query
    yield bold(f"{found.entry_id}: {found.request.outcome or 'search'}, query {query.decision['effect']}")
    for reason in map(reason_with_text, query.decision["reasons"]):
        yield f"  {reason['rule']} {reason['code']}: {reason['text']}"
    if found.request_flip is not None:
        yield f"  would be {_flip(found.request_flip)}"
    for path in found.paths:
        yield from _path(path, found)
    if not found.paths:
        yield "no candidate of this request can be shown to this caller"


def _path(path: CandidatePath, found: Explanation) -> Iterator[str]:
    number = f" [{path.number}]" if path.number is not None else ""
    yield ""
    yield f"{bold(str(path.verdict))}{number} at {path.stage}: {path.record_id}  {found.titles.get(path.record_id, '')}"
    places = ", ".join(f"{place.channel}/{place.store} {place.rank}" for place in path.found)
    after = "not in the bundle" if path.rank_after is None else f"then {path.rank_after}"
    yield dim(f"  rank {places}; {after}")
    if path.folded_into:
        yield f"  says the same as {path.folded_into}"
    for each in path.because:
        facts = ", ".join(f"{name} {_value(value)}" for name, value in each.facts.items())
        yield f"  {each.rule} {each.code}: {facts}"
    if path.sentences:
        yield f"  cited by sentences {', '.join(map(str, path.sentences))}"
    if path.record_id in found.flips:
        yield f"  would be {_flip(found.flips[path.record_id])}"


def _flip(flip: Flip) -> str:
    return f"{flip.becomes} with {' and '.join(f'{change.what} {change.value}' for change in flip.changes)}"


def _value(value: object) -> str:
    return "+".join(map(str, value)) or "-" if isinstance(value, list) else str(value)
