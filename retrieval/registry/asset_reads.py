"""The registry's reads as jobs on one session, in the SQL that the stores share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from retrieval.filters import Filter, Metadata
from retrieval.model import EntityRef
from retrieval.registry import fields, reads
from retrieval.registry.assets.model import (
    Asset,
    EntityFilters,
    EntityStatement,
    GraphNarrowing,
    RelationshipFilters,
    StatedRelationship,
)
from retrieval.registry.sql import rows
from retrieval.registry.sql.engine import Row, Session, marks
from retrieval.scope import Scope

_BEGUN = "d.tenant = ? AND (d.valid_from_ms IS NULL OR d.valid_from_ms <= ?)"
_ACTIVE = f"d.lifecycle = 'active' AND {_BEGUN}"
_AT_ONCE = 500


def assets(session: Session, scope: Scope, lifecycles: Sequence[str], now_ms: int) -> tuple[Asset, ...]:
    """Every source of the scope with a version in one of the states, by id."""
    allowed, states = sorted(scope.class_ids), sorted(set(lifecycles))
    found = session.rows(
        "SELECT d.source_id, d.document_id, d.media_type, d.source_sha256, d.stored_ms FROM document d"  # noqa: S608
        f" WHERE {_BEGUN} AND d.class_id IN ({marks(len(allowed))}) AND d.lifecycle IN ({marks(len(states))})"
        " ORDER BY d.source_id, d.stored_ms, d.document_id",
        (scope.tenant, now_ms, *allowed, *states),
    )
    latest = {row[0]: row for row in found}
    first = _first_stored(session, scope)
    files = _files(session, scope.tenant)
    told: dict[str, Metadata] = {}
    ids = [row[1] for row in latest.values()]
    for start in range(0, len(ids), _AT_ONCE):
        told |= fields.read(session, ids[start : start + _AT_ONCE])
    made = []
    for source_id, document_id, media_type, sha256, stored_ms in latest.values():
        facts = reads.facts(session, document_id)
        if facts is not None:
            run, name = files.get(document_id, (None, ""))
            made.append(
                Asset(facts, media_type, sha256, first[source_id], stored_ms, name, run, told.get(document_id, {}))
            )
    return tuple(made)


def _first_stored(session: Session, scope: Scope) -> dict[str, int]:
    allowed = sorted(scope.class_ids)
    return dict(
        session.rows(
            "SELECT source_id, min(stored_ms) FROM document WHERE tenant = ? AND lifecycle <> 'draft'"  # noqa: S608
            f" AND class_id IN ({marks(len(allowed))}) GROUP BY source_id",
            (scope.tenant, *allowed),
        )
    )


def _files(session: Session, tenant: str) -> dict[str, tuple[str, str]]:
    """The run that stored each document, and the name of its file there."""
    found = session.rows(
        "SELECT document_id, run_id, path FROM ingest_file WHERE tenant = ? AND document_id IS NOT NULL"
        " AND state = 'done' ORDER BY run_id DESC, position DESC",
        (tenant,),
    )
    return {document_id: (run_id, PurePath(path).name) for document_id, run_id, path in found}


@dataclass(frozen=True, slots=True)
class _View:
    """A session, and what may be seen of its store."""

    session: Session
    scope: Scope
    now_ms: int

    def documents(self, table: str, where: str, parameters: Sequence[object]) -> frozenset[str]:
        """Active documents with a row `x` of the table for which the condition holds."""
        allowed = sorted(self.scope.class_ids)
        found = self.session.rows(
            f"SELECT DISTINCT x.document_id FROM {table} x JOIN document d ON d.document_id = x.document_id"  # noqa: S608
            f" WHERE {_ACTIVE} AND x.class_id IN ({marks(len(allowed))}) AND {where}",
            (self.scope.tenant, self.now_ms, *allowed, *parameters),
        )
        return frozenset(row[0] for row in found)


def documents_of(session: Session, wanted: GraphNarrowing, scope: Scope, now_ms: int) -> frozenset[str]:
    """The active documents that all parts hold for."""
    view = _View(session, scope, now_ms)
    kept: list[frozenset[str]] = []
    if wanted.entities:
        kept.append(_naming(view, wanted.entities))
    if wanted.related:
        kept.append(_related(view, wanted.related))
    if wanted.predicates:
        where = f"x.predicate IN ({marks(len(wanted.predicates))})"
        kept.append(view.documents("relationship", where, wanted.predicates))
    if wanted.metadata is not None:
        kept.append(fields.matching(session, wanted.metadata, scope, now_ms))
    return frozenset.intersection(*kept) if kept else frozenset()


def _naming(view: _View, entities: Sequence[str]) -> frozenset[str]:
    held = marks(len(entities))
    either = f"(x.subject_id IN ({held}) OR x.object_id IN ({held}))"
    return view.documents("gazetteer_entry", f"x.entity_id IN ({held})", entities) | view.documents(
        "relationship", either, (*entities, *entities)
    )


def _related(view: _View, sources: Sequence[str]) -> frozenset[str]:
    """Documents that name an entity that one of the sources names too; their own are left out."""
    allowed = sorted(view.scope.class_ids)
    own = view.session.rows(
        "SELECT DISTINCT x.entity_id FROM gazetteer_entry x JOIN document d ON d.document_id = x.document_id"  # noqa: S608
        f" WHERE {_ACTIVE} AND x.class_id IN ({marks(len(allowed))}) AND d.source_id IN ({marks(len(sources))})",
        (view.scope.tenant, view.now_ms, *allowed, *sources),
    )
    entities = [row[0] for row in own]
    others = f"d.source_id NOT IN ({marks(len(sources))}) AND x.entity_id IN"
    found: set[str] = set()
    for start in range(0, len(entities), _AT_ONCE):
        part = entities[start : start + _AT_ONCE]
        found |= view.documents("gazetteer_entry", f"{others} ({marks(len(part))})", (*sources, *part))
    return frozenset(found)


def entity_statements(
    session: Session, wanted: EntityFilters, scope: Scope, now_ms: int
) -> tuple[EntityStatement, ...]:
    """Entities as active documents name them. Names compare in Python, where case has one meaning."""
    allowed = sorted(scope.class_ids)
    where, parameters = [f"x.class_id IN ({marks(len(allowed))})"], list[object](allowed)
    if wanted.types:
        where.append(f"x.type IN ({marks(len(wanted.types))})")
        parameters += wanted.types
    found = session.rows(
        f"SELECT {', '.join('x.' + column for column in rows.GAZETTEER.split(', '))} FROM gazetteer_entry x"  # noqa: S608
        f" JOIN document d ON d.document_id = x.document_id WHERE {_ACTIVE} AND {' AND '.join(where)}"
        " ORDER BY x.entity_id, x.document_id, x.position",
        (scope.tenant, now_ms, *parameters),
    )
    documents = _of_metadata(session, wanted.metadata, scope, now_ms)
    entries = [rows.gazetteer_value(row) for row in found]
    stated: dict[tuple[str, str], EntityStatement] = {}
    for each in entries:
        if documents is None or each.document_id in documents:
            key = (each.entity.entity_id, each.document_id)
            before = stated[key].names if key in stated else ()
            names = tuple(dict.fromkeys((*before, each.entity.name, *each.names)))
            stated[key] = EntityStatement(each.entity if not before else stated[key].entity, names, each.document_id)
    return tuple(each for each in stated.values() if _is_meant(each.entity, each.names, wanted))


def _of_metadata(session: Session, wanted: Filter | None, scope: Scope, now_ms: int) -> frozenset[str] | None:
    return None if wanted is None else fields.matching(session, wanted, scope, now_ms)


def _is_meant(entity: EntityRef, names: Sequence[str], wanted: EntityFilters) -> bool:
    sought = wanted.name.casefold()
    named = not sought or any(sought in name.casefold() for name in names)
    references = (entity.entity_id, entity.entity_id.partition(":")[2])
    return named and (not wanted.references or any(each in wanted.references for each in references))


def relationships(
    session: Session, wanted: RelationshipFilters, scope: Scope, now_ms: int, limit: int
) -> tuple[StatedRelationship, ...]:
    """Edges of active documents, by document and place in it."""
    where, parameters = _conditions(wanted)
    allowed = sorted(scope.class_ids)
    edge = rows.columns_of("x", rows.RELATIONSHIP)
    found: list[Row] = session.rows(
        f"SELECT d.source_id, {edge} FROM relationship x JOIN document d ON d.document_id = x.document_id"  # noqa: S608
        f" WHERE {_ACTIVE} AND x.class_id IN ({marks(len(allowed))}){''.join(f' AND {each}' for each in where)}"
        " ORDER BY x.document_id, x.position LIMIT ?",
        (scope.tenant, now_ms, *allowed, *parameters, limit),
    )
    return tuple(StatedRelationship(rows.relationship_value(row[1:]), row[2], row[0]) for row in found)


def _conditions(wanted: RelationshipFilters) -> tuple[list[str], list[object]]:
    where, parameters = list[str](), list[object]()
    for column, values in (
        ("x.subject_id", wanted.sources),
        ("x.object_id", wanted.targets),
        ("x.predicate", wanted.predicates),
        ("x.object_type", wanted.target_types),
        ("d.source_id", wanted.assets),
        ("x.record_id", wanted.records),
    ):
        if values:
            where.append(f"{column} IN ({marks(len(values))})")
            parameters += values
    if wanted.entity is not None:
        ends = {"outgoing": ("x.subject_id",), "incoming": ("x.object_id",)}
        columns = ends.get(wanted.direction, ("x.subject_id", "x.object_id"))
        where.append(f"({' OR '.join(f'{column} = ?' for column in columns)})")
        parameters += [wanted.entity] * len(columns)
    if wanted.workflow_runs:
        where.append(
            "EXISTS (SELECT 1 FROM ingest_file i WHERE i.document_id = x.document_id AND i.tenant = d.tenant"  # noqa: S608
            f" AND i.state = 'done' AND i.run_id IN ({marks(len(wanted.workflow_runs))}))"
        )
        parameters += wanted.workflow_runs
    if wanted.day is not None:
        where.append("(x.time_start IS NULL OR (x.time_start <= ? AND x.time_end >= ?))")
        parameters += [wanted.day.isoformat()] * 2
    return where, parameters
