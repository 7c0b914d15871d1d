"""Rows of the spatial tables in PostGIS as facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from retrieval.scope import Scope
from retrieval.servers.postgres_threads import Connection
from retrieval.servers.statement import Statement
from retrieval.spatial.sql_facts import SqlFacts

_NAMED = re.compile(r":(\w+)")


class PostgisFacts(SqlFacts):
    """The facts of a server; `sent` is what was asked of it."""

    fact = "spatial_fact"
    inside = "spatial_inside"
    bounded = fact
    meets = "bounds && ST_MakeEnvelope(:west, :south, :east, :north, 4326)"

    def __init__(self, connection: Connection, scope: Scope) -> None:
        super().__init__(scope)
        self._connection = connection
        self.sent: list[Statement] = []

    def of(self, scope: Scope) -> PostgisFacts:
        """See `SearchedFacts`. What is asked there is listed here too."""
        other = PostgisFacts(self._connection, scope)
        other.sent = self.sent
        return other

    def _rows(self, sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        self.sent.append(Statement(_marked(sql), {**self._scope, **values}))
        return self._connection.execute(self.sent[-1].text.encode(), self.sent[-1].parameters).fetchall()

    @staticmethod
    def _among(column: str, name: str) -> str:
        return f"{column} = ANY(:{name})"

    @staticmethod
    def _list(values: Sequence[str]) -> object:
        return list(values)


@lru_cache(maxsize=256)
def _marked(sql: str) -> str:
    """The statement with psycopg's marks; none of ours has a colon of another meaning."""
    return _NAMED.sub(r"%(\1)s", sql)
