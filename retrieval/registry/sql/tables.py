"""The registry's tables, declared once for every SQL store.

`ddl` alone is called at run time, when a store is made or brought up to date: importing SQLModel takes longer than a
whole question, so the statements of the hot path are plain SQL (`reads.py`, `writes.py`) in the subset that SQLite and
PostgreSQL share. A test holds their columns against these tables.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, LargeBinary, UniqueConstraint, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import registry
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement
from sqlmodel import Field, SQLModel

_MEASURED = text("measure IS NOT NULL")


class Base(SQLModel, registry=registry()):
    """Own metadata, so that no other package's tables mix in."""


class CollectionRow(Base, table=True):
    """A named knowledge base."""

    __tablename__ = "collection"
    __table_args__ = (UniqueConstraint("tenant", "name"),)
    collection_id: str = Field(primary_key=True)
    tenant: str
    name: str
    title: str


class ClassRow(Base, table=True):
    """A visibility class; lists are JSON text, sorted."""

    __tablename__ = "visibility_class"
    class_id: str = Field(primary_key=True)
    tenant: str = Field(index=True)
    collection: str
    label: str
    handling: str
    groups: str
    owner_group: str | None = None
    allow_list: str


class DocumentRow(Base, table=True):
    """One version of one source. Digests are `sha256:<hex>`: `source_sha256` of the file, `text_sha256` of the text."""

    __tablename__ = "document"
    __table_args__ = (Index("document_by_source", "tenant", "source_id", "lifecycle"),)
    document_id: str = Field(primary_key=True)
    tenant: str
    source_id: str
    class_id: str = Field(index=True)
    lifecycle: str
    title: str
    license: str
    attribution: str | None = None
    uri: str | None = None
    valid_from_ms: int | None = Field(default=None, sa_type=BigInteger)
    valid_until_ms: int | None = Field(default=None, sa_type=BigInteger)
    media_type: str
    source_sha256: str
    text_sha256: str
    pages: str
    text: bytes = Field(sa_type=LargeBinary)
    stored_ms: int = Field(sa_type=BigInteger)


class RecordRow(Base, table=True):
    """A slice of a document; dates are ISO text, `entities` JSON text, `geometry` WKB."""

    __tablename__ = "record"
    __table_args__ = (
        Index("record_by_document", "document_id", "row_number", "column_name"),
        Index("record_by_measure", "measure", "place_id", sqlite_where=_MEASURED, postgresql_where=_MEASURED),
    )
    record_id: str = Field(primary_key=True)
    document_id: str
    ordinal: int
    kind: str
    class_id: str
    text: str
    start_char: int
    end_char: int
    start_byte: int
    end_byte: int
    page: int | None = None
    row_number: int | None = None
    column_name: str | None = None
    feature: str | None = None
    heading: str | None = None
    statement: str | None = None
    time_start: str | None = None
    time_end: str | None = None
    entities: str | None = None
    place_id: str | None = None
    place_name: str | None = None
    place_type: str | None = None
    measure: str | None = None
    value: str | None = None
    unit: str | None = None
    measured_start: str | None = None
    measured_end: str | None = None
    geometry: bytes | None = Field(default=None, sa_type=LargeBinary)


class GazetteerRow(Base, table=True):
    """A name of an entity as one document states it; `names` is JSON text."""

    __tablename__ = "gazetteer_entry"
    document_id: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    class_id: str = Field(index=True)
    entity_id: str
    name: str
    type: str
    names: str


class FieldRow(Base, table=True):
    """A value of a metadata field of a document. `value` is its key (`retrieval.filters`): stores compare it byte by
    byte."""

    __tablename__ = "document_field"
    __table_args__ = (Index("document_by_field", "field", "value"),)
    document_id: str = Field(primary_key=True)
    field: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    value: bytes = Field(sa_type=LargeBinary)


class SumRow(Base, table=True):
    """The digest (SHA-256, hex) of a part of what is kept under a document's or a collection's id."""

    __tablename__ = "kept_sum"
    kept: str = Field(primary_key=True)
    part: str = Field(primary_key=True)
    sha256: str


class RelationshipRow(Base, table=True):
    """A typed edge and the record that states it."""

    __tablename__ = "relationship"
    document_id: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    class_id: str
    record_id: str
    subject_id: str = Field(index=True)
    subject_name: str
    subject_type: str
    predicate: str
    object_id: str = Field(index=True)
    object_name: str
    object_type: str
    time_start: str | None = None
    time_end: str | None = None


class FileRow(Base, table=True):
    """One file of one ingest run, from the first second."""

    __tablename__ = "ingest_file"
    run_id: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    tenant: str = Field(index=True)
    path: str
    source_id: str
    state: str
    stage: str
    document_id: str | None = None
    passages: int = 0
    observations: int = 0
    features: int = 0
    error_code: str | None = None
    error_message: str | None = None
    updated_ms: int = Field(sa_type=BigInteger)


class JobRow(Base, table=True):
    """A job of ingest: whose it is, what it takes in under which access facts, and how far it has come. No words of a
    file: names are in the rows of its run."""

    __tablename__ = "ingest_job"
    __table_args__ = (Index("job_by_owner", "tenant", "owner", "job_id"),)
    job_id: str = Field(primary_key=True)
    tenant: str
    owner: str
    origin: str
    collection: str | None = None
    label: str | None = None
    groups: str
    files: int
    state: str
    run_id: str | None = None
    entry_id: str | None = None
    attempts: int = 0
    cancelled: int = 0
    error_code: str | None = None
    created_ms: int = Field(sa_type=BigInteger)
    updated_ms: int = Field(sa_type=BigInteger)


class TenantRow(Base, table=True):
    """A version that grows with every change that a reader of the tenant could notice."""

    __tablename__ = "corpus"
    tenant: str = Field(primary_key=True)
    version: int = Field(sa_type=BigInteger)


def ddl(dialect: str, *, only: str | None = None) -> tuple[str, ...]:
    """The statements that create every table and index, or those of one table, for `sqlite` or `postgresql`."""
    chosen = {"sqlite": sqlite.dialect, "postgresql": postgresql.dialect}[dialect]()
    statements: list[DDLElement] = []
    for table in Base.metadata.sorted_tables:
        if only in (None, table.name):
            indexes = sorted(table.indexes, key=lambda index: str(index.name))
            statements += [CreateTable(table), *map(CreateIndex, indexes)]
    return tuple(str(statement.compile(dialect=chosen)).strip() for statement in statements)
