"""The table of channel backends that the contract suites run over. A backend joins by one entry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from api.home.encryption.vault import Vault, is_encrypted, make_vault, open_vault
from retrieval.channels.channel import Channel
from retrieval.files.seal import PLAIN, Seal
from retrieval.fulltext.tantivy import TantivyChannel, TantivyIndex
from retrieval.graph.sqlite import GraphChannel, GraphIndex
from retrieval.index import ChannelIndex
from retrieval.spatial.sqlite import SpatialChannel, SpatialIndex
from retrieval.vector.numpy import NumpyVectorChannel, NumpyVectorIndex
from tests.fakes_retrieval import HashEmbedder, ScanChannel, ScanIndex

HOME_KEY = bytes(range(32))


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
    seal = sealed(folder)
    backend = Backend(TantivyChannel(folder, seal=seal), TantivyIndex(folder, seal=seal))
    yield backend
    await backend.channel.aclose()
    await backend.index.aclose()


@asynccontextmanager
async def numpy(folder: Path) -> AsyncIterator[Backend]:
    embedder, seal = HashEmbedder(), sealed(folder)
    backend = Backend(
        NumpyVectorChannel(folder, embedder=embedder, seal=seal), NumpyVectorIndex(folder, embedder=embedder, seal=seal)
    )
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


def encrypted(opener: Opener) -> Opener:
    """The same backend in a folder of an encrypted home."""

    @asynccontextmanager
    async def opened(folder: Path) -> AsyncIterator[Backend]:
        await asyncio.to_thread(vault_at, folder.parent)
        async with opener(folder) as backend:
            yield backend

    return opened


def vault_at(home: Path) -> Vault:
    """The vault of a home, made where there is none."""
    return open_vault(home, HOME_KEY) if is_encrypted(home) else make_vault(home, HOME_KEY)


def sealed(folder: Path) -> Seal:
    """How files in this folder are kept."""
    return vault_at(folder.parent) if is_encrypted(folder.parent) else PLAIN


# Opened twice on one folder, a backend of DURABLE shows what was committed.
_PLAIN: dict[str, Opener] = {"tantivy": tantivy, "numpy": numpy, "graph": graph, "spatial": spatial}
BACKENDS: dict[str, Opener] = {
    "scan": scan,
    **_PLAIN,
    **{f"{name}-encrypted": encrypted(opener) for name, opener in _PLAIN.items()},
}
DURABLE = tuple(name for name in BACKENDS if name != "scan")
