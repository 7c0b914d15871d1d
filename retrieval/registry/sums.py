"""Sums over what is kept of each document, so that damage to it is found. They are written with the rows that they are
over; whoever compares them reads everything.

A sum finds what a disk, a restore or a hand changed. Whoever may write the store may write its sums too: what holds
against them is the manifest hash that ingest writes to the ledger.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from retrieval.errors import StoreDamaged
from retrieval.registry.reads import digest_of_text
from retrieval.registry.sql import rows
from retrieval.registry.sql.engine import Row, Session

_ABOUT = (
    "document_id, tenant, source_id, class_id, lifecycle, title, license, attribution, uri, valid_from_ms,"
    " valid_until_ms, media_type, source_sha256, text_sha256, pages, stored_ms"
)
_PARTS = {
    "what is said of it": f"SELECT {_ABOUT} FROM document WHERE document_id = ?",  # noqa: S608
    "metadata": "SELECT field, position, value FROM document_field WHERE document_id = ? ORDER BY field, position",
    "passages, figures and features": f"SELECT {rows.RECORD} FROM record WHERE document_id = ? ORDER BY record_id",  # noqa: S608
    "names": f"SELECT {rows.GAZETTEER} FROM gazetteer_entry WHERE document_id = ? ORDER BY position",  # noqa: S608
    "relationships": f"SELECT {rows.RELATIONSHIP} FROM relationship WHERE document_id = ? ORDER BY position",  # noqa: S608
}
"""The parts of a document that have a sum each, as a finding names them. The text has its own in `text_sha256`."""
_COLLECTION = "SELECT collection_id, tenant, name, title FROM collection WHERE collection_id = ?"
_OF_DOCUMENTS = ("record", "gazetteer_entry", "relationship", "document_field")


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not what was stored: a source or a collection, and which part of it; `derived` from what is as
    it was, so that it can be made again."""

    name: str
    part: str
    derived: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.part}"


def keep(session: Session, document_ids: Collection[str], parts: Collection[str] = tuple(_PARTS)) -> None:
    """Writes the sums of those parts as they stand now. A document that is gone has none."""
    for document_id in sorted(document_ids):
        if session.rows("SELECT 1 FROM document WHERE document_id = ?", (document_id,)):
            for part in parts:
                _put(session, document_id, part, session.rows(_PARTS[part], (document_id,)))
        else:
            session.run("DELETE FROM kept_sum WHERE kept = ?", (document_id,))


def keep_said(session: Session, document_ids: Collection[str]) -> None:
    """As `keep`, of what is said of documents alone: their rows are what they were."""
    keep(session, document_ids, ("what is said of it", "metadata"))


def keep_collection(session: Session, collection_id: str) -> None:
    """Writes the sum of a collection."""
    _put(session, collection_id, "collection", session.rows(_COLLECTION, (collection_id,)))


def begin(session: Session) -> None:
    """Writes the sums of everything in a store that was made before there were any."""
    keep(session, [document_id for (document_id,) in session.rows("SELECT document_id FROM document")])
    for (collection_id,) in session.rows("SELECT collection_id FROM collection"):
        keep_collection(session, collection_id)


def _put(session: Session, kept: str, part: str, held: Sequence[Row]) -> None:
    session.run(
        "INSERT INTO kept_sum (kept, part, sha256) VALUES (?, ?, ?)"
        " ON CONFLICT (kept, part) DO UPDATE SET sha256 = excluded.sha256",
        (kept, part, _sum(held)),
    )


def _sum(held: Sequence[Row]) -> str:
    whole = hashlib.sha256()
    for row in held:
        whole.update(repr(tuple(bytes(each) if isinstance(each, memoryview) else each for each in row)).encode())
    return whole.hexdigest()


def damage(session: Session) -> Iterator[Damage]:
    """Everything in the store that is not what was stored, by document: whatever a sum is not of, rows of no document,
    and classes whose id is not that of their access facts."""
    held = {(kept, part): told for kept, part, told in session.rows("SELECT kept, part, sha256 FROM kept_sum")}
    listed = session.rows(
        "SELECT document_id, source_id, lifecycle, text_sha256 FROM document ORDER BY source_id, document_id"
    )
    for document_id, source_id, lifecycle, text_sha256 in listed:
        name = f"source {source_id} ({document_id})"
        for part, statement in _PARTS.items():
            if held.pop((document_id, part), None) != _sum_as_it_is(session, statement, document_id):
                yield Damage(name, part)
        if lifecycle != "erased" and _text_sum(session, document_id) != text_sha256:
            yield Damage(name, "text")
    for collection_id, collection in session.rows("SELECT collection_id, name FROM collection ORDER BY name"):
        if held.pop((collection_id, "collection"), None) != _sum_as_it_is(session, _COLLECTION, collection_id):
            yield Damage(f"collection {collection}", "name and title")
    for kept in sorted({kept for kept, _ in held}):
        yield Damage(f"document or collection {kept}", "everything: it is not there any more")
    yield from _of_no_document(session)
    yield from _classes(session)


def _sum_as_it_is(session: Session, statement: str, kept: str) -> str | None:
    """None for rows that hold what can be no value of theirs."""
    try:
        return _sum(session.rows(statement, (kept,)))
    except StoreDamaged:
        return None


def _text_sum(session: Session, document_id: str) -> str | None:
    try:
        [(text,)] = session.rows("SELECT text FROM document WHERE document_id = ?", (document_id,))
    except StoreDamaged:
        return None
    return digest_of_text(bytes(text))


def _of_no_document(session: Session) -> Iterator[Damage]:
    for table in _OF_DOCUMENTS:
        strays = session.rows(
            f"SELECT DISTINCT document_id FROM {table} WHERE document_id NOT IN"  # noqa: S608
            " (SELECT document_id FROM document) ORDER BY document_id"
        )
        for (document_id,) in strays:
            yield Damage(f"document {document_id}", f"rows in {table} of a document that is not there")


def _classes(session: Session) -> Iterator[Damage]:
    """Documents whose access facts are gone, or other than their class is named after."""
    shown = rows.columns_of("c", rows.CLASS)
    found = session.rows(
        f"SELECT d.source_id, d.document_id, d.valid_from_ms, d.valid_until_ms, {shown} FROM document d"  # noqa: S608
        " LEFT JOIN visibility_class c ON c.class_id = d.class_id ORDER BY d.source_id, d.document_id"
    )
    for source_id, document_id, begins_ms, ends_ms, *row in found:
        if row[0] is None or not rows.is_class(tuple(row), begins_ms, ends_ms):
            yield Damage(f"source {source_id} ({document_id})", "access facts")
