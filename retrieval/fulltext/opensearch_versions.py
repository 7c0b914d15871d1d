"""The versions of the classes' indexes on an OpenSearch server: made, filled, copied, published, cleared away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import NotFoundError
from opensearchpy.helpers import async_streaming_bulk

from retrieval.errors import ChannelFault, ChannelUnavailable, IndexNotReady
from retrieval.fulltext.opensearch_reply import REBUILD
from retrieval.fulltext.opensearch_schema import MAPPING, SETTINGS, IndexNames, creation
from retrieval.model import ChannelName

_CHUNK = 500
_CHUNK_BYTES = 900_000  # more would hold up the event loop
_PAGE = 5_000
_REWRITE_S = 3_600  # copying a class takes as long as the class is large
_TAKEN = "another writer has taken the full-text index"
_ODD = "the full-text server gave an invalid answer"


class Versions:
    """Work on one index at a time. Raises the client's errors, and those of a channel."""

    def __init__(self, client: AsyncOpenSearch, names: IndexNames) -> None:
        self._client = client
        self._names = names

    async def published(self, *, mend: bool = False) -> dict[str, list[str]]:
        """The published version of each class key. Raises IndexNotReady where it is not one version of our making; with
        `mend` it is taken as it is, to be replaced."""
        found: dict[str, list[str]] = {}
        for version, told in (await self._indexes()).items():
            key = self._names.key_of(version)
            if key is None or self._names.alias(key) not in told["aliases"]:
                continue
            if not mend and (key in found or told["mappings"] != MAPPING):
                raise IndexNotReady(REBUILD)
            found.setdefault(key, []).append(version)
        return found

    async def sweep(self) -> None:
        """Deletes versions that were never published, or no longer are."""
        for version, told in (await self._indexes()).items():
            key = self._names.key_of(version)
            if key is not None and self._names.alias(key) not in told["aliases"]:
                await self._client.indices.delete(index=version, ignore=[404])

    async def _indexes(self) -> Mapping[str, Any]:
        told: Any = await self._client.indices.get(index=self._names.everything, ignore_unavailable=True)
        if not isinstance(told, Mapping) or not all({"aliases", "mappings"} <= set(index) for index in told.values()):
            raise ChannelFault(ChannelName.FULLTEXT, _ODD)
        return told

    async def make(self, key: str) -> str:
        """An empty version, which can be written."""
        version = self._names.new_version(key)
        await self._client.indices.create(index=version, body={**creation(), "aliases": self._open(version)})
        return version

    async def copy(self, key: str, published: str) -> str:
        """A version that begins as the published one and shares its files, at no cost that grows with it."""
        version = self._names.new_version(key)
        settings = {**SETTINGS, "index.blocks.write": None}
        body = {"settings": settings, "aliases": self._open(version)}
        try:
            await self._client.indices.add_block(index=published, block="write")  # the server clones no other
            await self._client.indices.clone(index=published, target=version, body=body)
        except NotFoundError as exc:
            raise ChannelUnavailable(ChannelName.FULLTEXT, _TAKEN) from exc
        return version

    def _open(self, version: str) -> dict[str, Any]:
        return {self._names.writable(version): {}}

    async def fill(self, version: str, entries: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Writes entries. An entry that the server has no room for now is tried again; raises ChannelFault where it
        refuses one, ChannelUnavailable where it still has no room."""
        target = self._names.writable(version)
        actions = [{"_op_type": "index", "_index": target, "_id": i, "_source": source} for i, source in entries]
        statuses = []
        async for ok, told in async_streaming_bulk(
            self._client,
            actions,
            chunk_size=_CHUNK,
            max_chunk_bytes=_CHUNK_BYTES,
            raise_on_error=False,
            max_retries=4,
            initial_backoff=0.25,
            max_backoff=4,
            require_alias=True,
        ):
            if not ok:
                statuses.append(told["index"].get("status"))
        if 404 in statuses:
            raise ChannelUnavailable(ChannelName.FULLTEXT, _TAKEN)
        if 429 in statuses:
            raise ChannelUnavailable(ChannelName.FULLTEXT, "the full-text server is overloaded")
        if statuses:
            told_of = f"the full-text server refused {len(statuses)} of {len(actions)} entries"
            raise ChannelFault(ChannelName.FULLTEXT, told_of)

    async def take_out(self, version: str, documents: Sequence[str]) -> bool:
        """Deletes the documents' entries; whether there were any."""
        await self._client.indices.refresh(index=version)
        query = {"terms": {"document_id": list(documents)}}
        told: Any = await self._client.delete_by_query(
            index=self._names.writable(version), body={"query": query}, request_timeout=_REWRITE_S
        )
        _check_done(told)
        return bool(told["deleted"])

    async def copy_without(self, key: str, source: str, documents: Sequence[str]) -> str:
        """A version with the entries of another, less those of the documents. They are written anew, because Lucene
        counts what was deleted in its statistics until segments merge."""
        version = await self.make(key)
        kept = {"bool": {"must_not": [{"terms": {"document_id": list(documents)}}]}}
        body = {"source": {"index": source, "query": kept}, "dest": {"index": self._names.writable(version)}}
        try:
            told: Any = await self._client.reindex(body=body, require_alias=True, request_timeout=_REWRITE_S)
        except NotFoundError as exc:
            raise ChannelUnavailable(ChannelName.FULLTEXT, _TAKEN) from exc
        _check_done(told)
        return version

    async def finish(self, version: str) -> bool:
        """Makes what was written visible to searches of the version; whether it holds anything."""
        await self._client.indices.refresh(index=version, request_timeout=_REWRITE_S)
        return bool((await self._client.count(index=version))["count"])

    async def publish(self, before: Mapping[str, Sequence[str]], after: Mapping[str, str | None]) -> None:
        """Puts versions in the place of others, all in one step; the others are deleted. Raises ChannelUnavailable
        where they are no longer what is published."""
        actions: list[dict[str, Any]] = []
        for key, version in after.items():
            if version is not None:
                actions.append({"add": {"index": version, "alias": self._names.alias(key)}})
                actions.append({"remove": {"index": version, "alias": self._names.writable(version)}})
            actions += [{"remove_index": {"index": replaced}} for replaced in before.get(key, ())]
        if not actions:
            return
        try:
            await self._client.indices.update_aliases(body={"actions": actions})
        except NotFoundError as exc:
            raise ChannelUnavailable(ChannelName.FULLTEXT, _TAKEN) from exc

    async def holders(self, documents: Sequence[str]) -> frozenset[str]:
        """Which versions hold one of the documents."""
        lists = [{"terms": {"document_id": list(documents)}}, {"term": {"marker": True}}]
        body = {
            "size": 0,
            "query": {"bool": {"filter": lists}},
            "aggs": {"held": {"terms": {"field": "_index", "size": 10_000}}},
        }
        told: Any = await self._client.search(
            index=self._names.everything, body=body, allow_partial_search_results=False
        )
        return frozenset(bucket["key"] for bucket in told["aggregations"]["held"]["buckets"])

    async def documents(self, versions: Iterable[str]) -> frozenset[str]:
        """The documents of the versions."""
        found: set[str] = set()
        for version in sorted(versions):
            after: list[str] = []
            while page := await self._page(version, after):
                found.update(page)
                after = page[-1:]
        return frozenset(found)

    async def _page(self, version: str, after: Sequence[str]) -> list[str]:
        body: dict[str, Any] = {
            "size": _PAGE,
            "query": {"bool": {"filter": [{"term": {"marker": True}}]}},
            "sort": [{"document_id": "asc"}],
            "stored_fields": "_none_",
            **({"search_after": list(after)} if after else {}),
        }
        told: Any = await self._client.search(index=version, body=body, allow_partial_search_results=False)
        return [hit["sort"][0] for hit in told["hits"]["hits"]]


def _check_done(told: Any) -> None:
    if told.get("failures") != [] or told.get("timed_out") is not False:
        raise ChannelFault(ChannelName.FULLTEXT, "the full-text server did not finish what was asked")
