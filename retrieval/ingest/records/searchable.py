"""Records as the channels hold them: the same, with blanks for the words that not everyone may read, and nothing of
those that read like instructions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from retrieval.index import IndexBatch
from retrieval.ingest.records.link import mentions_of
from retrieval.model import Record
from retrieval.scope import VisibilityClass
from retrieval.withheld import searchable

Suspicion = Callable[[str], bool]


def nothing_suspect(_: str) -> bool:
    """Suspects no text."""
    return False


def tagged(classes: Iterable[VisibilityClass]) -> frozenset[str]:
    """The classes with a handling tag: where their records lie may be withheld too."""
    return frozenset(each.class_id for each in classes if each.handling)


def without_suspects(batch: IndexBatch, suspect: Suspicion) -> IndexBatch:
    """The batch without the names and relations that only records state which read like instructions. The records stay,
    so that the store of record holds the document whole; the evidence point refuses them."""
    suspects = {record.record_id for record in batch.records if is_suspect(record, suspect)}
    if not suspects:
        return batch
    clean = {e.entity_id for record in batch.records if record.record_id not in suspects for e in record.entities}
    hostile = {e.entity_id for record in batch.records if record.record_id in suspects for e in record.entities} - clean
    return replace(
        batch,
        entries=[entry for entry in batch.entries if entry.entity.entity_id not in hostile],
        relationships=[edge for edge in batch.relationships if edge.record_id not in suspects],
    )


def for_channels(batch: IndexBatch, *, tagged: Collection[str], suspect: Suspicion) -> IndexBatch:
    """The batch that goes to the channels, with the mentions that its words carry; the store of record keeps the
    original."""
    batch = without_suspects(batch, suspect)
    records = [
        _silent(record) if is_suspect(record, suspect) else _searchable(record, places=record.class_id in tagged)
        for record in batch.records
    ]
    return replace(batch, records=records, mentions=mentions_of(records))


def is_suspect(record: Record, suspect: Suspicion) -> bool:
    """True if the record reads like an instruction, so that nothing finds it."""
    return suspect(as_scanned(record.text, record.statement, record.heading))


def as_scanned(text: str, statement: str | None, heading: str | None) -> str:
    """The words of a record that are read as one text."""
    return "\n".join(part for part in (text, statement, heading) if part)


def _silent(record: Record) -> Record:
    """The record without anything that it could be found by; a channel still knows of its document."""
    return replace(
        record,
        text="",
        heading=None,
        statement=None,
        time=None,
        entities=(),
        measurement=None,
        geometry=None,
        attribute=None,
    )


def _searchable(record: Record, *, places: bool) -> Record:
    words = (record.text, record.heading, record.statement)
    text, heading, statement = (None if each is None else searchable(each, places=places) for each in words)
    if (text, heading, statement) == words:
        return record
    return replace(record, text=text or "", heading=heading, statement=statement)
