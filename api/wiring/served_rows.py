"""The content of a home's servers, row by row: read by the search for what was erased."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from api.home.backends import Backends
from api.home.stores import Neo4j, OpenSearch, Postgres

_DEADLINE_S = 60.0


class Rows(Protocol):
    """Gives each row of a server with the name of where it lies; None for a place that may not be read. Raises
    ChannelError, StoreUnavailable."""

    def __call__(self) -> AsyncIterator[tuple[str, bytes | None]]: ...


@dataclass(frozen=True, slots=True)
class ServedRows:
    """A server by its role, and how its rows are read."""

    name: str
    read: Rows = field(repr=False)


def served_rows(chosen: Backends) -> Iterator[ServedRows]:
    """Every server that keeps something of this home; one with several roles once."""
    roles = {
        "ledger": chosen.ledger.store,
        "store of record": chosen.records,
        "spatial channel": chosen.spatial,
        "vectors": chosen.vector,
    }
    known = set[str]()
    for role, store in roles.items():
        if isinstance(store, Postgres) and store.dsn not in known:
            from retrieval.servers.postgres_rows import every_row  # noqa: PLC0415

            known.add(store.dsn)
            yield ServedRows(f"PostgreSQL of the {role}", partial(every_row, store.dsn))
    if isinstance(chosen.graph, Neo4j):
        yield ServedRows("Neo4j", partial(_of_neo4j, chosen.graph))
    if isinstance(chosen.fulltext, OpenSearch):
        yield ServedRows("OpenSearch", partial(_of_opensearch, chosen.fulltext))


async def _of_neo4j(graph: Neo4j) -> AsyncIterator[tuple[str, bytes | None]]:
    from retrieval.graph.neo4j_server import driver_of, every_property  # noqa: PLC0415

    driver = driver_of(graph.uri, graph.user, graph.password, ca_file=graph.ca_file, deadline_s=_DEADLINE_S)
    async for row in every_property(driver):
        yield row


async def _of_opensearch(server: OpenSearch) -> AsyncIterator[tuple[str, bytes | None]]:
    from retrieval.fulltext.opensearch_schema import IndexNames  # noqa: PLC0415
    from retrieval.fulltext.opensearch_server import Address, every_document  # noqa: PLC0415

    address = Address.parse(server.url, ca_file=server.ca_file)
    async for row in every_document(address, IndexNames(server.index).everything, deadline_s=_DEADLINE_S):
        yield row
