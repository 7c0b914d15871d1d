"""The graph channel on a real Neo4j as a backend of the contract suites: a folder's name is a graph's."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from retrieval.graph.neo4j import Neo4jChannel
from retrieval.graph.neo4j_index import Neo4jIndex
from tests.channel_backends import Backend, Opener
from tests.services.neo4j_server import Address

DEADLINE_S = 30.0  # shared machines are slow


def graph_of(folder: Path) -> str:
    return "test-" + hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def opener_on(address: Address) -> Opener:
    """Opens a backend per folder on one server."""

    @asynccontextmanager
    async def neo4j(folder: Path) -> AsyncIterator[Backend]:
        where = (address.uri, address.user, address.password)
        graph = graph_of(folder)
        channel = Neo4jChannel.open(*where, graph=graph, deadline_s=DEADLINE_S)
        index = Neo4jIndex.open(*where, graph=graph)
        try:
            yield Backend(channel, index)
        finally:
            await channel.aclose()
            await index.aclose()

    return neo4j
