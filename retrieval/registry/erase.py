"""Erasure from the store of record: ids and digests of a document stay, its text and what was made of it go."""

from __future__ import annotations

from collections.abc import Collection

from retrieval.model import Lifecycle
from retrieval.registry import sums
from retrieval.registry.sql.engine import Session, marks
from retrieval.registry.writes import grow

_WORDED = {
    "document": ("title", "license", "attribution", "uri", "text"),
    "record": ("text", "heading", "statement", "place_name"),
    "gazetteer_entry": ("name", "names"),
    "relationship": ("subject_name", "object_name"),
    "document_field": ("value",),
}
"""The columns that hold words of a source. Ids and digests stay."""


def wording(session: Session, document_ids: Collection[str]) -> tuple[bytes, ...]:
    """Everything that the store holds of the documents in words, in UTF-8."""
    found = set()
    for table, columns in _WORDED.items():
        listed = f"SELECT {', '.join(columns)} FROM {table} WHERE document_id IN ({marks(len(document_ids))})"  # noqa: S608
        for row in session.rows(listed, tuple(document_ids)):
            found |= {each.encode() if isinstance(each, str) else bytes(each) for each in row if each}
    return tuple(sorted(found))


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
    sums.keep(session, gone)
    if gone:
        grow(session, [tenant])
    return tuple(gone)
