"""The four channels, each with its read side and its write side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from api.home.backends import Backends
from api.home.stores import Embedded, FulltextStore, GraphStore, Neo4j, OpenSearch, Postgres, SqlStore
from api.wiring.circuits import Circuits
from retrieval.channels.channel import Channel
from retrieval.embedding.embedder import Embedder
from retrieval.index import ChannelIndex


@dataclass(frozen=True, slots=True)
class ChannelSides:
    """How to open the read side and the write side of one channel."""

    channel: Callable[[], Channel]
    index: Callable[[], ChannelIndex]


def sides_of(chosen: Backends, embedder: Embedder, circuits: Circuits | None = None) -> tuple[ChannelSides, ...]:
    """The four channels in order. Read sides over a server stand behind a breaker of `circuits`."""
    circuits = circuits or Circuits()
    return (
        _graph(chosen.graph, circuits),
        _spatial(chosen.spatial, circuits),
        _fulltext(chosen.fulltext, circuits),
        _vector(chosen.vector, embedder, circuits),
    )


def _graph(backend: GraphStore, circuits: Circuits) -> ChannelSides:
    match backend:
        case Embedded(path):
            from retrieval.graph.sqlite import GraphChannel, GraphIndex  # noqa: PLC0415

            return ChannelSides(partial(GraphChannel.open, path), partial(GraphIndex.open, path))
        case Neo4j(uri, user, password, ca_file, deadline_ms=deadline_ms):
            from retrieval.channels.guarded import GuardedGraph  # noqa: PLC0415
            from retrieval.graph.neo4j import Neo4jChannel  # noqa: PLC0415
            from retrieval.graph.neo4j_index import Neo4jIndex  # noqa: PLC0415

            read = partial(Neo4jChannel.open, uri, user, password, ca_file=ca_file, deadline_s=deadline_ms / 1000)
            write = partial(Neo4jIndex.open, uri, user, password, ca_file=ca_file)
            return ChannelSides(circuits.guarding(read, deadline_ms=deadline_ms, guard=GuardedGraph), write)
        case _:
            assert_never(backend)


def _spatial(backend: SqlStore, circuits: Circuits) -> ChannelSides:
    match backend:
        case Embedded(path):
            from retrieval.spatial.sqlite import SpatialChannel, SpatialIndex  # noqa: PLC0415

            return ChannelSides(partial(SpatialChannel.open, path), partial(SpatialIndex.open, path))
        case Postgres(dsn, deadline_ms, row_security):
            from retrieval.spatial.postgis import PostgisChannel, PostgisIndex  # noqa: PLC0415

            read = partial(PostgisChannel.open, dsn, statement_timeout_ms=deadline_ms)
            write = partial(PostgisIndex.open, dsn, row_security=row_security)
            return ChannelSides(circuits.guarding(read, deadline_ms=deadline_ms), write)
        case _:
            assert_never(backend)


def _fulltext(backend: FulltextStore, circuits: Circuits) -> ChannelSides:
    match backend:
        case Embedded(path, seal):
            from retrieval.fulltext.tantivy import TantivyChannel, TantivyIndex  # noqa: PLC0415

            return ChannelSides(partial(TantivyChannel, path, seal=seal), partial(TantivyIndex, path, seal=seal))
        case OpenSearch(url, ca_file, prefix, deadline_ms):
            from retrieval.fulltext.opensearch import OpenSearchChannel  # noqa: PLC0415
            from retrieval.fulltext.opensearch_index import OpenSearchIndex  # noqa: PLC0415

            deadline_s = deadline_ms / 1000
            read = partial(OpenSearchChannel.open, url, ca_file=ca_file, prefix=prefix, deadline_s=deadline_s)
            write = partial(OpenSearchIndex.open, url, ca_file=ca_file, prefix=prefix)
            return ChannelSides(circuits.guarding(read, deadline_ms=deadline_ms), write)
        case _:
            assert_never(backend)


def _vector(backend: SqlStore, embedder: Embedder, circuits: Circuits) -> ChannelSides:
    match backend:
        case Embedded(path, seal):
            from retrieval.vector.numpy import NumpyVectorChannel, NumpyVectorIndex  # noqa: PLC0415

            return ChannelSides(
                partial(NumpyVectorChannel, path, embedder=embedder, seal=seal),
                partial(NumpyVectorIndex, path, embedder=embedder, seal=seal),
            )
        case Postgres(dsn, deadline_ms, row_security):
            from retrieval.vector.pgvector import PgvectorChannel, PgvectorIndex  # noqa: PLC0415

            read = partial(PgvectorChannel.open, dsn, embedder=embedder, statement_timeout_ms=deadline_ms)
            write = partial(PgvectorIndex.open, dsn, embedder=embedder, row_security=row_security)
            return ChannelSides(circuits.guarding(read, deadline_ms=deadline_ms), write)
        case _:
            assert_never(backend)
