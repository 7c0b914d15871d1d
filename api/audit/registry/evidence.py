"""Entries of the registry as evidence, so that the rules that decide over passages decide over them."""

from __future__ import annotations

from retrieval.model import (
    ChannelName,
    ChannelRank,
    Evidence,
    Locator,
    Record,
    RecordKind,
    SourcedRecord,
    SourceFacts,
)
from retrieval.registry.assets.model import Asset, EntityStatement

_NOWHERE = Locator(0, 0, 0, 0)
_FROM_REGISTRY = (ChannelRank(ChannelName.FULLTEXT, "record", 1, 0.0),)


def asset_evidence(asset: Asset) -> Evidence:
    """An asset; its words are its title."""
    return _stated(f"asset:{asset.asset_id}", asset.facts.title, asset.facts)


def statement_evidence(statement: EntityStatement, facts: SourceFacts) -> Evidence:
    """An entity as a document names it; its words are its names, one a line."""
    name = f"entity:{statement.entity.entity_id}@{statement.document_id}"
    return _stated(name, "\n".join(statement.names), facts)


def record_evidence(sourced: SourcedRecord) -> Evidence:
    """A stored record, such as the one that states a relationship."""
    return Evidence(1, sourced.record.record_id, (sourced,), _FROM_REGISTRY, 0.0)


def _stated(name: str, text: str, facts: SourceFacts) -> Evidence:
    record = Record(
        record_id=name,
        kind=RecordKind.PASSAGE,
        document_id=facts.document_id,
        source_id=facts.source_id,
        class_id=facts.visibility.class_id,
        ordinal=0,
        text=text,
        locator=_NOWHERE,
    )
    return Evidence(1, name, (SourcedRecord(record, facts),), _FROM_REGISTRY, 0.0)
