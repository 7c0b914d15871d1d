"""The four channels, each with its read side and its write side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from api import backends
from api.backends import Backends
from api.wiring.circuits import Circuits
from retrieval.channel import Channel
from retrieval.embedding.embedder import Embedder
from retrieval.index import ChannelIndex


@dataclass(frozen=True, slots=True)
class Sides:
    """How to open the read side and the write side of one channel."""

    channel: Callable[[], Channel]
    index: Callable[[], ChannelIndex]


def sides_of(chosen: Backends, embedder: Embedder, circuits: Circuits | None = None) -> tuple[Sides, ...]:
    """The four channels in order. Read sides over a server stand behind a breaker of `circuits`."""
    circuits = circuits or Circuits()
    return (
        _graph(chosen.graph, circuits),
        _spatial(chosen.spatial, circuits),
        _fulltext(chosen.fulltext, circuits),
        _vector(chosen.vector, embedder, circuits),
    )


def _graph(backend: backends.GraphBackend, circuits: Circuits) -> Sides:
    match backend:
        case backends.SqliteGraph(path=path):
            from retrieval.graph.sqlite import GraphChannel, GraphIndex  # noqa: PLC0415

            return Sides(partial(GraphChannel.open, path), partial(GraphIndex.open, path))
        case backends.Neo4jGraph(uri=uri, user=user, password=password, ca_file=ca_file, deadline_ms=deadline_ms):
            from retrieval.graph.neo4j import Neo4jChannel  # noqa: PLC0415
            from retrieval.graph.neo4j_index import Neo4jIndex  # noqa: PLC0415

            def graph() -> Channel:
                channel = Neo4jChannel.open(uri, user, password, ca_file=ca_file, deadline_s=deadline_ms / 1000)
                return circuits.guarded(channel, deadline_ms=deadline_ms)

            return Sides(graph, partial(Neo4jIndex.open, uri, user, password, ca_file=ca_file))
        case _:
            assert_never(backend)


def _spatial(backend: backends.SpatialBackend, circuits: Circuits) -> Sides:
    match backend:
        case backends.SqliteSpatial(path=path):
            from retrieval.spatial.sqlite import SpatialChannel, SpatialIndex  # noqa: PLC0415

            return Sides(partial(SpatialChannel.open, path), partial(SpatialIndex.open, path))
        case backends.PostgisSpatial(dsn=dsn, deadline_ms=deadline_ms, row_security=row_security):
            from retrieval.spatial.postgis import PostgisChannel, PostgisIndex  # noqa: PLC0415

            def spatial() -> Channel:
                channel = PostgisChannel.open(dsn, statement_timeout_ms=deadline_ms)
                return circuits.guarded(channel, deadline_ms=deadline_ms)

            return Sides(spatial, partial(PostgisIndex.open, dsn, row_security=row_security))
        case _:
            assert_never(backend)


def _fulltext(backend: backends.FulltextBackend, circuits: Circuits) -> Sides:
    match backend:
        case backends.TantivyFulltext(path=path):
            from retrieval.fulltext.tantivy import TantivyChannel, TantivyIndex  # noqa: PLC0415

            return Sides(partial(TantivyChannel, path), partial(TantivyIndex, path))
        case backends.OpenSearchFulltext(url=url, ca_file=ca_file, index=prefix, deadline_ms=deadline_ms):
            from retrieval.fulltext.opensearch import OpenSearchChannel  # noqa: PLC0415
            from retrieval.fulltext.opensearch_index import OpenSearchIndex  # noqa: PLC0415

            def fulltext() -> Channel:
                channel = OpenSearchChannel.open(url, ca_file=ca_file, prefix=prefix, deadline_s=deadline_ms / 1000)
                return circuits.guarded(channel, deadline_ms=deadline_ms)

            return Sides(fulltext, partial(OpenSearchIndex.open, url, ca_file=ca_file, prefix=prefix))
        case _:
            assert_never(backend)


def _vector(backend: backends.VectorBackend, embedder: Embedder, circuits: Circuits) -> Sides:
    match backend:
        case backends.NumpyVector(path=path):
            from retrieval.vector.numpy import NumpyVectorChannel, NumpyVectorIndex  # noqa: PLC0415

            return Sides(
                partial(NumpyVectorChannel, path, embedder=embedder), partial(NumpyVectorIndex, path, embedder=embedder)
            )
        case backends.PgvectorVector(dsn=dsn, deadline_ms=deadline_ms, row_security=row_security):
            from retrieval.vector.pgvector import PgvectorChannel, PgvectorIndex  # noqa: PLC0415

            def vector() -> Channel:
                channel = PgvectorChannel.open(dsn, embedder=embedder, statement_timeout_ms=deadline_ms)
                return circuits.guarded(channel, deadline_ms=deadline_ms)

            return Sides(vector, partial(PgvectorIndex.open, dsn, embedder=embedder, row_security=row_security))
        case _:
            assert_never(backend)
