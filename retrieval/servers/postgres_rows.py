"""Every row of every table of ours on a PostgreSQL, as bytes: what a search for erased text reads."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
from psycopg import sql

from retrieval.errors import StoreUnavailable
from retrieval.servers.postgres import CONNECTING
from retrieval.servers.row_security import WHOLE

# Under row-level security only the owner sees every row; to others it would be as if there were none.
_TABLES = (
    "SELECT n.nspname, c.relname, has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"
    " AND (NOT c.relrowsecurity OR pg_has_role(c.relowner, 'USAGE'))"
    " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind = 'r' AND n.nspname ~ '^exhibit(_|$)' ORDER BY 1, 2"
)


async def every_row(dsn: str) -> AsyncIterator[tuple[str, bytes | None]]:
    """The table's name and a row's bytes in binary form, text as UTF-8; None for a table that may not be read whole.
    Raises StoreUnavailable."""
    try:
        async with await psycopg.AsyncConnection.connect(dsn, **CONNECTING) as connection:
            tables = await (await connection.execute(_TABLES)).fetchall()
            for schema, name, readable in tables:
                where = f"{schema}.{name}"
                if not readable:
                    yield where, None
                    continue
                async with connection.transaction(), connection.cursor() as cursor:
                    await cursor.execute(WHOLE.text, WHOLE.parameters)
                    copied = sql.SQL("COPY (SELECT * FROM {}) TO STDOUT (FORMAT binary)")
                    async with cursor.copy(copied.format(sql.Identifier(schema, name))) as rows:
                        async for row in rows:
                            yield where, bytes(row)
    except psycopg.Error as exc:
        raise StoreUnavailable("the rows of the server cannot be read") from exc
