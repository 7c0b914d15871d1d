"""Which classes the full-text indexes of a home hold: one document on the server, so that a lost index is told from a
class that never had one. Never names a class whose index was not yet published, and may lag behind one that was."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from opensearchpy import AsyncOpenSearch

from retrieval.errors import ChannelFault
from retrieval.fulltext.opensearch_schema import SETTINGS, IndexNames
from retrieval.model import ChannelName

_ID = "classes"
_MAPPING = {"dynamic": "strict", "properties": {"keys": {"type": "keyword", "index": False, "doc_values": False}}}


async def read_state(client: AsyncOpenSearch, names: IndexNames) -> frozenset[str]:
    """The keys of the classes; none where nothing was ever written."""
    told: Any = await client.get(index=names.state, id=_ID, ignore=[404])
    if isinstance(told, Mapping) and ("error" in told or told.get("found") is False):
        return frozenset()
    try:
        keys = told["_source"]["keys"]
    except (KeyError, TypeError) as exc:
        raise ChannelFault(ChannelName.FULLTEXT, "the full-text server gave an invalid answer") from exc
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise ChannelFault(ChannelName.FULLTEXT, "the full-text server gave an invalid answer")
    return frozenset(keys)


async def write_state(client: AsyncOpenSearch, names: IndexNames, keys: Collection[str]) -> None:
    """Replaces it. Its index is made by hand: a server may be told to make none by itself."""
    if not await client.indices.exists(index=names.state):
        await client.indices.create(index=names.state, body={"settings": SETTINGS, "mappings": _MAPPING})
    await client.index(index=names.state, id=_ID, body={"keys": sorted(keys)})
