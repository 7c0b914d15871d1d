"""The full-text channel on a real OpenSearch as a backend of the contract suites: a folder's name is a prefix."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from opensearchpy import AsyncOpenSearch

from retrieval.fulltext.opensearch import OpenSearchChannel
from retrieval.fulltext.opensearch_index import OpenSearchIndex
from tests.channel_backends import Backend, Opener

DEADLINE_S = 60.0  # shared machines are slow
RUN = os.environ.setdefault("EXHIBIT_TEST_OPENSEARCH_RUN", f"test-{secrets.token_hex(4)}")


def prefix_of(folder: Path) -> str:
    """One prefix per folder and run; the run's own processes share it."""
    return f"{RUN}-{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"


async def wipe(url: str) -> None:
    """Deletes the indexes of this run: a server holds a thousand, and each slows the next down."""
    async with AsyncOpenSearch(url, timeout=DEADLINE_S) as client:
        await client.indices.delete(index=f"{RUN}-*")


def opener_on(url: str, ca_file: Path | None = None) -> Opener:
    """Opens a backend per folder on one server."""

    @asynccontextmanager
    async def opensearch(folder: Path) -> AsyncIterator[Backend]:
        prefix = prefix_of(folder)
        channel = OpenSearchChannel.open(url, ca_file=ca_file, prefix=prefix, deadline_s=DEADLINE_S)
        index = OpenSearchIndex.open(url, ca_file=ca_file, prefix=prefix)
        try:
            yield Backend(channel, index)
        finally:
            await channel.aclose()
            await index.aclose()

    return opensearch
