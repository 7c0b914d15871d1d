"""Row-level security on the tables that hold records: the second wall.

Every statement names the classes that it may see. Where one forgets to, the server still gives only rows of the classes
that the transaction was opened for, and none where it was opened for no class. The owner of the tables is bound too
(FORCE), except in a transaction that says that it works on the whole, which only the owner can; a superuser is not
bound. See ADR 0023.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from psycopg import sql

from retrieval.scope import Scope
from retrieval.servers.statement import Statement

_CLASSES = "exhibit.classes"
_ACCESS = "exhibit.access"
WHOLE = Statement("SELECT set_config(%(name)s, 'whole', true)", {"name": _ACCESS})
"""Opens a transaction of the owner for everything."""
# Each setting is read once a statement, not once a row: a scalar subquery that refers to nothing.
_POLICIES = (
    "CREATE POLICY exhibit_scope ON {table} FOR SELECT USING (class_id = ANY ("
    f"(SELECT string_to_array(nullif(current_setting('{_CLASSES}', true), ''), ','))::text[]))",
    "CREATE POLICY exhibit_whole ON {table} FOR ALL TO CURRENT_USER"
    f" USING ((SELECT current_setting('{_ACCESS}', true)) = 'whole')"
    f" WITH CHECK ((SELECT current_setting('{_ACCESS}', true)) = 'whole')",
)
_UP = (*_POLICIES, "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY", "ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
_DOWN = (
    "ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
    "DROP POLICY IF EXISTS exhibit_scope ON {table}",
    "DROP POLICY IF EXISTS exhibit_whole ON {table}",
)
_STANDING = (
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema()"
    " AND c.relname = ANY(%(tables)s) AND c.relrowsecurity <> %(wanted)s"
)


def opened_for(scope: Scope) -> Statement:
    """Opens a transaction for the classes of the scope. An id holds no comma: it is a digest."""
    return Statement(
        "SELECT set_config(%(name)s, %(classes)s, true)",
        {"name": _CLASSES, "classes": ",".join(sorted(scope.class_ids))},
    )


def differing(tables: Collection[str], *, wanted: bool) -> Statement:
    """Asks which of the tables of the schema are not as wanted: with the wall, or without."""
    return Statement(_STANDING, {"tables": sorted(tables), "wanted": wanted})


def changes(tables: Sequence[str], *, wanted: bool) -> Iterator[bytes]:
    """Statements that put the wall up around the tables, or take it down."""
    for table in tables:
        for statement in _UP if wanted else _DOWN:
            yield sql.SQL(statement).format(table=sql.Identifier(table)).as_bytes(None)
