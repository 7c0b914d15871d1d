"""The writes of ingest and its reads, as jobs on one session. It sees every class of the tenant."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence

import rfc8785

from retrieval.filters import Metadata
from retrieval.index import GazetteerEntry, IndexBatch
from retrieval.model import Lifecycle, SourceFacts
from retrieval.registry import fields, sums
from retrieval.registry.reads import digest_of_text
from retrieval.registry.reads import facts as facts_of
from retrieval.registry.sql import rows
from retrieval.registry.sql.engine import Row, Session, marks
from retrieval.registry.store import (
    CorpusManifest,
    Description,
    Document,
    FileJob,
    KnowledgeBase,
    StoredDocument,
    StoredFile,
)
from retrieval.scope import VisibilityClass

_FILE = (
    "run_id, position, tenant, path, source_id, state, stage, document_id, passages, observations, features,"
    " error_code, error_message"
)
_DOCUMENT = (
    "document_id, tenant, source_id, class_id, lifecycle, title, license, attribution, uri, valid_from_ms,"
    " valid_until_ms, media_type, source_sha256, text_sha256, pages, text, stored_ms"
)


def _insert(table: str, columns: str) -> str:
    return f"INSERT INTO {table} ({columns}) VALUES ({marks(columns.count(',') + 1)})"  # noqa: S608


def grow(session: Session, tenants: Iterable[str]) -> None:
    """Let caches of the tenants know that something has changed."""
    for tenant in sorted(set(tenants)):
        session.run(
            "INSERT INTO corpus (tenant, version) VALUES (?, 1)"
            " ON CONFLICT (tenant) DO UPDATE SET version = corpus.version + 1",
            (tenant,),
        )


def put(session: Session, documents: Sequence[Document], batch: IndexBatch, lifecycle: Lifecycle, now_ms: int) -> None:
    """Stores whole documents; what was there under their ids goes first."""
    for document in documents:
        _forget(session, document.facts.document_id)
        _put_document(session, document, lifecycle, now_ms)
    session.run_many(_insert("record", rows.RECORD), map(rows.record_row, batch.records))
    entries = (rows.gazetteer_row(i, entry) for i, entry in enumerate(batch.entries))
    session.run_many(_insert("gazetteer_entry", rows.GAZETTEER), entries)
    edges = (rows.relationship_row(i, edge) for i, edge in enumerate(batch.relationships))
    session.run_many(_insert("relationship", rows.RELATIONSHIP), edges)
    sums.keep(session, [document.facts.document_id for document in documents])
    if lifecycle is Lifecycle.ACTIVE:
        grow(session, (document.facts.visibility.tenant for document in documents))


def _forget(session: Session, document_id: str) -> None:
    if session.rows("SELECT 1 FROM document WHERE document_id = ?", (document_id,)):
        fields.forget(session, document_id)
        for table in ("record", "gazetteer_entry", "relationship", "document"):
            session.run(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))  # noqa: S608
        sums.keep(session, [document_id])


def _put_document(session: Session, document: Document, lifecycle: Lifecycle, now_ms: int) -> None:
    facts, text = document.facts, document.text.encode()
    session.run(
        _insert("visibility_class", rows.CLASS) + " ON CONFLICT (class_id) DO NOTHING",
        rows.class_row(facts.visibility),
    )
    session.run(
        _insert("document", _DOCUMENT),
        (
            *(facts.document_id, facts.visibility.tenant, facts.source_id, facts.visibility.class_id, lifecycle.value),
            *(facts.title, facts.license, facts.attribution, facts.uri, document.valid_from_ms, facts.valid_until_ms),
            *(document.media_type, facts.document_sha256, digest_of_text(text)),
            *(json.dumps(document.pages), text, now_ms),
        ),
    )
    fields.write(session, facts, document.metadata)


def discard(session: Session, document_ids: Collection[str]) -> None:
    """Forgets drafts."""
    for document_id in sorted(document_ids):
        if session.rows("SELECT 1 FROM document WHERE document_id = ? AND lifecycle = 'draft'", (document_id,)):
            _forget(session, document_id)


def put_collection(session: Session, collection: KnowledgeBase) -> None:
    """Adds a collection, or gives it another title."""
    known = session.rows(
        "SELECT title FROM collection WHERE tenant = ? AND name = ?", (collection.tenant, collection.name)
    )
    if known and known[0][0] == collection.title:
        return
    session.run(
        _insert("collection", "collection_id, tenant, name, title")
        + " ON CONFLICT (tenant, name) DO UPDATE SET title = excluded.title",
        (collection.collection_id, collection.tenant, collection.name, collection.title),
    )
    for (collection_id,) in session.rows(
        "SELECT collection_id FROM collection WHERE tenant = ? AND name = ?", (collection.tenant, collection.name)
    ):
        sums.keep_collection(session, collection_id)
    grow(session, [collection.tenant])


def activate(session: Session, document_ids: Collection[str]) -> frozenset[str]:
    """Active now; every other active version of the same sources is superseded and returned."""
    superseded: set[str] = set()
    for document_id in sorted(document_ids):
        found = session.rows("SELECT tenant, source_id FROM document WHERE document_id = ?", (document_id,))
        for tenant, source_id in found:
            others = session.rows(
                "SELECT document_id FROM document WHERE tenant = ? AND source_id = ? AND lifecycle = 'active'",
                (tenant, source_id),
            )
            superseded.update(row[0] for row in others if row[0] not in document_ids)
    _move(session, superseded, Lifecycle.SUPERSEDED)
    _move(session, document_ids, Lifecycle.ACTIVE)
    return frozenset(superseded)


def set_lifecycle(session: Session, document_ids: Collection[str], lifecycle: Lifecycle) -> None:
    """Moves documents to another state of life."""
    _move(session, document_ids, lifecycle)


def _move(session: Session, document_ids: Collection[str], lifecycle: Lifecycle) -> None:
    tenants: set[str] = set()
    for document_id in sorted(document_ids):
        found = session.rows("SELECT tenant, lifecycle FROM document WHERE document_id = ?", (document_id,))
        tenants.update(tenant for tenant, state in found if state != lifecycle.value)
        session.run("UPDATE document SET lifecycle = ? WHERE document_id = ?", (lifecycle.value, document_id))
    sums.keep_said(session, document_ids)
    grow(session, tenants)


def stored(session: Session, tenant: str, lifecycle: Lifecycle) -> tuple[StoredDocument, ...]:
    """The tenant's documents in one state of life, by id."""
    found = session.rows(
        "SELECT d.document_id, d.source_id, d.class_id, c.collection, d.lifecycle FROM document d"
        " JOIN visibility_class c ON c.class_id = d.class_id WHERE d.tenant = ? AND d.lifecycle = ?"
        " ORDER BY d.document_id",
        (tenant, lifecycle.value),
    )
    return tuple(StoredDocument(row[0], row[1], row[2], row[3], Lifecycle(row[4])) for row in found)


def stored_files(session: Session, tenant: str) -> tuple[StoredFile, ...]:
    """The tenant's active documents, by id, with the files that they were read from last."""
    told = session.rows(
        "SELECT document_id, path FROM (SELECT document_id, path, row_number() OVER"
        " (PARTITION BY document_id ORDER BY run_id DESC, position DESC) AS age FROM ingest_file"
        " WHERE tenant = ? AND document_id IS NOT NULL AND state IN ('done', 'skipped')) AS told WHERE age = 1",
        (tenant,),
    )
    paths: dict[str, str] = dict(told)
    sums: dict[str, str] = dict(
        session.rows(
            "SELECT document_id, source_sha256 FROM document WHERE tenant = ? AND lifecycle = 'active'", (tenant,)
        )
    )
    held = stored(session, tenant, Lifecycle.ACTIVE)
    return tuple(StoredFile(each, sums[each.document_id], paths.get(each.document_id, "")) for each in held)


def places(session: Session, tenant: str) -> tuple[GazetteerEntry, ...]:
    """Names of the tenant's active documents whose ids begin with their type, by document."""
    columns = rows.columns_of("g", rows.GAZETTEER)
    found = session.rows(
        f"SELECT {columns} FROM gazetteer_entry g JOIN document d ON d.document_id = g.document_id"  # noqa: S608
        " WHERE d.tenant = ? AND d.lifecycle = 'active' AND substr(g.entity_id, 1, length(g.type) + 1) = g.type || ':'"
        " ORDER BY g.document_id, g.position",
        (tenant,),
    )
    return tuple(rows.gazetteer_value(row) for row in found)


def versions(session: Session, tenant: str, source_id: str) -> tuple[SourceFacts, ...]:
    """Every version of a source, the first stored first."""
    found = session.rows(
        "SELECT document_id FROM document WHERE tenant = ? AND source_id = ? ORDER BY stored_ms, document_id",
        (tenant, source_id),
    )
    facts = (facts_of(session, document_id) for (document_id,) in found)
    return tuple(each for each in facts if each is not None)


def relabel(session: Session, document_ids: Collection[str], visibility: VisibilityClass) -> None:
    """Moves documents with everything in them to another class of their tenant."""
    session.run(
        _insert("visibility_class", rows.CLASS) + " ON CONFLICT (class_id) DO NOTHING", rows.class_row(visibility)
    )
    for document_id in sorted(document_ids):
        for table in ("document", "record", "gazetteer_entry", "relationship"):
            session.run(
                f"UPDATE {table} SET class_id = ? WHERE document_id = ?",  # noqa: S608
                (visibility.class_id, document_id),
            )
        session.cache.clear()
        facts = facts_of(session, document_id)
        if facts is not None:
            fields.write_standard(session, facts)
    sums.keep(session, document_ids)
    grow(session, [visibility.tenant])


def descriptions(session: Session, tenant: str) -> dict[str, Description]:
    """The descriptions of the tenant's active documents, by id."""
    held = fields.of_tenant(session, tenant)
    found = session.rows(
        "SELECT document_id, title, license, attribution, uri, valid_until_ms FROM document"
        " WHERE tenant = ? AND lifecycle = 'active'",
        (tenant,),
    )
    return {row[0]: Description(*row[1:], held.get(row[0], {})) for row in found}  # type: ignore[call-arg]


def set_facts(session: Session, facts: SourceFacts) -> None:
    """Rewrites what a document says of itself without touching text, class or records."""
    session.run(
        "UPDATE document SET title = ?, license = ?, attribution = ?, uri = ?, valid_until_ms = ?"
        " WHERE document_id = ?",
        (facts.title, facts.license, facts.attribution, facts.uri, facts.valid_until_ms, facts.document_id),
    )
    fields.write_standard(session, facts)
    sums.keep_said(session, [facts.document_id])
    grow(session, [facts.visibility.tenant])


def set_metadata(session: Session, document_id: str, metadata: Metadata) -> None:
    """Replaces the source's own fields of a document."""
    known = facts_of(session, document_id)
    held = fields.read(session, [document_id])[document_id]
    if known is None or held == fields.fields_of(known, metadata):
        return
    fields.write(session, known, metadata)
    sums.keep_said(session, [document_id])
    grow(session, [known.visibility.tenant])


def batch(session: Session, tenant: str, document_ids: Collection[str]) -> IndexBatch:
    """Records, gazetteer entries and relationships of documents, in the order in which they were put."""
    wanted = sorted(document_ids)
    held = f"document_id IN ({marks(len(wanted))})"
    named = session.rows(f"SELECT document_id, source_id FROM document WHERE {held}", wanted)  # noqa: S608
    sources: dict[str, str] = dict(named)

    def read(columns: str, table: str, order: str) -> list[Row]:
        statement = f"SELECT {columns} FROM {table} WHERE {held} ORDER BY document_id, {order}"  # noqa: S608
        return session.rows(statement, wanted)

    return IndexBatch(
        tenant=tenant,
        records=[rows.record_value(row, sources[row[1]]) for row in read(rows.RECORD, "record", "ordinal")],
        entries=[rows.gazetteer_value(row) for row in read(rows.GAZETTEER, "gazetteer_entry", "position")],
        relationships=[rows.relationship_value(row) for row in read(rows.RELATIONSHIP, "relationship", "position")],
    )


def tenants(session: Session) -> tuple[str, ...]:
    """Every tenant that has a document."""
    return tuple(row[0] for row in session.rows("SELECT DISTINCT tenant FROM document ORDER BY tenant"))


def put_files(session: Session, files: Sequence[FileJob], now_ms: int) -> None:
    """Adds or rewrites rows of an ingest run."""
    changed = ", ".join(f"{column} = excluded.{column}" for column in [*_FILE.split(", ")[4:], "updated_ms"])
    statement = (
        _insert("ingest_file", _FILE + ", updated_ms") + f" ON CONFLICT (run_id, position) DO UPDATE SET {changed}"
    )
    session.run_many(statement, [(*(getattr(file, name) for name in _FILE.split(", ")), now_ms) for file in files])


def files(session: Session, tenant: str, run_id: str | None) -> tuple[FileJob, ...]:
    """The rows of a run, by default the tenant's last one."""
    if run_id is None:
        last = session.rows("SELECT max(run_id) FROM ingest_file WHERE tenant = ?", (tenant,))
        run_id = last[0][0]
    found = session.rows(
        f"SELECT {_FILE} FROM ingest_file WHERE tenant = ? AND run_id = ? ORDER BY position",  # noqa: S608
        (tenant, run_id or ""),
    )
    return tuple(FileJob(*row) for row in found)


def manifest(session: Session, tenant: str, known: Mapping[str, str]) -> CorpusManifest:
    """`sha256:` over the canonical list of active documents with digests over their rows."""
    documents = session.rows(
        "SELECT document_id, source_id, class_id, title, license, source_sha256, text_sha256, stored_ms FROM document"
        " WHERE tenant = ? AND lifecycle = 'active' ORDER BY document_id",
        (tenant,),
    )
    described = fields.digests(session, tenant)
    listed: list[list[str]] = []
    made: dict[str, str] = {}
    for *row, stored_ms in documents:
        key = f"{row[0]} {row[2]} {stored_ms}"
        made[key] = known.get(key) or " ".join(_rows_digest(session, row[0], *part) for part in _PARTS)
        listed.append([*row, *made[key].split(" "), described.get(row[0], fields.NOTHING)])
    return CorpusManifest("sha256:" + hashlib.sha256(rfc8785.dumps(listed)).hexdigest(), made)


_PARTS = (
    ("record", rows.RECORD, "record_id"),
    ("gazetteer_entry", rows.GAZETTEER, "position"),
    ("relationship", rows.RELATIONSHIP, "position"),
)


def _rows_digest(session: Session, document_id: str, table: str, columns: str, order: str) -> str:
    whole = hashlib.sha256()
    # A position counts within a batch, and a batch holds whatever the run had at hand: only the order counts.
    shown = columns.replace("position, ", "")
    statement = f"SELECT {shown} FROM {table} WHERE document_id = ? ORDER BY {order}"  # noqa: S608
    for row in session.rows(statement, (document_id,)):
        whole.update(repr(row).encode())
    return whole.hexdigest()
