"""Feedback on what a recorded request showed, and the queue in which curators see it.

A remark is an entry of the ledger that points at what it is about. It never changes a ranking: it waits in the queue
until a curator has settled it, and the settlement is an entry too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from ai.canonical import canonical
from ai.record.trace import traced
from ai.search.bodies import provenance_json
from api.audit.entries.records import Reader
from api.audit.reauthorise import Reading
from api.errors import NoSuchThing
from ledger.errors import EntryNotFound
from ledger.ledger import Ledger
from ledger.model import Entry, Kind, Ref

FeedbackKind = Literal["useful", "irrelevant", "wrong", "missing", "unsafe", "stale", "low_confidence"]
Settlement = Literal["accepted", "rejected"]
KINDS: tuple[FeedbackKind, ...] = get_args(FeedbackKind)
PRAISE: FeedbackKind = "useful"
"""The one kind that asks for nothing."""
SURFACE, REVIEW = "feedback", "feedback.review"
ABOUT, SETTLES = "about", "settles"
CURATE = "registry.curate"
_NOBODY = frozenset({""})
_ABSENT = "There is no such feedback."


@dataclass(frozen=True, slots=True)
class Remark:
    """A reader's remark on a request's results: `result` is the id of one of them, empty where something is missing or
    the whole is meant."""

    about: str
    kind: FeedbackKind
    result: str = ""
    notes: str = ""
    metadata: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class QueuedRemark:
    """A remark as a curator reads it. Times are UTC milliseconds; the subject is who made it."""

    feedback_id: str
    index: int
    t_ms: int
    about: str
    about_kind: str
    kind: str
    result: str
    notes: str
    metadata: Mapping[str, str]
    subject: str
    settled: str | None


async def give(remark: Remark, *, reader: Reader) -> dict[str, Any]:
    """Record a remark on a request of the caller's own. Raises NoSuchThing for one that the caller may not know of,
    LedgerUnavailable."""
    services, subject = reader.services, reader.principal.subject
    about = await reader.entry(remark.about)
    entry_id = services.new_id()
    told = {"request_id": reader.request_id, "about": remark.about, "provenance": provenance_json(entry_id)}
    context = {
        "surface": SURFACE,
        "subject": subject.id,
        "chunk_id": remark.result,
        "label": remark.kind,
        "comment": remark.notes,
        "metadata": dict(remark.metadata or {}),
    }
    await _record(entry_id, context, told, ref=about.ref.as_ref(ABOUT), reader=reader)
    return told


async def settle(feedback_id: str, settlement: Settlement, notes: str, *, reader: Reader) -> dict[str, Any]:
    """Record that a curator has dealt with a remark of the tenant. Raises ActionForbidden, NoSuchThing,
    LedgerUnavailable."""
    reader.principal.require(CURATE)
    services, subject = reader.services, reader.principal.subject
    try:
        remark = await services.ledger.entry(feedback_id)
    except EntryNotFound:
        raise NoSuchThing(_ABSENT) from None
    own = remark.leaf.tenant == services.ledger.pseudonym("tenant", subject.tenant)
    if not own or not _points(remark, ABOUT):
        raise NoSuchThing(_ABSENT)
    entry_id = services.new_id()
    told = {"request_id": reader.request_id, "settles": feedback_id, "provenance": provenance_json(entry_id)}
    context = {"surface": REVIEW, "subject": subject.id, "settlement": settlement, "notes": notes}
    await _record(entry_id, context, told, ref=remark.ref.as_ref(SETTLES), reader=reader)
    return told


async def _record(
    entry_id: str, context: Mapping[str, Any], told: Mapping[str, Any], *, ref: Ref, reader: Reader
) -> None:
    """One entry: the context of a remark or settlement, what was told of it, and the entry that it is about."""
    await reader.services.ledger.record(
        Kind.RETRIEVAL,
        tenant=reader.principal.subject.tenant,
        request_id=reader.request_id,
        parts={"context": canonical(traced(context)), "answer": canonical(told)},
        refs=[ref],
        entry_id=entry_id,
    )


async def remarks(reading: Reading) -> list[QueuedRemark]:
    """The tenant's remarks, oldest first, with how each was settled last: those on requests whose whole scope the
    curator may see, since a remark may quote what was shown. What was erased is left out."""
    ledger = reading.services.ledger
    given = await _all_remarks(reading.access.subject.tenant, ledger)
    seen = reading.scope.class_ids
    return [each for each in given if await _scope(each.about, ledger) <= seen]


async def _scope(about: str, ledger: Ledger) -> frozenset[str]:
    """The classes that a request was shown from; one that no scope contains where that is not on record."""
    entry = await ledger.entry(about)
    holder = _points(entry, "intent")
    entry = await ledger.entry(holder) if holder else entry
    data = (await ledger.contents(entry, ("scope",))).get("scope")
    return frozenset(json.loads(data)["scope"]["class_ids"]) if data else _NOBODY


async def _all_remarks(tenant: str, ledger: Ledger) -> list[QueuedRemark]:
    found: dict[str, QueuedRemark] = {}
    async for entry in ledger.every(kind=Kind.RETRIEVAL, tenant=tenant):
        settled = _points(entry, SETTLES)
        if not settled and not _points(entry, ABOUT):
            continue
        context = await _context(entry, ledger)
        if settled in found and context.get("surface") == REVIEW:
            found[settled] = _settled(found[settled], str(context["settlement"]))
        elif context.get("surface") == SURFACE:
            found[entry.leaf.entry_id] = await _remark(entry, context, ledger)
    return list(found.values())


def queue_of(given: list[QueuedRemark], *, kind: str | None, settled: bool) -> list[QueuedRemark]:
    """Those that wait (or were settled), of one kind or of all that ask for something."""
    return [
        each
        for each in given
        if (each.settled is not None) == settled and (each.kind == kind if kind else each.kind != PRAISE)
    ]


def remark_json(remark: QueuedRemark) -> dict[str, Any]:
    """As it is sent."""
    return {**asdict(remark), "metadata": dict(remark.metadata)}


def _points(entry: Entry, rel: str) -> str:
    """The id of the entry that this one points at so; empty if it does not."""
    return next((ref.id for ref in entry.leaf.refs if ref.rel == rel), "")


async def _context(entry: Entry, ledger: Ledger) -> dict[str, Any]:
    data = (await ledger.contents(entry, ("context",))).get("context")
    return json.loads(data) if data else {}


def _settled(remark: QueuedRemark, settlement: str) -> QueuedRemark:
    return QueuedRemark(**{**asdict(remark), "settled": settlement})


async def _remark(entry: Entry, context: Mapping[str, Any], ledger: Ledger) -> QueuedRemark:
    about = _points(entry, ABOUT)
    return QueuedRemark(
        feedback_id=entry.leaf.entry_id,
        index=entry.index,
        t_ms=entry.leaf.t_ms,
        about=about,
        about_kind=str((await ledger.entry(about)).leaf.kind),
        kind=str(context["label"]),
        result=str(context["chunk_id"]),
        notes=str(context["comment"]),
        metadata=dict(context.get("metadata") or {}),
        subject=str(context["subject"]),
        settled=None,
    )
