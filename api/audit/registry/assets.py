"""Assets by what they are, what they name and what they say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ai.answer.render import spans_json
from ai.canonical import to_json
from ai.model import AdmittedItem
from ai.search.bodies import metadata_json
from api.audit.reauthorise import Reading
from api.audit.registry.alike import admitted_ids, decided_one_by_one
from api.audit.registry.entities import entities_of
from api.audit.registry.envelope import JsonObject, Listing, PermissionWatch, denied_listing, release
from api.audit.registry.evidence import asset_evidence
from api.audit.registry.relationships import stated_by
from api.audit.registry.search import STRATEGY, Matches, find_words, relevance_json, snippets_json
from api.errors import NoSuchThing
from policy.model import Decision
from retrieval.registry.assets.model import Asset, AssetFilters
from retrieval.registry.assets.paging import Page, PageRequest, page_of
from retrieval.registry.assets.selection import Key, asset_key, graph_narrowing, is_meant
from retrieval.registry.fields import STANDARD

Part = Literal["snippets", "entities", "relationships"]
ABSENT = "There is no such asset."
_SHOWN_APART = frozenset({*STANDARD, "owner", "topic", "tags", "review_state", "source_system"})


@dataclass(frozen=True, slots=True)
class AssetQuery:
    """Requirement 004's `AssetQueryRequest`: filters, words, a page, and what each asset is shown with."""

    filters: AssetFilters
    page: PageRequest
    text: str | None = None
    include: tuple[Part, ...] = ()

    def asked(self) -> JsonObject:
        """As it is recorded."""
        return {"surface": "registry.assets", **to_json(self)}


async def query_assets(wanted: AssetQuery, *, reading: Reading) -> JsonObject:
    """A page of assets, recorded when this returns. Raises CursorInvalid, ChannelUnavailable, PolicyUnavailable,
    StoreUnavailable, LedgerUnavailable."""
    asked = wanted.asked()
    if not reading.access.decision.allowed:
        return await release(denied_listing(wanted.page), asked, wanted.page, reading=reading)
    return await release(await _listing(wanted, reading), asked, wanted.page, reading=reading)


async def read_asset(asset_id: str, *, reading: Reading) -> JsonObject:
    """One asset with its entities and relationships, recorded when this returns. Raises NoSuchThing, alike for what is
    absent and what is not admitted."""
    wanted = AssetQuery(AssetFilters(), PageRequest(1, 0, "asset_id"), include=("entities", "relationships"))
    found = [each for each in await _visible(wanted.filters, reading) if each.asset_id == asset_id]
    listing = await _shown(wanted, found, None, reading, matched=len(found))
    if not listing.results:
        raise NoSuchThing(ABSENT)
    asked = {"surface": "registry.asset", "asset_id": asset_id}
    envelope = await release(listing, asked, wanted.page, reading=reading)
    told: JsonObject = envelope["results"][0]
    return told | {name: envelope[name] for name in ("correlation_id", "entry_id", "receipt")}


async def _visible(filters: AssetFilters, reading: Reading) -> list[Asset]:
    """The assets of the scope that the filters mean."""
    store, narrowing = reading.services.store, graph_narrowing(filters)
    documents = await store.documents_of(narrowing, scope=reading.scope) if narrowing.narrows else None
    held = await store.assets(scope=reading.scope, lifecycles=filters.lifecycles)
    return [asset for asset in held if is_meant(asset, filters, documents)]


async def _listing(wanted: AssetQuery, reading: Reading) -> Listing:
    found = await _visible(wanted.filters, reading)
    return await _shown(wanted, found, wanted.text, reading, matched=len(found))


async def _shown(
    wanted: AssetQuery, found: Sequence[Asset], text: str | None, reading: Reading, *, matched: int
) -> Listing:
    watch = PermissionWatch()
    with watch:
        admitted = await admitted_ids([asset_evidence(asset) for asset in found], reading)
    seen = [asset for asset in found if asset_evidence(asset).record_id in admitted]
    matches = None
    if text is not None:
        matches = await find_words(text, {asset.facts.document_id for asset in seen}, reading)
    with watch:
        page, items, decisions = await _page(wanted, seen, matches, reading)
    shown = [items[asset_evidence(asset).record_id] for asset in page.items]
    parts, more_items = await _parts(page.items, wanted.include, reading)
    results = [
        _asset_json(asset, item, text, matches if "snippets" in wanted.include or text else None, wanted.include)
        | parts.get(asset.asset_id, {})
        for asset, item in zip(page.items, shown, strict=True)
    ]
    return Listing(
        page=page,
        results=results,
        shown=[*shown, *more_items, *_quoted(page.items, matches)],
        decisions=(*decisions, *(matches.decisions if matches else ())),
        matched=matched,
        permission_ms=watch.ms,
        diagnostics=matches.diagnostics if matches else (),
        more={"search": _search_json(text, seen, page)},
    )


def _search_json(text: str | None, seen: Sequence[Asset], page: Page[Asset]) -> JsonObject | None:
    """The measurement of a search: in how many of the caller's assets the words were sought."""
    if text is None:
        return None
    return {
        "strategy": STRATEGY,
        "query": text,
        "indexed_assets": len(seen),
        "indexed_representations": len({asset.facts.document_id for asset in seen}),
        "zero_results": page.total == 0,
    }


async def _page(
    wanted: AssetQuery, seen: Sequence[Asset], matches: Matches | None, reading: Reading
) -> tuple[Page[Asset], Mapping[str, AdmittedItem], tuple[Decision, ...]]:
    """The page in its order, its items as they may be shown, and the decisions over them."""
    kept = seen if matches is None else [asset for asset in seen if asset.facts.document_id in matches.by_document]
    titled: Mapping[str, str] = {}
    if wanted.page.sort_by == "title":
        titles = await decided_one_by_one([asset_evidence(asset) for asset in kept], reading)
        titled = {name: item.text for name, item in titles.items.items()}
    keyed: dict[Key, Asset] = {}
    for asset in kept:
        if wanted.page.sort_by == "relevance" and matches is not None:
            keyed[matches.ranks[asset.facts.document_id], asset.asset_id] = asset
        else:
            title = titled.get(asset_evidence(asset).record_id, "")
            keyed[asset_key(asset, wanted.page.sort_by, title=title)] = asset
    asked = {name: value for name, value in wanted.asked().items() if name not in ("page", "include")}
    page = page_of(keyed, wanted.page, query=asked)
    if wanted.page.sort_by == "relevance":  # ranks move while others write
        page = replace(page, next_cursor=None)
    decided = await decided_one_by_one([asset_evidence(asset) for asset in page.items], reading)
    return page, decided.items, decided.decisions


def _quoted(assets: Sequence[Asset], matches: Matches | None) -> list[AdmittedItem]:
    if matches is None:
        return []
    return [item for asset in assets for item in matches.by_document[asset.facts.document_id]]


async def _parts(
    assets: Sequence[Asset], include: Collection[Part], reading: Reading
) -> tuple[Mapping[str, JsonObject], list[AdmittedItem]]:
    """The parts that the assets are shown with, by id, and the items behind them."""
    parts: dict[str, JsonObject] = {asset.asset_id: {} for asset in assets}
    items: list[AdmittedItem] = []
    if "entities" in include and assets:
        named, stated = await entities_of({asset.facts.document_id: asset.facts for asset in assets}, reading)
        items += stated
        for asset in assets:
            parts[asset.asset_id]["entities"] = named.get(asset.facts.document_id, [])
    if "relationships" in include and assets:
        edges, stating = await stated_by(tuple(parts), reading)
        items += stating
        for asset in assets:
            parts[asset.asset_id]["relationships"] = edges.get(asset.asset_id, [])
    return parts, items


def _asset_json(
    asset: Asset, item: AdmittedItem, text: str | None, matches: Matches | None, include: Collection[Part]
) -> JsonObject:
    facts, document_id = asset.facts, asset.facts.document_id
    return {
        "asset_id": asset.asset_id,
        "title": item.text,
        "redacted": spans_json(item.redacted),
        "asset_type": asset.asset_type,
        "lifecycle": facts.lifecycle.value,
        "classification": {
            "sensitivity": facts.visibility.label,
            "collection": facts.collection,
            "owner": asset.owner,
            "topics": list(asset.listed("topic")),
            "tags": list(asset.listed("tags")),
            "review_state": asset.review_state,
        },
        "source_references": [
            {
                "source_reference_id": asset.asset_id,
                "system": asset.source_system,
                "name": asset.name,
                "uri": facts.uri,
                "license": facts.license,
                "attribution": facts.attribution,
            }
        ],
        "representations": [
            {
                "representation_id": document_id,
                "kind": asset.representation_kind,
                "media_type": asset.media_type,
                "source_sha256": asset.stored_sha256,
                "text_sha256": facts.document_sha256,
            }
        ],
        "metadata_records": [
            {"name": name, "value": value}
            for name, value in metadata_json(asset.metadata).items()
            if name not in _SHOWN_APART
        ],
        "valid_until_ms": facts.valid_until_ms,
        "created_at_ms": asset.created_ms,
        "updated_at_ms": asset.updated_ms,
        "workflow_run": asset.workflow_run,
        "relevance": relevance_json(text, document_id, matches) if text and matches else None,
        "snippets": snippets_json(text, document_id, matches) if text and matches and "snippets" in include else [],
        "diagnostics": [],
    }
