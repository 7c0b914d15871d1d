"""Entities that relationships lead to over several hops, each with the path that leads there.

The graph says which records the walk passes; those that the store of record holds and the evidence point admits are
walked over, so nothing that is hidden leads anywhere, counts or ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from api.audit.registry.relationships import end_json, relationship_json
from retrieval.channels.traversal import MOST_WALKED, Traversal, Walk
from retrieval.errors import IndexNotReady
from retrieval.registry.assets.model import RelationshipFilters, StatedRelationship
from retrieval.registry.assets.paging import PageRequest, page_of
from retrieval.registry.assets.paths import NANO, ReachedEntity, reached
from retrieval.registry.assets.selection import Key

_AT_ONCE = 500
_PLACES = 6
"""Decimal places of a score."""


@dataclass(frozen=True, slots=True)
class PathQuery:
    """Where a walk leads: to entities of the `types`, or to those of `targets`; empty does not narrow."""

    walk: Walk
    types: tuple[str, ...]
    targets: tuple[str, ...]
    page: PageRequest

    def asked(self) -> JsonObject:
        """As it is recorded."""
        return {"surface": "registry.paths", **to_json(self)}


async def query_paths(wanted: PathQuery, *, reading: Reading) -> JsonObject:
    """A page of entities, recorded when this returns. Raises as `query_assets`, and `ChannelError` where the graph
    cannot be read."""
    asked = wanted.asked()
    if not reading.access.decision.allowed:
        return await release(denied_listing(wanted.page), asked, wanted.page, reading=reading)
    watch, store = PermissionWatch(), reading.services.store
    around = await _graph(reading).around(wanted.walk, scope=reading.scope)
    records = dict(await store.fetch(around.record_ids, scope=reading.scope))
    stated = await _stated(tuple(records), wanted.walk, reading)
    with watch:
        admitted = await admitted_ids([record_evidence(each) for each in records.values()], reading)
        admitted_edges = [each for each in stated if each.edge.record_id in admitted]
        found = _found(admitted_edges, wanted)
        matched = len(found if len(admitted_edges) == len(stated) else _found(stated, wanted))
        keyed = {_key(each, wanted.page.sort_by): each for each in found}
        page = page_of(keyed, wanted.page, query={"paths": to_json([wanted.walk, wanted.types, wanted.targets])})
        shown = dict.fromkeys(step.stated.edge.record_id for each in page.items for step in each.path)
        decided = await decided_one_by_one([record_evidence(records[record_id]) for record_id in shown], reading)
    told = f"The walk passes more than {MOST_WALKED} relationships; the others are not followed."
    listing = Listing(
        page=page,
        results=[_reached_json(each, decided.items) for each in page.items],
        shown=list(decided.items.values()),
        decisions=decided.decisions,
        matched=matched,
        permission_ms=watch.ms,
        diagnostics=(Diagnostic("WALK_CUT", told),) if around.cut else (),
    )
    return await release(listing, asked, wanted.page, reading=reading)


def _graph(reading: Reading) -> Traversal:
    for channel in reading.services.channels:
        if isinstance(channel, Traversal):
            return channel
    raise IndexNotReady("there is no graph to walk over")


async def _stated(record_ids: Sequence[str], walk: Walk, reading: Reading) -> list[StatedRelationship]:
    """The relationships of the walk's predicates and day that the records state."""
    found: list[StatedRelationship] = []
    for start in range(0, len(record_ids), _AT_ONCE):
        some = tuple(record_ids[start : start + _AT_ONCE])
        filters = RelationshipFilters(predicates=walk.predicates, day=walk.day, records=some)
        found += await reading.services.store.relationships(filters, scope=reading.scope)
    return found


def _found(stated: Sequence[StatedRelationship], wanted: PathQuery) -> list[ReachedEntity]:
    return [
        each
        for each in reached(stated, wanted.walk)
        if (not wanted.types or each.entity.type in wanted.types)
        and (not wanted.targets or each.entity.entity_id in wanted.targets)
    ]


def _key(each: ReachedEntity, by: str) -> Key:
    return {"score": each.score_nano, "hops": each.hops}.get(by, each.entity.entity_id), each.entity.entity_id


def _reached_json(each: ReachedEntity, shown: Mapping[str, AdmittedItem]) -> JsonObject:
    """The entity with its path, each relationship as it is seen from where it is walked from."""
    items = [shown[step.stated.edge.record_id] for step in each.path]
    return {
        "entity": end_json(each.entity, whole=not items[-1].redacted),
        "score": round(each.score_nano / NANO, _PLACES),
        "hops": each.hops,
        "path": [
            relationship_json(step.stated, item, seen_from=step.start)
            for step, item in zip(each.path, items, strict=True)
        ],
    }
