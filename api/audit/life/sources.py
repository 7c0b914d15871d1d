"""Changes of a source, each on the ledger before it is made and once more when it is in force: who, when, from what to
what. From the second entry on no reply is recorded that rests on what the change took away (`ai.record.unchanged`).

`exhibit source` carries them out; `history` reads them back beside the versions of the store. The corpus page reads the
same versions through `retrieval.registry.overview`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from api.audit.in_force import record_made
from api.errors import NoSuchThing
from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.home.identity.principal import LOCAL_ID
from api.wiring import new_id, open_ledger, open_source_life
from api.wiring.ledger.log import log_to_write
from ledger.canonical import canonical_json
from ledger.ledger import Ledger
from ledger.model import EntryRef, Kind
from retrieval.ingest.upkeep.life import AccessChange, SourceLife
from retrieval.model import Lifecycle, SourceFacts
from retrieval.scope import VisibilityClass

Action = Literal["label", "supersede", "withdraw", "restore"]
VERSION = "exhibit.source/1"


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A change that is asked for. `access` is for `label`, `document_id` names the version to `restore`, `by` the
    source that takes the place of one that is superseded."""

    action: Action
    source_id: str
    tenant: str
    why: str = ""
    access: AccessChange = field(default_factory=AccessChange)
    document_id: str | None = None
    by: str | None = None


async def change_source(configuration: Configuration, wanted: SourceChange) -> dict[str, Any]:
    """Record the change, make it, and record that it is made; gives the first entry and the documents concerned. Raises
    NoSuchThing for a source that the tenant has not, ManifestError, SourceConflict, LedgerUnavailable: then nothing has
    changed, or it is made and not in force for replies that were begun before."""
    async with open_source_life(configuration) as life:
        held = await _versions(life, wanted.tenant, wanted.source_id)
        if wanted.by is not None:
            await _versions(life, wanted.tenant, wanted.by)
        planned = life.planned(held, wanted.access) if wanted.action == "label" else None
        if wanted.action == "restore":
            life.restorable(held, wanted.document_id)
        async with log_to_write(configuration) as ledger:
            ordered = await _record(ledger, wanted, held, planned)
            documents = await _make(life, wanted, held)
            made = await record_made(ledger, wanted.tenant, wanted.source_id, ordered=ordered.entry_id)
    return {
        "action": wanted.action,
        "source_id": wanted.source_id,
        "documents": documents,
        "entry_id": ordered.entry_id,
        "made_entry_id": made.entry_id,
    }


async def history_of(configuration: Configuration, tenant: str, source_id: str) -> dict[str, Any]:
    """The versions of a source, and the changes that the ledger records of it. Raises NoSuchThing."""
    async with open_source_life(configuration) as life:
        held = await _versions(life, tenant, source_id)
    changes = []
    if backends_of(configuration).ledger.exists:
        async with open_ledger(configuration) as ledger:
            changes = [each async for each in _changes(ledger, tenant, source_id)]
    return {"source_id": source_id, "versions": [version_json(each) for each in held], "changes": changes}


def version_json(each: SourceFacts) -> dict[str, Any]:
    """A version as a document."""
    return {
        "document_id": each.document_id,
        "lifecycle": each.lifecycle.value,
        "title": each.title,
        "license": each.license,
        "valid_until_ms": each.valid_until_ms,
        **_access(each.visibility),
    }


async def _versions(life: SourceLife, tenant: str, source_id: str) -> tuple[SourceFacts, ...]:
    held = await life.versions(tenant, source_id)
    if not held:
        raise NoSuchThing(f"tenant {tenant} has no source {source_id}")
    return held


async def _make(life: SourceLife, wanted: SourceChange, held: Sequence[SourceFacts]) -> list[str]:
    match wanted.action:
        case "label":
            await life.label(held, wanted.access)
            return [each.document_id for each in held if each.lifecycle is not Lifecycle.ERASED]
        case "withdraw":
            return list(await life.withdraw(held))
        case "supersede":
            return list(await life.supersede(held))
        case "restore":
            return [await life.restore(held, wanted.document_id)]


async def _record(
    ledger: Ledger, wanted: SourceChange, held: Sequence[SourceFacts], planned: VisibilityClass | None
) -> EntryRef:
    current = next((each for each in reversed(held) if each.lifecycle is Lifecycle.ACTIVE), held[-1])
    detail = {
        "v": VERSION,
        "action": wanted.action,
        "source_id": wanted.source_id,
        "document_id": wanted.document_id or current.document_id,
        "lifecycle": current.lifecycle.value,
        "from": _access(current.visibility),
        "to": None if planned is None else _access(planned),
        "by": wanted.by,
        "who": LOCAL_ID,
        "why": wanted.why,
    }
    return await _append(ledger, wanted.tenant, detail)


async def _append(ledger: Ledger, tenant: str, detail: Mapping[str, Any]) -> EntryRef:
    parts = {"detail": canonical_json(detail)}
    return await ledger.record(Kind.CONFIG, tenant=tenant, request_id=new_id(), parts=parts)


async def _changes(ledger: Ledger, tenant: str, source_id: str) -> AsyncIterator[Mapping[str, Any]]:
    async for entry in ledger.every(kind=Kind.CONFIG, tenant=tenant):
        data = (await ledger.contents(entry, ("detail",))).get("detail")
        detail = json.loads(data) if data else {}
        if detail.get("v") == VERSION and detail["source_id"] == source_id:
            yield {"entry_id": entry.leaf.entry_id, "t_ms": entry.leaf.t_ms, **detail}


def _access(visibility: VisibilityClass) -> dict[str, Any]:
    return {
        "collection": visibility.collection,
        "label": visibility.label,
        "groups": list(visibility.groups),
        "handling": list(visibility.handling),
    }
