"""Erasure from the store of record: ids and digests of a document stay, its text and what was made of it go."""

from __future__ import annotations

from retrieval.model import Lifecycle
from retrieval.registry.engine import Session, marks
from retrieval.registry.writes import grow


def erase(session: Session, tenant: str, name: str) -> tuple[str, ...]:
    """Every version of the source of that id, or the document of that id; gives the documents."""
    held = session.rows(
        "SELECT document_id FROM document WHERE tenant = ? AND (source_id = ? OR document_id = ?) ORDER BY document_id",
        (tenant, name, name),
    )
    gone = [row[0] for row in held]
    wanted = marks(len(gone))
    for table in ("record", "gazetteer_entry", "relationship", "document_field"):
        session.run(f"DELETE FROM {table} WHERE document_id IN ({wanted})", gone)  # noqa: S608
    emptied = "lifecycle = ?, text = ?, title = '', license = '', attribution = NULL, uri = NULL, pages = '[]'"
    session.run(
        f"UPDATE document SET {emptied} WHERE document_id IN ({wanted})",  # noqa: S608
        (Lifecycle.ERASED.value, b"", *gone),
    )
    session.run(
        "UPDATE ingest_file SET path = '', error_message = NULL WHERE tenant = ? AND source_id = ?", (tenant, name)
    )
    if gone:
        grow(session, [tenant])
    return tuple(gone)
