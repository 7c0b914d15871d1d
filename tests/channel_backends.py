"""The table of channel backends that the contract suites run over. A backend joins by one entry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from retrieval.channel import Channel
from retrieval.fulltext.tantivy import TantivyChannel, TantivyIndex
from retrieval.graph.sqlite import GraphChannel, GraphIndex
from retrieval.index import ChannelIndex
from retrieval.spatial.sqlite import SpatialChannel, SpatialIndex
from retrieval.vector.numpy import NumpyVectorChannel, NumpyVectorIndex
from tests.fakes_retrieval import HashEmbedder, ScanChannel, ScanIndex


@dataclass(frozen=True)
class Backend:
    """A channel and the index that feeds it, both open on one folder (or server)."""

    channel: Channel
    index: ChannelIndex


Opener = Callable[[Path], AbstractAsyncContextManager[Backend]]


@asynccontextmanager
async def scan(folder: Path) -> AsyncIterator[Backend]:
    index = ScanIndex()
    yield Backend(ScanChannel(index), index)


@asynccontextmanager
async def tantivy(folder: Path) -> AsyncIterator[Backend]:
    backend = Backend(TantivyChannel(folder), TantivyIndex(folder))
    yield backend
    await backend.channel.aclose()
    await backend.index.aclose()


@asynccontextmanager
async def numpy(folder: Path) -> AsyncIterator[Backend]:
    embedder = HashEmbedder()
    backend = Backend(NumpyVectorChannel(folder, embedder=embedder), NumpyVectorIndex(folder, embedder=embedder))
    yield backend
    await backend.channel.aclose()
    await backend.index.aclose()


@asynccontextmanager
async def graph(folder: Path) -> AsyncIterator[Backend]:
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    file = folder / "graph.sqlite"
    backend = Backend(GraphChannel.open(file), GraphIndex.open(file))
    yield backend
    await backend.channel.aclose()
    await backend.index.aclose()


@asynccontextmanager
async def spatial(folder: Path) -> AsyncIterator[Backend]:
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    file = folder / "spatial.sqlite"
    backend = Backend(SpatialChannel.open(file), SpatialIndex.open(file))
    yield backend
    await backend.channel.aclose()
    await backend.index.aclose()


# Opened twice on one folder, a backend of DURABLE shows what was committed.
BACKENDS: dict[str, Opener] = {"scan": scan, "tantivy": tantivy, "numpy": numpy, "graph": graph, "spatial": spatial}
DURABLE = tuple(name for name in BACKENDS if name != "scan")
