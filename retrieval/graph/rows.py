"""Rows of the graph database: typed edges with the record that states each, and postings that say which records name
what.

A posting lists, for one key, one class and one group of documents (those added together), the records that carry the
key (see `retrieval.graph.edges`). Edges and postings name their class, and every read names the admitted classes, so
that nothing hidden is counted, followed or ranked by.
"""

from __future__ import annotations

import json
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any

import apsw
import numpy as np

from retrieval.files.sqlite_rows import typed_rows
from retrieval.graph.edges import Edge, EdgeKind, Postings, carried
from retrieval.index import IndexBatch
from retrieval.model import Relationship, TimeRange
from retrieval.scope import Scope

SCHEMA = """
CREATE TABLE IF NOT EXISTS class(cid INTEGER PRIMARY KEY, tenant TEXT NOT NULL, class_id TEXT NOT NULL,
  UNIQUE(tenant, class_id));
CREATE TABLE IF NOT EXISTS document(did INTEGER PRIMARY KEY, document_id TEXT NOT NULL UNIQUE, gid INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS document_group ON document(gid);
CREATE TABLE IF NOT EXISTS record(rid INTEGER PRIMARY KEY, record_id TEXT NOT NULL, did INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS record_order ON record(record_id);
CREATE INDEX IF NOT EXISTS record_document ON record(did);
CREATE TABLE IF NOT EXISTS posting(key TEXT NOT NULL, cid INTEGER NOT NULL, gid INTEGER NOT NULL, rids BLOB NOT NULL,
  PRIMARY KEY(key, cid, gid)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edge(
  subject TEXT NOT NULL, subject_type TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL,
  object_type TEXT NOT NULL, cid INTEGER NOT NULL, did INTEGER NOT NULL, record_id TEXT NOT NULL, start_day INTEGER,
  end_day INTEGER); CREATE INDEX IF NOT EXISTS edge_subject ON edge(subject, predicate, cid, record_id);
CREATE INDEX IF NOT EXISTS edge_object ON edge(object, predicate, cid, record_id);
CREATE INDEX IF NOT EXISTS edge_time ON edge(predicate, cid, start_day);
CREATE INDEX IF NOT EXISTS edge_document ON edge(did);
CREATE TABLE IF NOT EXISTS kind(did INTEGER NOT NULL, cid INTEGER NOT NULL, subject_type TEXT NOT NULL,
  predicate TEXT NOT NULL, object_type TEXT NOT NULL, PRIMARY KEY(did, cid, subject_type, predicate, object_type))
  WITHOUT ROWID
"""
_FEW = 500
_OF = "LEFT JOIN document d ON d.did = e.did LEFT JOIN class c ON c.cid = e.cid"
STATED = (
    "SELECT d.document_id, c.tenant, c.class_id, e.subject, e.subject_type, e.predicate, e.object, e.object_type,"  # noqa: S608
    f" e.record_id, e.start_day, e.end_day FROM edge e {_OF} ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11",
    "SELECT d.document_id, c.tenant, c.class_id, e.subject_type, e.predicate, e.object_type"  # noqa: S608
    f" FROM kind e {_OF} ORDER BY 1, 2, 3, 4, 5, 6",
)
"""The statements of the edges, by document (`Tables.stated`). Postings only say where to look."""
_NUMBER = np.dtype("=u4")  # as `array("I")` writes them
_EDGE = "subject, subject_type, predicate, object, object_type, record_id, start_day, end_day"


class GraphRows:
    """The part of the graph that a scope admits, over one connection. A `GraphReads` whose reads never wait."""

    def __init__(self, connection: apsw.Connection, scope: Scope) -> None:
        self._connection = connection
        rows = connection.execute(
            "SELECT cid FROM class WHERE tenant = ? AND class_id IN (SELECT value FROM json_each(?)) ORDER BY cid",
            (scope.tenant, json.dumps(sorted(scope.class_ids))),
        )
        self._classes = [row[0] for row in rows]
        self._in_scope = f"cid IN ({','.join(map(str, self._classes))})"  # integers of our own

    async def kinds(self) -> list[EdgeKind]:
        """See `GraphReads`."""
        sql = f"SELECT DISTINCT subject_type, predicate, object_type FROM kind WHERE {self._in_scope} ORDER BY 1, 2, 3"  # noqa: S608
        return [EdgeKind(*row) for row in typed_rows(self._connection.execute(sql))]

    async def edges_at(
        self, entity_ids: Collection[str], *, predicates: Collection[str] | None, times: Sequence[TimeRange], limit: int
    ) -> list[Edge]:
        """See `GraphReads`."""
        where, values = _narrowed(predicates, times)
        found: dict[Edge, None] = {}
        for end in ("subject", "object"):
            at = f"{end} IN (SELECT value FROM json_each(:ids)) AND {self._in_scope}{where}"  # noqa: S608
            sql = (
                f"SELECT {_EDGE} FROM edge WHERE {at}"  # noqa: S608
                " ORDER BY record_id, subject, predicate, object LIMIT :limit"
            )
            given = {"ids": json.dumps(sorted(entity_ids)), "limit": limit, **values}
            rows = typed_rows(self._connection.execute(sql, given))
            found |= dict.fromkeys(Edge(*row) for row in rows)
        return list(found)

    async def edges_of(self, predicates: Collection[str], *, times: Sequence[TimeRange], limit: int) -> list[Edge]:
        """See `GraphReads`."""
        where, values = _narrowed(predicates, times)
        dated = "start_day IS NOT NULL AND " if times else ""
        sql = (
            f"SELECT {_EDGE} FROM edge WHERE {dated}{self._in_scope}{where}"  # noqa: S608
            " ORDER BY record_id, subject, predicate, object LIMIT :limit"
        )
        return [Edge(*row) for row in typed_rows(self._connection.execute(sql, {"limit": limit, **values}))]

    async def postings(self, groups: Sequence[Collection[str]]) -> list[Postings]:
        """See `GraphReads`."""
        return [self._carrying(keys) for keys in groups]

    def _carrying(self, keys: Collection[str]) -> Postings:
        sql = f"SELECT rids FROM posting WHERE key IN (SELECT value FROM json_each(?)) AND {self._in_scope}"  # noqa: S608
        blobs = [row[0] for row in typed_rows(self._connection.execute(sql, (json.dumps(sorted(keys)),)))]
        return np.frombuffer(b"".join(blobs), dtype=_NUMBER)

    async def first_record_ids(self, rids: Postings, limit: int) -> list[str]:
        """See `GraphReads`. Few are looked up, of many the first are soon met."""
        if len(rids) <= _FEW:
            sql = (
                "SELECT record_id FROM record WHERE rid IN (SELECT value FROM json_each(?)) ORDER BY record_id LIMIT ?"
            )
            return [row[0] for row in typed_rows(self._connection.execute(sql, (json.dumps(rids.tolist()), limit)))]
        wanted = set(rids.tolist())
        ordered = typed_rows(self._connection.execute("SELECT rid, record_id FROM record ORDER BY record_id"))
        return list(islice((record_id for rid, record_id in ordered if rid in wanted), limit))


def _narrowed(predicates: Collection[str] | None, times: Sequence[TimeRange]) -> tuple[str, dict[str, Any]]:
    where, values = "", dict[str, Any]()
    if predicates is not None:
        where += " AND predicate IN (SELECT value FROM json_each(:predicates))"
        values["predicates"] = json.dumps(sorted(predicates))
    if times:
        spans = [f"(start_day <= :to{i} AND end_day >= :from{i})" for i in range(len(times))]
        where += f" AND (start_day IS NULL OR {' OR '.join(spans)})"
        values |= {f"from{i}": t.start.toordinal() for i, t in enumerate(times)}
        values |= {f"to{i}": t.end.toordinal() for i, t in enumerate(times)}
    return where, values


def put(connection: apsw.Connection, batch: IndexBatch) -> None:
    """Adds whole documents, in place of what was there of them."""
    documents = sorted({r.document_id for r in batch.records})
    delete(connection, documents)
    first = _next(connection, "SELECT coalesce(max(did), 0) + 1 FROM document")
    dids = {document_id: did for did, document_id in enumerate(documents, start=first)}
    connection.executemany("INSERT INTO document VALUES (?, ?, ?)", [(did, d, first) for d, did in dids.items()])
    cids = _classes(connection, batch)
    _put_postings(connection, batch, dids, cids, gid=first)
    stated = [r for r in batch.relationships if r.document_id in dids]
    edges = [_edge_row(r, dids, cids) for r in stated]
    connection.executemany("INSERT INTO edge VALUES (?,?,?,?,?,?,?,?,?,?)", edges)
    kinds = {(dids[r.document_id], cids[r.class_id], r.subject.type, r.predicate, r.object.type) for r in stated}
    connection.executemany("INSERT INTO kind VALUES (?,?,?,?,?)", sorted(kinds))


def delete(connection: apsw.Connection, document_ids: Iterable[str]) -> None:
    """Takes documents out."""
    sql = "SELECT did FROM document WHERE document_id IN (SELECT value FROM json_each(?))"
    gone = json.dumps([row[0] for row in connection.execute(sql, (json.dumps(sorted(document_ids)),))])
    if gone == "[]":
        return
    _delete_postings(connection, gone)
    for table in ("record", "edge", "kind", "document"):
        connection.execute(f"DELETE FROM {table} WHERE did IN (SELECT value FROM json_each(?))", (gone,))  # noqa: S608


def _delete_postings(connection: apsw.Connection, dids: str) -> None:
    """Takes the records of documents (a JSON array) out of the postings of their groups; a key that nothing carries any
    more goes too."""
    sql = "SELECT rid FROM record WHERE did IN (SELECT value FROM json_each(?))"
    gone = np.asarray([row[0] for row in connection.execute(sql, (dids,))], dtype=_NUMBER)
    sql = (
        "SELECT key, cid, gid, rids FROM posting"
        " WHERE gid IN (SELECT gid FROM document WHERE did IN (SELECT value FROM json_each(?)))"
    )
    rows: list[Any] = connection.execute(sql, (dids,)).fetchall()
    shorter, empty = [], []
    for key, cid, gid, blob in rows:
        listed = np.frombuffer(blob, dtype=_NUMBER)
        kept = listed[~np.isin(listed, gone)]
        if not kept.size:
            empty.append((key, cid, gid))
        elif kept.size < listed.size:
            shorter.append((kept.tobytes(), key, cid, gid))
    connection.executemany("DELETE FROM posting WHERE (key, cid, gid) = (?, ?, ?)", empty)
    connection.executemany("UPDATE posting SET rids = ? WHERE (key, cid, gid) = (?, ?, ?)", shorter)


def clear(connection: apsw.Connection) -> None:
    """Takes everything out."""
    for table in ("record", "posting", "edge", "kind", "document", "class"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608


def _next(connection: apsw.Connection, sql: str) -> int:
    return int(connection.execute(sql).get)


def _classes(connection: apsw.Connection, batch: IndexBatch) -> dict[str, int]:
    wanted = {r.class_id for r in batch.records} | {r.class_id for r in batch.relationships}
    wanted |= {m.class_id for m in batch.mentions}
    rows = [(batch.tenant, class_id) for class_id in sorted(wanted)]
    connection.executemany("INSERT INTO class(tenant, class_id) VALUES (?, ?) ON CONFLICT DO NOTHING", rows)
    found = connection.execute("SELECT class_id, cid FROM class WHERE tenant = ?", (batch.tenant,))
    return {class_id: cid for class_id, cid in found if class_id in wanted}


def _put_postings(
    connection: apsw.Connection, batch: IndexBatch, dids: dict[str, int], cids: dict[str, int], *, gid: int
) -> None:
    rid = _next(connection, "SELECT coalesce(max(rid), 0) + 1 FROM record")
    rids: dict[str, int] = {}
    rows: list[tuple[int, str, int]] = []
    postings: defaultdict[tuple[str, int], array[int]] = defaultdict(lambda: array("I"))
    for record_id, class_id, document_id, keys in carried(batch):
        if document_id not in dids:
            continue
        number = rids.get(record_id)
        if number is None:
            number = rids[record_id] = rid
            rows.append((rid, record_id, dids[document_id]))
            rid += 1
        cid = cids[class_id]
        for key in keys:
            listed = postings[key, cid]
            if not listed or listed[-1] != number:
                listed.append(number)
    connection.executemany("INSERT INTO record VALUES (?, ?, ?)", rows)
    connection.executemany(
        "INSERT INTO posting VALUES (?, ?, ?, ?)", [(*at, gid, postings[at].tobytes()) for at in sorted(postings)]
    )


def _edge_row(relation: Relationship, dids: dict[str, int], cids: dict[str, int]) -> tuple[Any, ...]:
    one, other, time = relation.subject, relation.object, relation.time
    days = (time.start.toordinal(), time.end.toordinal()) if time else (None, None)
    stated = (cids[relation.class_id], dids[relation.document_id], relation.record_id)
    return (one.entity_id, one.type, relation.predicate, other.entity_id, other.type, *stated, *days)
