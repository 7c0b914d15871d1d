"""Contextual entities, as the documents name them that the caller may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai.canonical import to_json
from ai.model import AdmittedItem
from api.audit.reauthorise import Reading
from api.audit.registry.alike import admitted_ids, decided_one_by_one
from api.audit.registry.envelope import (
    JsonObject,
    Listing,
    PermissionWatch,
    denied_listing,
    release,
)
from api.audit.registry.evidence import statement_evidence
from retrieval.model import SourceFacts
from retrieval.registry.assets.model import EntityFilters, EntityStatement
from retrieval.registry.assets.paging import PageRequest, page_of
from retrieval.registry.assets.selection import Key, folded

_MOST_SOURCES = 20


@dataclass(frozen=True, slots=True)
class EntityQuery:
    """Requirement 004's `ContextEntityQueryRequest`."""

    filters: EntityFilters
    page: PageRequest

    def asked(self) -> JsonObject:
        """As it is recorded."""
        return {"surface": "registry.entities", **to_json(self)}


async def query_entities(wanted: EntityQuery, *, reading: Reading) -> JsonObject:
    """A page of entities, recorded when this returns. Raises as `query_assets`."""
    asked = wanted.asked()
    if not reading.access.decision.allowed:
        return await release(denied_listing(wanted.page), asked, wanted.page, reading=reading)
    watch, store = PermissionWatch(), reading.services.store
    statements = await store.entity_statements(wanted.filters, scope=reading.scope)
    facts = await _facts(reading)
    known = [each for each in statements if each.document_id in facts]
    with watch:
        admitted = await admitted_ids([statement_evidence(s, facts[s.document_id]) for s in known], reading)
        grouped: dict[str, list[EntityStatement]] = {}
        for each in known:
            if statement_evidence(each, facts[each.document_id]).record_id in admitted:
                grouped.setdefault(each.entity.entity_id, []).append(each)
        plain = await _plain_names(grouped, facts, reading) if wanted.page.sort_by != "entity_id" else {}
        keyed: dict[Key, list[EntityStatement]] = {
            (_key(wanted.page.sort_by, stated, plain), entity_id): stated for entity_id, stated in grouped.items()
        }
        page = page_of(keyed, wanted.page, query={"entities": to_json(wanted.filters)})
        shown = [statement_evidence(s, facts[s.document_id]) for stated in page.items for s in stated]
        decided = await decided_one_by_one(shown, reading)
    results = [_entity_json(stated, facts, decided.items) for stated in page.items]
    items = list(decided.items.values())
    matched = len({each.entity.entity_id for each in statements})
    listing = Listing(page, results, items, decided.decisions, matched, watch.ms)
    return await release(listing, asked, wanted.page, reading=reading)


def _key(by: str, stated: Sequence[EntityStatement], plain: Mapping[str, str]) -> str:
    entity = stated[0].entity
    return {"entity_id": entity.entity_id, "type": entity.type}.get(by) or folded(plain.get(entity.entity_id, ""))


async def _plain_names(
    grouped: Mapping[str, Sequence[EntityStatement]], facts: Mapping[str, SourceFacts], reading: Reading
) -> Mapping[str, str]:
    """The names as they are shown, by entity: an order by withheld words would tell them."""
    firsts = {name: statement_evidence(s[0], facts[s[0].document_id]) for name, s in grouped.items()}
    decided = await decided_one_by_one([*firsts.values()], reading)
    return {
        name: decided.items[first.record_id].text.partition("\n")[0]
        for name, first in firsts.items()
        if first.record_id in decided.items
    }


async def entities_of(
    facts: Mapping[str, SourceFacts], reading: Reading
) -> tuple[Mapping[str, list[JsonObject]], list[AdmittedItem]]:
    """The entities that documents name, by document, and the items behind them."""
    everything = await reading.services.store.entity_statements(EntityFilters(), scope=reading.scope)
    stated = [each for each in everything if each.document_id in facts]
    decided = await decided_one_by_one([statement_evidence(s, facts[s.document_id]) for s in stated], reading)
    found: dict[str, list[JsonObject]] = {}
    for each in stated:
        item = decided.items.get(statement_evidence(each, facts[each.document_id]).record_id)
        if item is not None:
            names = item.text.split("\n")
            told = {"entity_id": each.entity.entity_id, "name": names[0], "type": each.entity.type}
            found.setdefault(each.document_id, []).append(told)
    return found, list(decided.items.values())


async def _facts(reading: Reading) -> Mapping[str, SourceFacts]:
    held = await reading.services.store.assets(scope=reading.scope, lifecycles=("active",))
    return {asset.facts.document_id: asset.facts for asset in held}


def _entity_json(
    stated: Sequence[EntityStatement], facts: Mapping[str, SourceFacts], shown: Mapping[str, AdmittedItem]
) -> JsonObject:
    """An entity with every name that it is shown by; an entity has no name of its own beside those of documents."""
    entity = stated[0].entity
    items = [shown.get(statement_evidence(s, facts[s.document_id]).record_id) for s in stated]
    names = list(dict.fromkeys(name for item in items if item is not None for name in item.text.split("\n")))
    ends = [facts[s.document_id].valid_until_ms for s in stated]
    return {
        "entity_id": entity.entity_id,
        "type": entity.type,
        "name": names[0] if names else "",
        "names": names,
        "external_references": [_reference(entity.entity_id)],
        "valid_until_ms": None if None in ends else max(end for end in ends if end is not None),
        "evidence_count": len(stated),
        "evidence": [
            {"asset_id": facts[s.document_id].source_id, "representation_id": s.document_id}
            for s in stated[:_MOST_SOURCES]
        ],
    }


def _reference(entity_id: str) -> JsonObject:
    scheme, _, value = entity_id.partition(":")
    return {"system": scheme if value else "", "value": value or scheme}
