"""Which assets are meant, and in which order: plain functions over what the store gave."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from retrieval.registry.assets.model import Asset, AssetFilters, GraphNarrowing

ASSET_SORTS = ("asset_id", "title", "asset_type", "lifecycle", "created_at", "updated_at")
Key = tuple[str | int, str]
"""The value that assets are sorted by, and the id that breaks ties."""


def graph_narrowing(wanted: AssetFilters) -> GraphNarrowing:
    """The part of the filters that the store looks up."""
    return GraphNarrowing(wanted.entities, wanted.related, wanted.predicates, wanted.metadata)


def is_meant(asset: Asset, wanted: AssetFilters, documents: Collection[str] | None) -> bool:
    """True if every filter holds; `documents` are those that the store found (None: not narrowed)."""
    facts = asset.facts
    one_of = (
        (wanted.types, (asset.asset_type,)),
        (wanted.lifecycles, (facts.lifecycle.value,)),
        (wanted.sensitivities, (facts.visibility.label,)),
        (wanted.owners, (asset.owner,)),
        (wanted.topics, asset.listed("topic")),
        (wanted.review_states, (asset.review_state,)),
        (wanted.collections, (facts.collection,)),
        (wanted.tags, asset.listed("tags")),
        (wanted.source_systems, (asset.source_system,)),
        (wanted.source_names, (asset.name,)),
        (wanted.representation_kinds, (asset.representation_kind,)),
        (wanted.workflow_runs, (asset.workflow_run,)),
    )
    return (
        all(not values or any(each in values for each in held) for values, held in one_of)
        and wanted.created.hold(asset.created_ms)
        and wanted.updated.hold(asset.updated_ms)
        and (documents is None or facts.document_id in documents)
    )


def asset_key(asset: Asset, by: str, *, title: str) -> Key:
    """The key of an asset in an order of `ASSET_SORTS`. `title` is the one that the reader is shown: an order by other
    words would tell them."""
    values: dict[str, str | int] = {
        "asset_id": asset.asset_id,
        "title": folded(title),
        "asset_type": asset.asset_type,
        "lifecycle": asset.facts.lifecycle.value,
        "created_at": asset.created_ms,
        "updated_at": asset.updated_ms,
    }
    return values[by], asset.asset_id


def folded(text: str) -> str:
    """The text as names are ordered: NFKC, whatever the case."""
    return unicodedata.normalize("NFKC", text).casefold()
