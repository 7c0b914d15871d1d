"""Relationships, each with the record that states it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai.answer.links import evidence_href
from ai.canonical import to_json
from ai.model import AdmittedItem
from api.audit.reauthorise import Reading
from api.audit.registry.alike import admitted_ids, decided_one_by_one
from api.audit.registry.envelope import (
    Diagnostic,
    JsonObject,
    Listing,
    PermissionWatch,
    denied_listing,
    release,
)
from api.audit.registry.evidence import record_evidence
from retrieval.model import EntityRef, SourcedRecord
from retrieval.registry.assets.model import RelationshipFilters, StatedRelationship
from retrieval.registry.assets.paging import PageRequest, page_of
from retrieval.registry.assets.selection import Key
from retrieval.registry.assets.store import MOST_EDGES

_DECLARED = 1.0
_ACTOR = "ingest"


@dataclass(frozen=True, slots=True)
class RelationshipQuery:
    """Requirement 004's `RelationshipQueryRequest`."""

    filters: RelationshipFilters
    page: PageRequest

    def asked(self) -> JsonObject:
        """As it is recorded."""
        return {"surface": "registry.relationships", **to_json(self)}


async def query_relationships(wanted: RelationshipQuery, *, reading: Reading) -> JsonObject:
    """A page of relationships, recorded when this returns. Raises as `query_assets`."""
    asked = wanted.asked()
    if not reading.access.decision.allowed:
        return await release(denied_listing(wanted.page), asked, wanted.page, reading=reading)
    watch = PermissionWatch()
    found = await reading.services.store.relationships(wanted.filters, scope=reading.scope, limit=MOST_EDGES + 1)
    edges, cut = found[:MOST_EDGES], len(found) > MOST_EDGES
    records = await _records(edges, reading)
    with watch:
        admitted = await admitted_ids([record_evidence(each) for each in records.values()], reading)
        keyed = {_key(each, wanted.page.sort_by): each for each in edges if each.edge.record_id in admitted}
        page = page_of(keyed, wanted.page, query={"relationships": to_json(wanted.filters)})
        ids = dict.fromkeys(each.edge.record_id for each in page.items)
        decided = await decided_one_by_one([record_evidence(records[record_id]) for record_id in ids], reading)
    results = [
        relationship_json(each, decided.items[each.edge.record_id], seen_from=wanted.filters.entity)
        for each in page.items
    ]
    told = f"More than {MOST_EDGES} relationships match; the others are not counted."
    listing = Listing(
        page=page,
        results=results,
        shown=list(decided.items.values()),
        decisions=decided.decisions,
        matched=len(edges),
        permission_ms=watch.ms,
        diagnostics=(Diagnostic("MATCHES_CUT", told),) if cut else (),
    )
    return await release(listing, asked, wanted.page, reading=reading)


async def stated_by(
    assets: tuple[str, ...], reading: Reading
) -> tuple[Mapping[str, list[JsonObject]], list[AdmittedItem]]:
    """The relationships that assets state, by asset, and the items behind them."""
    edges = await reading.services.store.relationships(RelationshipFilters(assets=assets), scope=reading.scope)
    records = await _records(edges, reading)
    decided = await decided_one_by_one([record_evidence(each) for each in records.values()], reading)
    found: dict[str, list[JsonObject]] = {}
    for each in edges:
        item = decided.items.get(each.edge.record_id)
        if item is not None:
            found.setdefault(each.asset_id, []).append(relationship_json(each, item))
    return found, list(decided.items.values())


async def _records(edges: Sequence[StatedRelationship], reading: Reading) -> Mapping[str, SourcedRecord]:
    ids = list(dict.fromkeys(each.edge.record_id for each in edges))
    return await reading.services.store.fetch(ids, scope=reading.scope)


def _key(stated: StatedRelationship, by: str) -> Key:
    """The place in the order. Positions are padded, so that they sort as numbers."""
    edge = stated.edge
    values = {
        "relationship_id": "",
        "predicate": edge.predicate,
        "source": edge.subject.entity_id,
        "target": edge.object.entity_id,
        "valid_from": "" if edge.time is None else edge.time.start.isoformat(),
    }
    return values[by], f"{edge.record_id}~{stated.position:09d}"


def relationship_json(stated: StatedRelationship, item: AdmittedItem, seen_from: str | None = None) -> JsonObject:
    """A relationship. Where something of the record that states it is withheld, the names of both ends are too."""
    edge, record = stated.edge, item.evidence.first.record
    whole = not item.redacted
    ends = {edge.subject.entity_id: "outgoing", edge.object.entity_id: "incoming"}
    return {
        "relationship_id": stated.relationship_id,
        "direction": ends.get(seen_from or edge.subject.entity_id, "outgoing"),
        "predicate": edge.predicate,
        "source": end_json(edge.subject, whole=whole),
        "target": end_json(edge.object, whole=whole),
        "validity": None
        if edge.time is None
        else {"start": edge.time.start.isoformat(), "end": edge.time.end.isoformat()},
        "confidence": _DECLARED,
        "actor": _ACTOR,
        "provenance": {
            "asset_id": stated.asset_id,
            "representation_id": edge.document_id,
            "record_id": edge.record_id,
            "statement": item.statement if item.statement is not None else item.text,
            "href": evidence_href(record),
        },
    }


def end_json(entity: EntityRef, *, whole: bool) -> JsonObject:
    return {"entity_id": entity.entity_id, "name": entity.name if whole else "", "type": entity.type}
