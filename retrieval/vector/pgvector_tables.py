"""The tables of the vector channel in PostgreSQL, and the statements over them.

`vector_row` is partitioned by visibility class: large classes have a partition with an HNSW index each, all others
share the default partition, where the primary key leads to a class. `<#>` is the negative inner product.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pgvector.psycopg import register_vector_async
from psycopg import errors

from retrieval.embedding.embedder import EmbedModel
from retrieval.errors import EmbedModelMismatch
from retrieval.servers.postgres import Connection, quoted
from retrieval.servers.row_security import changes, differing
from retrieval.servers.statement import Statement
from retrieval.vector.embedded import require_same
from retrieval.vector.segment import Rows

FORMAT = "exhibit.vectors/1"
EXACT_ROWS = 10_000
"""A class of so many rows gets an index; below, looking at every row is as fast and exact."""
MAX_INDEXED_DIMENSION = 2_000  # pgvector's limit for an HNSW index over `vector`
EF_SEARCH = 100
SEARCH_SETTINGS = {"hnsw.iterative_scan": "relaxed_order", "hnsw.ef_search": str(EF_SEARCH)}

_TABLES = """
CREATE TABLE vector_model (format text PRIMARY KEY, model text NOT NULL, dimension integer NOT NULL);
CREATE TABLE vector_document (document_id text COLLATE "C" PRIMARY KEY, class_id text COLLATE "C" NOT NULL);
CREATE TABLE vector_class (class_id text COLLATE "C" PRIMARY KEY);
CREATE TABLE vector_row (
  class_id text COLLATE "C" NOT NULL,
  record_id text COLLATE "C" NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  embedding vector({dimension}) NOT NULL,
  PRIMARY KEY (class_id, record_id)
) PARTITION BY LIST (class_id);
CREATE TABLE vector_row_small PARTITION OF vector_row DEFAULT;
CREATE INDEX vector_row_document ON vector_row (document_id)
"""
_EXACT = """
SELECT record_id, round((embedding <#> %(vector)s::vector) * 1e6)::integer AS micro
FROM vector_row WHERE class_id = ANY(%(exact)s){among} ORDER BY micro, record_id LIMIT %(top_k)s
"""
# Sorted outside: the order of an iterative scan is relaxed, and equal scores must stand in order of their ids.
_INDEXED = """
SELECT record_id, round(distance * 1e6)::integer AS micro FROM (
  SELECT record_id, embedding <#> %(vector)s::vector AS distance FROM vector_row
  WHERE class_id = ANY(%(indexed)s){among} ORDER BY embedding <#> %(vector)s::vector LIMIT %(candidates)s
) AS near
"""
_STATE = (
    "SELECT format, model, dimension, ARRAY(SELECT class_id FROM vector_class WHERE class_id = ANY(%(classes)s))"
    " FROM vector_model"
)
_AMONG = " AND document_id = ANY(%(documents)s)"
_NAMES = ("vector_row", "vector_class", "vector_document", "vector_model")
_OWN_TABLES = """
SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = %s AND relkind IN ('r', 'p') AND relname LIKE 'vector\\_%%' ORDER BY relname
"""
_RIGHTS = """
SELECT relname, privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace, aclexplode(relacl)
WHERE nspname = %s AND relname = ANY(%s) AND grantee <> relowner
"""
_ROW_TABLES = (
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname LIKE 'vector\\_row%'"
)
_BOTH = "SELECT record_id, -micro FROM ({}) AS found ORDER BY micro, record_id LIMIT %(top_k)s"


def state_statement(class_ids: Collection[str]) -> Statement:
    """Asks for the model, and those of the classes that have an index: see `indexed_classes`."""
    return Statement(_STATE, {"classes": sorted(class_ids)})


def indexed_classes(state: Sequence[Sequence[Any]], model: EmbedModel) -> frozenset[str] | None:
    """Those of the classes that have an index, from the rows of `state_statement`; None where nothing was ever written.
    Raises `EmbedModelMismatch`."""
    if not state:
        return None
    _require_same(state[0][:3], model)
    return frozenset(state[0][3])


def search_statement(
    vector: str,
    *,
    exact: Collection[str],
    indexed: Collection[str],
    top_k: int,
    among: Collection[str] | None = None,
) -> Statement:
    """The search for what is nearest in the classes; of the documents `among` only, if given."""
    narrowed = "" if among is None else _AMONG
    parts = [f"({part.format(among=narrowed)})" for part, classes in ((_EXACT, exact), (_INDEXED, indexed)) if classes]
    parameters = {
        "vector": vector,
        "exact": sorted(exact),
        "indexed": sorted(indexed),
        "documents": sorted(among or ()),
        "top_k": top_k,
        "candidates": max(EF_SEARCH, 2 * top_k),
    }
    return Statement(_BOTH.format(" UNION ALL ".join(parts)), parameters)


async def documents(connection: Connection, model: EmbedModel) -> frozenset[str]:
    """Every document, also those without a row."""
    state = state_statement(())
    try:
        held = await (await connection.execute(state.text.encode(), state.parameters)).fetchall()
    except errors.UndefinedTable:
        return frozenset()
    if indexed_classes(held, model) is None:
        return frozenset()
    rows = await (await connection.execute("SELECT document_id FROM vector_document")).fetchall()
    return frozenset(row[0] for row in rows)


async def prepare(connection: Connection, model: EmbedModel, *, row_security: bool) -> None:
    """The tables for this model, made when they do not exist, with row-level security or without. Raises
    `EmbedModelMismatch` for those of another."""
    if await (await connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'")).fetchone() is None:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    if not await _exist(connection):
        await connection.execute(_TABLES.format(dimension=int(model.dimension)).encode())
        identity = (FORMAT, model.name, model.dimension)
        await connection.execute("INSERT INTO vector_model VALUES (%s, %s, %s)", identity)
    row = await (await connection.execute("SELECT format, model, dimension FROM vector_model")).fetchone()
    _require_same(row or (), model)
    await _secure(connection, wanted=row_security)


async def remove(connection: Connection, document_ids: Collection[str]) -> None:
    """Takes documents out."""
    for table in ("vector_row", "vector_document"):
        statement = f"DELETE FROM {table} WHERE document_id = ANY(%s)"  # noqa: S608 - a name of ours
        await connection.execute(statement.encode(), (sorted(document_ids),))


async def add(connection: Connection, documents: Mapping[str, tuple[str, Rows]]) -> None:
    """Puts documents in, with the class and the rows of each."""
    await register_vector_async(connection)
    async with connection.cursor() as cursor:
        async with cursor.copy("COPY vector_document (document_id, class_id) FROM STDIN") as copy:
            for document_id, (class_id, _) in documents.items():
                await copy.write_row((document_id, class_id))
        # A table that binds its owner takes no COPY: the rows go to one of the transaction first.
        await cursor.execute("CREATE TEMPORARY TABLE vector_staged (LIKE vector_row) ON COMMIT DROP")
        into = "COPY vector_staged (class_id, record_id, document_id, embedding) FROM STDIN (FORMAT BINARY)"
        async with cursor.copy(into) as copy:
            copy.set_types(["text", "text", "text", "vector"])
            for class_id, rows in documents.values():
                for record_id, document_id, vector in zip(
                    rows.record_ids, rows.document_ids, rows.vectors, strict=True
                ):
                    await copy.write_row((class_id, record_id, document_id, vector))
        columns = "class_id, record_id, document_id, embedding"
        await cursor.execute(f"INSERT INTO vector_row ({columns}) SELECT {columns} FROM vector_staged".encode())  # noqa: S608
        await cursor.execute("DROP TABLE vector_staged")


async def _secure(connection: Connection, *, wanted: bool) -> None:
    """The wall stands around the table and around each of its parts, which can be named themselves."""
    named = await (await connection.execute(_ROW_TABLES)).fetchall()
    standing = differing([row[0] for row in named], wanted=wanted)
    found = await (await connection.execute(standing.text.encode(), standing.parameters)).fetchall()
    for statement in changes([row[0] for row in found], wanted=wanted):
        await connection.execute(statement)


async def index_large(connection: Connection, class_ids: Collection[str], *, at_least: int, row_security: bool) -> None:
    """Moves every one of the classes that has so many rows by now into a partition with an index."""
    statement = (
        "SELECT class_id FROM vector_row_small WHERE class_id = ANY(%s) GROUP BY class_id HAVING count(*) >= %s"
        " ORDER BY class_id"
    )
    rows = await (await connection.execute(statement, (sorted(class_ids), at_least))).fetchall()
    for (class_id,) in rows:
        await _index_class(connection, class_id)
    if rows:
        await _secure(connection, wanted=row_security)


async def _index_class(connection: Connection, class_id: str) -> None:
    """Searches wait only from the attachment to the end of the transaction, not while the index is built."""
    name = quoted("vector_row_" + class_id.removeprefix("sha256:")[:40])
    statements = (
        f"CREATE TABLE {name} (LIKE vector_row INCLUDING ALL)",
        f"INSERT INTO {name} SELECT * FROM vector_row_small WHERE class_id = {{class_id}}",  # noqa: S608
        f"CREATE INDEX ON {name} USING hnsw (embedding vector_ip_ops) WITH (m = 16, ef_construction = 64)",
        f"ALTER TABLE {name} ADD CHECK (class_id = {{class_id}})",
        "DELETE FROM vector_row_small WHERE class_id = {class_id}",
        f"ANALYZE {name}",
        f"ALTER TABLE vector_row ATTACH PARTITION {name} FOR VALUES IN ({{class_id}})",
        "INSERT INTO vector_class VALUES ({class_id})",
    )
    literal = "'" + class_id.replace("'", "''") + "'"
    for statement in statements:
        await connection.execute(statement.format(class_id=literal).encode())


async def drop(connection: Connection) -> None:
    """Takes the tables away."""
    if await _exist(connection):
        await connection.execute("DROP TABLE IF EXISTS vector_row, vector_class, vector_document, vector_model")


async def move(connection: Connection, *, source: str, target: str) -> None:
    """Puts the tables of one schema in the place of another's, with the rights on those, and drops the schema."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{target}/vector",))
    rights = await (await connection.execute(_RIGHTS.encode(), (target, list(_NAMES)))).fetchall()
    await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(target)}".encode())
    await connection.execute(
        f"DROP TABLE IF EXISTS {', '.join(f'{quoted(target)}.{name}' for name in _NAMES)}".encode()
    )
    for (name,) in await (await connection.execute(_OWN_TABLES.encode(), (source,))).fetchall():
        statement = f"ALTER TABLE {quoted(source)}.{quoted(name)} SET SCHEMA {quoted(target)}"
        await connection.execute(statement.encode())
    for name, right, role in rights:
        statement = f"GRANT {right} ON {quoted(target)}.{quoted(name)} TO {role}"
        await connection.execute(statement.encode())
    await connection.execute(f"DROP SCHEMA {quoted(source)}".encode())


async def _exist(connection: Connection) -> bool:
    """True if the schema that is being written holds the tables, whatever another schema of the path holds."""
    statement = "SELECT to_regclass(format('%I.vector_model', current_schema()))"
    row = await (await connection.execute(statement)).fetchone()
    return row is not None and row[0] is not None


def _require_same(stored: Sequence[object], model: EmbedModel) -> None:
    match stored:
        case [str() as form, str() as name, int() as dimension] if form == FORMAT:
            require_same(EmbedModel(name, dimension), model)
        case _:
            raise EmbedModelMismatch("the index is not of this version; rebuild it: exhibit index rebuild")
