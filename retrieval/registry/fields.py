"""Metadata of documents as rows: one row per value, compared by its key, so that SQLite and PostgreSQL agree."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import assert_never

from retrieval.filters import (
    AnyOf,
    Compare,
    Every,
    Exists,
    Filter,
    Metadata,
    Not,
    Scalar,
    Some,
    bounds,
    key_of,
    keys_of,
    value_of,
)
from retrieval.model import SourceFacts
from retrieval.registry.sql.engine import Row, Session, marks, parsing
from retrieval.registry.sql.validity import VISIBLE, next_change_ms, visible
from retrieval.registry.store import Description
from retrieval.scope import Scope
from retrieval.withheld import blocked

STANDARD = ("doc_id", "source_id", "title", "collection", "license", "url")
"""Fields that every document has, from the facts of its source (`url` only where there is a link)."""
_NAMING = frozenset(STANDARD) - {"title"}
_ROW = "document_id, field, position, value"
_HELD = "EXISTS (SELECT 1 FROM document_field f WHERE f.document_id = d.document_id AND f.field = ?"
_ALONE = -1  # the position of a value that is not a list


def _said(name: str, value: Scalar) -> Scalar:
    """The value without the words that not everyone may read: a filter must not find them either."""
    return blocked(value) if isinstance(value, str) and name not in _NAMING else value


def standard_fields(facts: SourceFacts) -> dict[str, Scalar]:
    """Metadata that a document states about itself."""
    told = (facts.document_id, facts.source_id, facts.title, facts.collection, facts.license, facts.uri)
    return {name: _said(name, value) for name, value in zip(STANDARD, told, strict=True) if value is not None}


def normal(metadata: Metadata) -> dict[str, Scalar | tuple[Scalar, ...]]:
    """The metadata as it comes back from the store: whole numbers without a fraction, lists as tuples, and no list
    that is empty."""
    kept = {name: value for name, value in metadata.items() if value != ()}
    return {
        name: tuple(_said(name, value_of(key)) for key in keys_of(value))
        if isinstance(value, tuple)
        else _said(name, value_of(key_of(value)))
        for name, value in kept.items()
    }


def write(session: Session, facts: SourceFacts, metadata: Metadata) -> None:
    """Replaces everything that is held of the document's metadata."""
    forget(session, facts.document_id)
    session.run_many(
        f"INSERT INTO document_field ({_ROW}) VALUES (?, ?, ?, ?)",  # noqa: S608
        [
            (facts.document_id, name, place if isinstance(value, tuple) else _ALONE, key)
            for name, value in fields_of(facts, metadata).items()
            for place, key in enumerate(keys_of(value))
        ],
    )


def write_standard(session: Session, facts: SourceFacts) -> None:
    """Rewrites the standard fields after the facts have changed."""
    session.run(
        f"DELETE FROM document_field WHERE document_id = ? AND field IN ({marks(len(STANDARD))})",  # noqa: S608
        (facts.document_id, *STANDARD),
    )
    session.run_many(
        f"INSERT INTO document_field ({_ROW}) VALUES (?, ?, ?, ?)",  # noqa: S608
        [(facts.document_id, name, _ALONE, key_of(value)) for name, value in standard_fields(facts).items()],
    )


def digests(session: Session, tenant: str) -> dict[str, str]:
    """SHA-256, hex, over the rows of each active document of the tenant that has any."""
    told: dict[str, list[tuple[str, int, bytes]]] = {}
    for document_id, field, position, key in _rows_of(session, tenant):
        told.setdefault(document_id, []).append((field, position, bytes(key)))
    return {document_id: _digest(listed) for document_id, listed in told.items()}


def _digest(listed: Sequence[tuple[str, int, bytes]]) -> str:
    return hashlib.sha256(repr(listed).encode()).hexdigest()


NOTHING = _digest([])
"""The digest of a document without rows."""


def _rows_of(session: Session, tenant: str) -> list[Row]:
    return session.rows(
        "SELECT f.document_id, f.field, f.position, f.value FROM document_field f"
        " JOIN document d ON d.document_id = f.document_id"
        " WHERE d.tenant = ? AND d.lifecycle = 'active' ORDER BY f.field, f.position",
        (tenant,),
    )


def of_tenant(session: Session, tenant: str) -> Mapping[str, dict[str, Scalar | tuple[Scalar, ...]]]:
    """The metadata of the tenant's active documents; fields by name."""
    return _gathered({}, _rows_of(session, tenant))


def fields_of(facts: SourceFacts, metadata: Metadata) -> dict[str, Scalar | tuple[Scalar, ...]]:
    """The fields that are held of a document. Standard fields win over metadata of the same name."""
    return {**normal(metadata), **standard_fields(facts)}


def description_of(facts: SourceFacts, metadata: Metadata) -> Description:
    """The description that the store holds once these are written."""
    told = (facts.title, facts.license, facts.attribution, facts.uri, facts.valid_until_ms)
    return Description(*told, fields_of(facts, metadata))


def forget(session: Session, document_id: str) -> None:
    """Nothing is held of the document any more."""
    session.run("DELETE FROM document_field WHERE document_id = ?", (document_id,))


def read(session: Session, document_ids: Collection[str]) -> Mapping[str, dict[str, Scalar | tuple[Scalar, ...]]]:
    """The metadata of documents that the caller has found to be admitted; fields by name."""
    wanted = sorted(set(document_ids))
    found: list[Row] = session.rows(
        f"SELECT {_ROW} FROM document_field WHERE document_id IN ({marks(len(wanted))})"  # noqa: S608
        " ORDER BY document_id, field, position",
        wanted,
    )
    return _gathered({document_id: {} for document_id in wanted}, found)


def _gathered(
    told: dict[str, dict[str, Scalar | tuple[Scalar, ...]]], found: Iterable[Row]
) -> dict[str, dict[str, Scalar | tuple[Scalar, ...]]]:
    for document_id, field, position, key in found:
        with parsing(f"metadata of {document_id}"):
            fields, value = told.setdefault(document_id, {}), value_of(bytes(key))
        held = fields.get(field, ())
        fields[field] = value if position == _ALONE else (*held, value) if isinstance(held, tuple) else value
    return told


def matching(session: Session, wanted: Filter, scope: Scope, now_ms: int) -> frozenset[str]:
    """The admitted, active documents that the filter holds for; kept until the store changes."""
    key = ("matching", wanted, scope.digest)
    if key not in session.cache or session.cache[key][0] <= now_ms:
        session.cache[key] = next_change_ms(session, now_ms), _matching(session, wanted, scope, now_ms)
    known: frozenset[str] = session.cache[key][1]
    return known


def _matching(session: Session, wanted: Filter, scope: Scope, now_ms: int) -> frozenset[str]:
    allowed = sorted(scope.class_ids)
    where, parameters = compiled(wanted)
    found = session.rows(
        f"SELECT d.document_id FROM document d WHERE {VISIBLE}"  # noqa: S608
        f" AND d.class_id IN ({marks(len(allowed))}) AND ({where})",
        (*visible(scope.tenant, now_ms), *allowed, *parameters),
    )
    return frozenset(document_id for (document_id,) in found)


def compiled(wanted: Filter) -> tuple[str, tuple[object, ...]]:
    """The filter as a condition on `d`, in the SQL that the stores share, with its parameters. Values are parameters,
    never text."""
    match wanted:
        case AnyOf(field, keys):
            return f"{_HELD} AND f.value IN ({marks(len(keys))}))", (field, *keys)
        case Compare(field):
            return f"{_HELD} AND f.value >= ? AND f.value < ?)", (field, *bounds(wanted))
        case Exists(field):
            return f"{_HELD})", (field,)
        case Every(parts):
            return _joined(parts, " AND ", "1 = 1")
        case Some(parts):
            return _joined(parts, " OR ", "1 = 0")
        case Not(part):
            where, parameters = compiled(part)
            return f"NOT ({where})", parameters
        case _:
            assert_never(wanted)


def _joined(parts: tuple[Filter, ...], word: str, empty: str) -> tuple[str, tuple[object, ...]]:
    conditions = [compiled(part) for part in parts]
    where = word.join(f"({condition})" for condition, _ in conditions) or empty
    return where, tuple(parameter for _, parameters in conditions for parameter in parameters)
