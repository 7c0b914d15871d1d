"""Erasure of a source where its text came in: the store of record and the channels' indexes."""

from __future__ import annotations

from api.configuration import Configuration
from api.wiring import open_ingest


async def erase_source(configuration: Configuration, name: str, *, tenant: str) -> dict[str, int]:
    """Erase it from the store and fill every channel anew; gives how many documents went. Raises HomeBusy while
    documents are taken in, StoreUnavailable, ChannelError: then the command is given again."""
    async with open_ingest(configuration) as ingest:
        return {"documents": len(await ingest.erase(name, tenant=tenant))}
