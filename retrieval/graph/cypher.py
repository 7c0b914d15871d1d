"""The statements of the Neo4j graph. Every value is a parameter; only names of our own stand in the text.

    (:ExhibitGraph {graph, generation, stamp, writer})    which state of the graph readers see; a stamp names one state
    (:ExhibitDocument {document_id})                      what is held
    (:ExhibitEntity {tenant, entity_id})                  joined by every document that names it; says nothing else
    -[:EXHIBIT_STATES {predicate, record_id, ...}]->      a relation, as one record states it
    (:ExhibitPosting {key, rids})                         the numbers of a document's records that carry a key
    (:ExhibitRecord {rid, record_id})                     those records
    (:ExhibitKind {subject_type, predicate, object_type}) the kinds of edge that a document states

Everything but the entity lives from the generation `born` until the generation `died`. Every read names graph, tenant,
classes and generation.
"""

from __future__ import annotations

import numpy as np

GRAPH = "exhibit"
FOREVER = 2**62
NUMBER = np.dtype("<u4")  # of a posting's record numbers
NODES = ("ExhibitPosting", "ExhibitRecord", "ExhibitKind")
_STATES = "EXHIBIT_STATES"
_KEYS = {
    "ExhibitGraph": "graph",
    "ExhibitDocument": "graph, document_id, born",
    "ExhibitEntity": "graph, tenant, entity_id",
    "ExhibitRecord": "graph, rid",
    "ExhibitPosting": "graph, tenant, key, class_id, document_id, born",
    "ExhibitKind": "graph, tenant, class_id, document_id, subject_type, predicate, object_type, born",
}
_LOOKUPS = {
    "ExhibitRecord": ("graph, document_id", "graph, record_id"),
    "ExhibitPosting": ("graph, document_id", "graph, tenant, key"),
    "ExhibitKind": ("graph, document_id", "graph, tenant, class_id"),
}


def _named(alias: str, names: str) -> str:
    return ", ".join(f"{alias}.{name}" for name in names.split(", "))


def _index(label: str, names: str) -> str:
    name = f"{label}_{names.replace(', ', '_')}"
    pattern = f"()-[x:{label}]-()" if label == _STATES else f"(x:{label})"
    return f"CREATE INDEX {name} IF NOT EXISTS FOR {pattern} ON ({_named('x', names)})"


def _unique(label: str, names: str) -> str:
    return f"CREATE CONSTRAINT {label}_unique IF NOT EXISTS FOR (x:{label}) REQUIRE ({_named('x', names)}) IS UNIQUE"


# Every index by its name; a constraint's index has the constraint's.
SCHEMA = {
    statement.split()[2]: statement
    for statement in (
        *(_unique(label, names) for label, names in _KEYS.items()),
        *(_index(label, names) for label, lookups in _LOOKUPS.items() for names in lookups),
        _index(_STATES, "graph, document_id"),
        _index(_STATES, "graph, tenant, predicate, start_day"),
    )
}
# An index with a constraint's name that no constraint owns keeps nothing unique: its constraint is still being made.
INDEXES = (
    "SHOW INDEXES YIELD name, state, owningConstraint WHERE state = 'ONLINE'"
    " AND (owningConstraint IS NOT NULL OR NOT name ENDS WITH '_unique') RETURN name"
)
AWAIT_INDEXES = "CALL db.awaitIndexes($seconds)"

_LIVES = "x.born <= $generation AND x.died > $generation"
_ADMITTED = f"x.graph = $graph AND x.tenant = $tenant AND x.class_id IN $classes AND {_LIVES}"
_NARROWED = (
    "($predicates IS NULL OR x.predicate IN $predicates) AND ($spans IS NULL OR x.start_day IS NULL"
    " OR any(t IN $spans WHERE x.start_day <= t[1] AND x.end_day >= t[0]))"
)
_EDGE = (
    "x.subject AS subject, x.subject_type AS subject_type, x.predicate AS predicate, x.object AS object,"
    " x.object_type AS object_type, x.record_id AS record_id, x.start_day AS start_day, x.end_day AS end_day"
    " ORDER BY record_id, subject, predicate, object LIMIT $limit"
)

# ---- reads

GENERATION = "MATCH (g:ExhibitGraph {graph: $graph}) RETURN g.generation, g.stamp"
DOCUMENTS = f"MATCH (x:ExhibitDocument {{graph: $graph}}) WHERE {_LIVES} RETURN x.document_id"


def _then_generation(rows: str, *columns: str) -> str:
    """The rows, in order, and the generation after they were read: an aggregate is whole before the
    next clause begins."""
    return (
        f"CALL {{ {rows} }} WITH collect([{', '.join(columns)}]) AS found"
        " MATCH (g:ExhibitGraph {graph: $graph}) RETURN g.generation, g.stamp, found"
    )


def _edges_from(end: int) -> str:
    near, arrow = ("s", f"-[x:{_STATES}]->()") if end == 0 else ("o", f"<-[x:{_STATES}]-()")
    return (
        f"UNWIND $ids AS id MATCH ({near}:ExhibitEntity {{graph: $graph, tenant: $tenant, entity_id: id}})"
        f"{arrow} WHERE {_ADMITTED} AND {_NARROWED} RETURN {end} AS end, {_EDGE}"
    )


_EDGE_COLUMNS = ("subject", "subject_type", "predicate", "object", "object_type", "record_id", "start_day", "end_day")
KINDS = _then_generation(
    f"MATCH (x:ExhibitKind) WHERE {_ADMITTED}"
    " RETURN DISTINCT x.subject_type AS one, x.predicate AS predicate, x.object_type AS other"
    " ORDER BY one, predicate, other",
    *("one", "predicate", "other"),
)
EDGES_AT = _then_generation(f"{_edges_from(0)} UNION ALL {_edges_from(1)}", "end", *_EDGE_COLUMNS)
EDGES_OF = _then_generation(
    f"MATCH ()-[x:{_STATES}]->() WHERE {_ADMITTED}"
    f" AND x.predicate IN $predicates AND x.start_day <= $last_day AND {_NARROWED} RETURN {_EDGE}",
    *_EDGE_COLUMNS,
)
EDGES_OF_ANY_TIME = _then_generation(
    f"MATCH ()-[x:{_STATES}]->() WHERE {_ADMITTED} AND x.predicate IN $predicates AND {_NARROWED} RETURN {_EDGE}",
    *_EDGE_COLUMNS,
)
POSTINGS = _then_generation(
    "UNWIND range(0, size($groups) - 1) AS number UNWIND $groups[number] AS key"
    " MATCH (x:ExhibitPosting {graph: $graph, tenant: $tenant, key: key})"
    f" WHERE x.class_id IN $classes AND {_LIVES} RETURN number, x.rids AS rids",
    *("number", "rids"),
)
# Few records are looked up by number. Of many the first are met soon in the index's own order; the server takes that
# order only where the whole key of the index is named, and else reads every record of the graph.
FEW_RECORDS = _then_generation(
    f"UNWIND $rids AS rid MATCH (x:ExhibitRecord {{graph: $graph, rid: rid}}) WHERE {_ADMITTED}"
    " RETURN x.record_id AS record_id ORDER BY record_id LIMIT $limit",
    "record_id",
)
FIRST_RECORDS = _then_generation(
    f"MATCH (x:ExhibitRecord) USING INDEX x:ExhibitRecord(graph, record_id) WHERE {_ADMITTED}"
    " AND x.record_id >= '' AND x.rid IN $rids"
    " RETURN x.record_id AS record_id ORDER BY x.graph, x.record_id LIMIT $limit",
    "record_id",
)

# ---- writes; each transaction of the writer begins with FENCE, which locks the graph against any other writer

BEGIN = (
    "MERGE (g:ExhibitGraph {graph: $graph}) ON CREATE SET g.generation = 0 SET g.writer = $writer RETURN g.generation"
)
FENCE = "MATCH (g:ExhibitGraph {graph: $graph}) SET g.writer = g.writer RETURN g.writer = $writer"
PUBLISH = "MATCH (g:ExhibitGraph {graph: $graph}) SET g.generation = $generation, g.stamp = randomUUID()"
LAST_RID = "MATCH (x:ExhibitRecord) WHERE x.graph = $graph AND x.rid >= 0 RETURN coalesce(max(x.rid), -1)"
# documents of a stage that was never published, and those that ended
UNPUBLISHED = (
    "MATCH (x:ExhibitDocument {graph: $graph})"
    " WHERE x.born > $generation OR (x.died > $generation AND x.died < $forever) RETURN DISTINCT x.document_id"
)
ENDED = "MATCH (x:ExhibitDocument {graph: $graph}) WHERE x.died <= $generation RETURN DISTINCT x.document_id"

_OF = "x.graph = $graph AND x.document_id IN $documents"
_PARTS = {
    **{label: (f"(x:{label})", "DETACH DELETE x") for label in NODES},
    _STATES: (f"(:ExhibitEntity)-[x:{_STATES}]->(:ExhibitEntity)", "DELETE x"),
}
_DOCUMENT = {"ExhibitDocument": ("(x:ExhibitDocument)", "DETACH DELETE x")}


def _each(parts: dict[str, tuple[str, str]], condition: str, change: str | None) -> tuple[str, ...]:
    return tuple(
        f"MATCH {pattern} WHERE {_OF} AND {condition} WITH x LIMIT $rows {change or delete} RETURN count(*)"
        for pattern, delete in parts.values()
    )


_FIRST_DOCUMENTS, _LAST_DOCUMENTS = _DOCUMENT | _PARTS, _PARTS | _DOCUMENT
# The document's own node is changed first when something ends and last when it goes, so that it names what is left.
END = _each(_FIRST_DOCUMENTS, "x.born < $generation AND x.died = $forever", "SET x.died = $generation")
REVIVE = _each(_LAST_DOCUMENTS, "x.died > $generation AND x.died < $forever", "SET x.died = $forever")
DROP_UNPUBLISHED = _each(_LAST_DOCUMENTS, "x.born > $generation", None)
DROP_ENDED = _each(_LAST_DOCUMENTS, "x.died <= $generation", None)
DROP_UNUSED = (
    f"MATCH (x:ExhibitEntity {{graph: $graph}}) WHERE NOT (x)-[:{_STATES}]-() WITH x LIMIT $rows DELETE x"
    " RETURN count(*)"
)

_STAMP = "x.graph = $graph, x.tenant = $tenant, x.born = $born, x.died = $forever"
PUT_DOCUMENTS = (
    "UNWIND $rows AS row MERGE (x:ExhibitDocument {graph: $graph, document_id: row, born: $born})"
    " SET x.tenant = $tenant, x.died = $forever"
)
PUT_RECORDS = f"UNWIND $rows AS row CREATE (x:ExhibitRecord) SET x = row, {_STAMP}"
PUT_POSTINGS = f"UNWIND $rows AS row CREATE (x:ExhibitPosting) SET x = row, {_STAMP}"
PUT_KINDS = f"UNWIND $rows AS row CREATE (x:ExhibitKind) SET x = row, {_STAMP}"
PUT_ENTITIES = "UNWIND $rows AS row MERGE (:ExhibitEntity {graph: $graph, tenant: $tenant, entity_id: row})"
PUT_EDGES = (
    "UNWIND $rows AS row MATCH (s:ExhibitEntity {graph: $graph, tenant: $tenant, entity_id: row.one})"
    " MATCH (o:ExhibitEntity {graph: $graph, tenant: $tenant, entity_id: row.other})"
    f" CREATE (s)-[x:{_STATES}]->(o) SET x = row.properties, {_STAMP}"
)
