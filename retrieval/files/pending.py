"""The changes given to an index since its last commit, kept in memory until they are written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

Content = TypeVar("Content")


class Pending(Generic[Content]):
    """Whole documents: `added` with what each contributes, and `removed`, those that leave the store, which every added
    one does before its new content comes. Whoever writes has it to himself: others wait."""

    def __init__(self) -> None:
        self.added: dict[str, Content] = {}
        self.removed: set[str] = set()
        self._turn = asyncio.Lock()

    async def add(self, documents: Mapping[str, Content]) -> None:
        """Takes documents in, each in place of what was pending of it."""
        async with self._turn:
            self.added |= documents
            self.removed |= documents.keys()

    async def remove(self, document_ids: Collection[str]) -> None:
        """Takes documents out."""
        async with self._turn:
            for document_id in document_ids:
                self.added.pop(document_id, None)
                self.removed.add(document_id)

    @asynccontextmanager
    async def written(self) -> AsyncIterator[bool]:
        """Around the writing of all of it; gives whether there is anything. On an error everything stays pending."""
        async with self._turn:
            yield bool(self.added or self.removed)
            self.added, self.removed = {}, set()

    @asynccontextmanager
    async def forgotten(self) -> AsyncIterator[None]:
        """Around the emptying of the store: nothing is pending any more, whatever becomes of that."""
        async with self._turn:
            self.added, self.removed = {}, set()
            yield

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Around other work on the store, beside which nothing is written."""
        async with self._turn:
            yield
