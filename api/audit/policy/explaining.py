"""An explanation of a recorded request, itself authorised: of what was found, only what the caller may see now, under
today's facts and obligations; of changes, only what the caller's own authority reaches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ai.backtest.chain import facts_of
from ai.backtest.record import PARTS, RecordedRequest, parse_request
from ai.canonical import from_json
from ai.case.case import Services
from ai.explain.flips import Flip, find_flips
from ai.explain.paths import Path, candidate_paths, seen_by
from ai.model import AdmittedItem
from api.audit.entries.records import AUDIT
from api.audit.policy.backtesting import Shelf
from api.audit.reauthorise import reading_of
from api.errors import NoSuchThing
from api.wiring import open_embedded
from ledger.errors import EntryNotFound
from ledger.model import Kind
from policy.messages import text_of
from policy.model import Subject
from retrieval.model import Evidence, Hit, Run

_EXPLAINED = frozenset({Kind.OUTCOME, Kind.RETRIEVAL})
_ABSENT = "There is no such entry, or nothing that can be explained in it."


@dataclass(frozen=True, slots=True)
class Explanation:
    """`paths` are those of candidates that the caller may see now, `titles` as they may be read now. What the caller
    may not see leaves no trace here, not even a gap between ranks."""

    entry_id: str
    request: RecordedRequest
    paths: tuple[Path, ...]
    titles: Mapping[str, str]
    flips: Mapping[str, Flip]
    request_flip: Flip | None


async def explain(entry_id: str, *, caller: Subject, request_id: str, services: Services, shelf: Shelf) -> Explanation:
    """The explanation of the entry of a question or a search: the caller's own or, with the capability to audit the
    ledger, any of the caller's tenant. Raises NoSuchThing, alike for what is absent and what is not the caller's;
    BundleNotFound where the bundle that decided is not archived; PolicyUnavailable."""
    request, runs, shown = await _recorded(entry_id, caller, services)
    if caller.id != request.query.input["subject"]["id"] and AUDIT not in caller.capabilities:
        raise NoSuchThing(_ABSENT)
    visible = await _visible(runs, caller, request_id, services)
    bundle = shelf.load(request.query.bundle)
    cited = _cited(shown["body"])
    paths = seen_by(candidate_paths(request, runs, shown["items"], cited, bundle.rules), visible)
    engine = await open_embedded(bundle)
    try:
        facts = facts_of(request, data=bundle.data, before=bundle.data)
        own = {path.record_id: path.facts for path in paths if path.facts}
        flips = await find_flips(facts, own, engine=engine, data=bundle.data, caller=caller)
    finally:
        await engine.aclose()
    titles = {id: item.evidence.first.source.title for id, item in visible.items()}
    return Explanation(entry_id, request, paths, titles, flips.items, flips.request)


async def _recorded(
    entry_id: str, caller: Subject, services: Services
) -> tuple[RecordedRequest, tuple[Run, ...], dict[str, Any]]:
    try:
        entry = await services.ledger.entry(entry_id)
        if entry.leaf.tenant != services.ledger.pseudonym("tenant", caller.tenant) or entry.leaf.kind not in _EXPLAINED:
            raise NoSuchThing(_ABSENT)
        names = [name for name in (*PARTS, "candidates", "bundle") if name in entry.leaf.parts]
        parts = await services.ledger.parts(entry_id, names)
        intents = [ref.id for ref in entry.leaf.refs if ref.rel == "intent"]
        parts |= await services.ledger.parts(intents[0], ("policy.query",)) if intents else {}
    except EntryNotFound:
        raise NoSuchThing(_ABSENT) from None
    if not parts.get("policy.query"):
        raise NoSuchThing(_ABSENT)
    request = parse_request(entry_id, entry.leaf.t_ms, parts)
    found = json.loads(parts["candidates"])["runs"] if parts.get("candidates") else []
    items = json.loads(parts["bundle"])["items"] if parts.get("bundle") else []
    body = json.loads(parts["answer"]) if parts.get("answer") else {}
    return request, tuple(from_json(run, Run) for run in found), {"items": items, "body": body}


async def _visible(
    runs: Sequence[Run], caller: Subject, request_id: str, services: Services
) -> dict[str, AdmittedItem]:
    """The candidates that the caller may see now, as they may be shown, by record id."""
    hits = {hit.record_id: hit for run in runs for hit in run.hits}
    reading = await reading_of(caller, request_id=request_id, services=services)
    wanted = {id for hit in hits.values() for id in _needed(hit)}
    if not wanted or not reading.classes:
        return {}
    records = await services.store.fetch(sorted(wanted), scope=reading.scope.with_aggregated)
    there = [hit for hit in hits.values() if all(id in records for id in _needed(hit))]
    items = [
        Evidence(n, hit.record_id, tuple(records[id] for id in _needed(hit)), (), 0.0, hit.computed)
        for n, hit in enumerate(there, start=1)
    ]
    admission = await reading.admit(items)
    return {item.evidence.record_id: item for item in admission.items}


def _needed(hit: Hit) -> tuple[str, ...]:
    return (hit.record_id,) if hit.computed is None else tuple(hit.computed.inputs)


def _cited(body: Mapping[str, Any]) -> dict[int, list[int]]:
    return {int(s["i"]): [int(each["n"]) for each in s["citations"]] for s in body.get("sentences", ())}


def explanation_document(found: Explanation) -> dict[str, Any]:
    """The explanation as JSON values."""
    query = found.request.query
    return {
        "entry_id": found.entry_id,
        "outcome": found.request.outcome,
        "policy": query.bundle,
        "request": {
            "effect": query.decision["effect"],
            "reasons": [reason_with_text(each) for each in query.decision["reasons"]],
            "flip": None if found.request_flip is None else asdict(found.request_flip),
        },
        "candidates": [
            asdict(path)
            | {
                "title": found.titles.get(path.record_id, ""),
                "flip": asdict(found.flips[path.record_id]) if path.record_id in found.flips else None,
            }
            for path in found.paths
        ],
    }


def reason_with_text(reason: Mapping[str, Any]) -> dict[str, str]:
    """A recorded reason with its words."""
    return {"rule": reason["rule"], "code": reason["code"], "text": text_of(reason["code"])}
