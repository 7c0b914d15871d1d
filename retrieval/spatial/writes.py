"""The rows that ingest puts into the spatial database: a row per fact, its bounds, and which place lies in which."""

from __future__ import annotations

from collections.abc import Collection

import apsw

from retrieval.index import IndexBatch
from retrieval.model import Record
from retrieval.spatial import geometry
from retrieval.spatial.fact_row import CONTAINMENT, fact_row, inside_row
from retrieval.spatial.facts import Fact

_PUT_FACT = (
    "INSERT INTO fact(record_id, document_id, source_id, tenant, class_id, place_id, place_name, place_type, measure,"
    " value, unit, start_day, end_day, geometry) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)


def put(connection: apsw.Connection, batch: IndexBatch) -> None:
    """Adds whole documents, in place of what was there of them."""
    documents = sorted({r.document_id for r in batch.records})
    delete(connection, documents)
    connection.executemany("INSERT INTO document VALUES (?)", [(d,) for d in documents])
    for record in batch.records:
        fact = Fact.of(record)
        if fact is not None:
            _put(connection, batch.tenant, record, fact)
    held = set(documents)
    stated = [r for r in batch.relationships if r.predicate == CONTAINMENT and r.document_id in held]
    inside = [inside_row(batch.tenant, r) for r in stated]
    connection.executemany("INSERT INTO inside VALUES (?,?,?,?,?,?,?,?,?,?)", inside)


def _put(connection: apsw.Connection, tenant: str, record: Record, fact: Fact) -> None:
    connection.execute(_PUT_FACT, fact_row(tenant, record, fact))
    if fact.geometry is not None:
        west, south, east, north = geometry.bounds(fact.geometry)
        rid = connection.last_insert_rowid()
        connection.execute("INSERT INTO box VALUES (?,?,?,?,?)", (rid, west, east, south, north))


def delete(connection: apsw.Connection, document_ids: Collection[str]) -> None:
    """Takes documents out."""
    for document_id in document_ids:
        connection.execute("DELETE FROM box WHERE rid IN (SELECT rid FROM fact WHERE document_id = ?)", (document_id,))
        for table in ("fact", "inside", "document"):
            connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))  # noqa: S608


def clear(connection: apsw.Connection) -> None:
    """Takes everything out."""
    for table in ("box", "fact", "inside", "document"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608
