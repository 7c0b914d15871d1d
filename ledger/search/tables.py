"""The queryable side of the log as tables, one declaration for SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import BigInteger, Integer, LargeBinary
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

INDEX_VERSION = 6
_INDEX = BigInteger().with_variant(Integer, "sqlite")
"""An index of the log. SQLite keeps a table by its `INTEGER PRIMARY KEY`, and finds a row of any other in two steps."""


class Base(SQLModel, registry=registry()):
    """Own metadata, so that no other package's tables mix in."""


class VersionRow(Base, table=True):
    """The version of these tables; another one is made anew from the log."""

    __tablename__ = "index_version"
    version: int = Field(primary_key=True)


class EntryRow(Base, table=True):
    """The facts of the leaf, `tenant` being a pseudonym, and the seal of all that stands in any table of the entry."""

    __tablename__ = "entries"
    idx: int = Field(primary_key=True, sa_type=_INDEX)
    id: str = Field(unique=True)
    leaf_hash: str = Field(index=True)
    kind: str = Field(index=True)
    t_ms: int = Field(sa_type=BigInteger, index=True)
    tenant: str = Field(index=True)
    request_id: str = Field(index=True)
    seal: str


class OutcomeRow(Base, table=True):
    """How a request ended, and which model wrote."""

    __tablename__ = "outcomes"
    idx: int = Field(primary_key=True, sa_type=_INDEX)
    outcome: str = Field(index=True)
    model: str | None = Field(default=None, index=True)


class ActorRow(Base, table=True):
    """Whose request it was, as a pseudonym."""

    __tablename__ = "actors"
    idx: int = Field(primary_key=True, sa_type=_INDEX)
    actor: str = Field(index=True)


class SignatureRow(Base, table=True):
    """A piece of the signature of an entry's text. All first pieces lie together, then all second ones: a search reads
    one of the eight, and of the others what that leaves."""

    __tablename__ = "signatures"
    __table_args__ = {"sqlite_with_rowid": False}
    piece: int = Field(primary_key=True)
    idx: int = Field(primary_key=True, sa_type=_INDEX)
    bits: bytes = Field(sa_type=LargeBinary)


class RuleRow(Base, table=True):
    """A policy rule or reason code that spoke."""

    __tablename__ = "rules"
    idx: int = Field(primary_key=True, sa_type=_INDEX)
    rule: str = Field(primary_key=True, index=True)


class PlaceRow(Base, table=True):
    """A place that was asked about, as a pseudonym."""

    __tablename__ = "places"
    idx: int = Field(primary_key=True, sa_type=_INDEX)
    place: str = Field(primary_key=True, index=True)


class SourceRow(Base, table=True):
    """A source or document that was admitted, as a pseudonym."""

    __tablename__ = "sources"
    idx: int = Field(primary_key=True, sa_type=_INDEX)
    source: str = Field(primary_key=True, index=True)


class HeldRow(Base, table=True):
    """A source that was not admitted, of which the entry holds words, as a pseudonym."""

    __tablename__ = "held_sources"
    idx: int = Field(primary_key=True, sa_type=_INDEX)
    source: str = Field(primary_key=True, index=True)


class CitedRow(Base, table=True):
    """A source or document that the answer cites, as a pseudonym."""

    __tablename__ = "cited_sources"
    idx: int = Field(primary_key=True, sa_type=_INDEX)
    source: str = Field(primary_key=True, index=True)


SETS: dict[type[Base], str] = {
    RuleRow: "rules",
    PlaceRow: "places",
    SourceRow: "sources",
    HeldRow: "held",
    CitedRow: "cited",
}
"""Tables of an index and a value, by the field of `EntryFacts` that they hold, in its order."""
