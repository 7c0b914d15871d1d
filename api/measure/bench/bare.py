"""The statements of a channel through the driver alone: what the same answer costs without the channel.

A connection that stands, in autocommit, with the settings that shape a plan; statement, fetch, nothing else: no scope
drawn up, no pool, transaction or deadline, no row read into a value. Neo4j's and
OpenSearch's drivers come to a connection only through a pool of their own: there it counts on both sides.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, Self

import psycopg
from neo4j import READ_ACCESS, AsyncDriver
from opensearchpy import AsyncOpenSearch

from api.home.backends import Backends
from api.home.stores import Neo4j, OpenSearch, Postgres
from retrieval.fulltext.opensearch_server import Address, client_of
from retrieval.graph.neo4j_server import driver_of
from retrieval.model import ChannelName
from retrieval.servers.postgres import CONNECTING, SCHEMA, path_statement
from retrieval.servers.statement import Statement
from retrieval.vector.pgvector_tables import SEARCH_SETTINGS


class BareDriver(Protocol):
    """One open connection, or client, to a server."""

    async def carry_out(self, statements: Sequence[Statement]) -> None:
        """Sends each and fetches all that it gives, one after the other."""
        ...


@asynccontextmanager
async def bare_drivers(chosen: Backends, deadline_s: float) -> AsyncIterator[dict[ChannelName, BareDriver]]:
    """A driver for each channel that is on a server, closed at the end."""
    opened: dict[ChannelName, Neo4jDriver | OpenSearchDriver | PostgresDriver] = {}
    if isinstance(graph := chosen.graph, Neo4j):
        driver = driver_of(graph.uri, graph.user, graph.password, ca_file=graph.ca_file, deadline_s=deadline_s)
        opened[ChannelName.GRAPH] = Neo4jDriver(driver)
    if isinstance(fulltext := chosen.fulltext, OpenSearch):
        address = Address.parse(fulltext.url, ca_file=fulltext.ca_file)
        opened[ChannelName.FULLTEXT] = OpenSearchDriver(client_of(address, deadline_s=deadline_s))
    if isinstance(chosen.spatial, Postgres):
        opened[ChannelName.SPATIAL] = await PostgresDriver.open(chosen.spatial.dsn)
    if isinstance(chosen.vector, Postgres):
        opened[ChannelName.VECTOR] = await PostgresDriver.open(chosen.vector.dsn)
    try:
        yield dict(opened)
    finally:
        for each in opened.values():
            await each.aclose()


class Neo4jDriver:
    """A session per search, each statement by itself. A `BareDriver`."""

    def __init__(self, driver: AsyncDriver) -> None:
        self._driver = driver

    async def carry_out(self, statements: Sequence[Statement]) -> None:
        """See `BareDriver`."""
        async with self._driver.session(default_access_mode=READ_ACCESS, fetch_size=-1) as session:
            for statement in statements:
                result = await session.run(statement.text, dict(statement.parameters))
                await result.values()

    async def aclose(self) -> None:
        """Closes it."""
        await self._driver.close()


class OpenSearchDriver:
    """A request per statement, its reply read as JSON. A `BareDriver`."""

    def __init__(self, client: AsyncOpenSearch) -> None:
        self._client = client

    async def carry_out(self, statements: Sequence[Statement]) -> None:
        """See `BareDriver`."""
        for statement in statements:
            await self._client.msearch(body=statement.parameters)

    async def aclose(self) -> None:
        """Closes it."""
        await self._client.close()


class PostgresDriver:
    """One connection. A `BareDriver`."""

    def __init__(self, connection: psycopg.AsyncConnection[tuple[Any, ...]]) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, dsn: str) -> Self:
        """A connection with the search path and the settings of the channels."""
        connection = await psycopg.AsyncConnection.connect(dsn, **CONNECTING)
        await connection.execute(*path_statement(SCHEMA))
        for name, value in SEARCH_SETTINGS.items():
            await connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        return cls(connection)

    async def carry_out(self, statements: Sequence[Statement]) -> None:
        """See `BareDriver`."""
        for statement in statements:
            await (await self._connection.execute(statement.text.encode(), statement.parameters)).fetchall()

    async def aclose(self) -> None:
        """Closes it."""
        await self._connection.close()
