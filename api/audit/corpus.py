"""The corpus as a curator sees it: what the store holds inside the curator's own scope, and which roles see it."""

from __future__ import annotations

import asyncio
import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from ai.case.case import Services
from ai.governance.scoping import NO_PROMPT, class_facts
from api.audit.entries.export import plain_cell, time_text
from api.audit.reauthorise import Reading, reading_of
from policy.data import PolicyData
from policy.model import RequestFacts, Subject
from retrieval.registry.overview import FileFate, HeldVersion
from retrieval.scope import VisibilityClass

ACTIVE = "active"
COLUMNS = (
    *("source_id", "document_id", "lifecycle", "collection", "label", "handling", "title", "license", "attribution"),
    *("uri", "media_type", "source_sha256", "stored", "valid_from", "valid_until", "records"),
)


async def corpus_of(curator: Subject, *, request_id: str, data: PolicyData, services: Services) -> dict[str, Any]:
    """Classes, collections, versions and runs. A file that became no document has no label, and is told to those alone
    who are cleared for every label. Raises PolicyUnavailable, StoreUnavailable."""
    reading = await reading_of(curator, request_id=request_id, services=services)
    cleared = curator.clearance == data.ascending[-1]
    held = await services.store.overview(scope=reading.scope, unlabelled=cleared)
    roles = await _roles(reading, data)
    classes = {each.class_id: each for each in reading.classes}
    active = [each for each in held.versions if each.lifecycle == ACTIVE]
    titles = {each.name: each.title for each in await services.store.collections(curator.tenant)}
    return {
        "classes": [
            _class(each, sum(v.class_id == each.class_id for v in active), roles[each.class_id])
            for each in sorted(classes.values(), key=lambda each: (each.collection, each.label, each.class_id))
        ],
        "collections": list(_collections(active, classes, titles)),
        "versions": [_version(each, classes[each.class_id]) for each in held.versions],
        "runs": [{"run_id": run_id, "files": [_file(each) for each in files]} for run_id, files in _runs(held.files)],
    }


async def _roles(reading: Reading, data: PolicyData) -> Mapping[str, list[str]]:
    """For each class the roles that the query point admits it for, in the curator's tenant, without any group."""
    services, known = reading.services, class_facts(reading.classes)
    points = services.points(reading.access.now_ms)

    async def admitted(role: str) -> frozenset[str]:
        asker = Subject.of(id=f"role:{role}", tenant=reading.access.subject.tenant, roles=(role,), data=data)
        request = RequestFacts(id=reading.access.request.id)
        decision = await points.query(request=request, subject=asker, prompt=NO_PROMPT, classes=known)
        return frozenset(decision.classes) if decision.allowed else frozenset()

    names = sorted(data.roles)
    seen = dict(zip(names, await asyncio.gather(*map(admitted, names)), strict=True)) if known else {}
    return {each.id: [name for name in seen if each.id in seen[name]] for each in known}


def _class(each: VisibilityClass, documents: int, roles: list[str]) -> dict[str, Any]:
    return {
        "class_id": each.class_id,
        "collection": each.collection,
        "label": each.label,
        "handling": list(each.handling),
        "groups": list(each.groups),
        "owner_group": each.owner_group,
        "documents": documents,
        "roles": roles,
    }


def _collections(
    active: Sequence[HeldVersion], classes: Mapping[str, VisibilityClass], titles: Mapping[str, str]
) -> Iterable[dict[str, Any]]:
    for name in sorted({classes[each.class_id].collection for each in active}):
        inside = [each for each in active if classes[each.class_id].collection == name]
        records: Counter[str] = Counter()
        for each in inside:
            records.update(dict(each.records))
        sources = len({each.source_id for each in inside})
        yield {
            "name": name,
            "title": titles.get(name, name),
            "sources": sources,
            "records": dict(sorted(records.items())),
        }


def _version(each: HeldVersion, held: VisibilityClass) -> dict[str, Any]:
    access = {"collection": held.collection, "label": held.label, "handling": list(held.handling)}
    return asdict(each) | access | {"records": dict(each.records)}


def _runs(files: Sequence[FileFate]) -> Iterable[tuple[str, list[FileFate]]]:
    return ((run_id, list(inside)) for run_id, inside in groupby(files, key=lambda each: each.run_id))


def _file(each: FileFate) -> dict[str, Any]:
    told = asdict(each)
    del told["run_id"]
    return told


def versions_csv(corpus: Mapping[str, Any]) -> str:
    """The versions as a table (RFC 4180), times in ISO 8601."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for each in corpus["versions"]:
        times = {name: each[f"{name}_ms"] for name in ("stored", "valid_from", "valid_until")}
        row = each | {name: "" if at is None else time_text(at) for name, at in times.items()}
        row["handling"] = " ".join(each["handling"])
        row["records"] = " ".join(f"{kind}:{count}" for kind, count in each["records"].items())
        writer.writerow([plain_cell(row[name]) for name in COLUMNS])
    return text.getvalue()
