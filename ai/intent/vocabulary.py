"""The words that a scope knows: its gazetteer and its lexicon, built once per scope and state of the corpus, and
questions read with them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from ai.intent.lexicon import Lexicon
from ai.intent.planned import planned
from ai.intent.reader import IntentReading, read_intent
from ai.model import MapContext
from retrieval.algebra.domain import Domain
from retrieval.algebra.operations import Operation
from retrieval.gazetteer import Gazetteer
from retrieval.index import GazetteerEntry
from retrieval.registry.store import RecordStore
from retrieval.scope import Scope
from retrieval.worker import Stop, Workers


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that a question of this scope can use. `untimed` is the lexicon with the figures that have no time and
    what only these are of; None where there are none."""

    gazetteer: Gazetteer
    lexicon: Lexicon
    untimed: Lexicon | None = None


class Vocabularies:
    """Vocabularies by (scope, corpus version). The key holds the scope's digest, so no name crosses authority, and the
    corpus version, so a re-index is seen at once."""

    def __init__(self, *, store: RecordStore, capacity: int = 32) -> None:
        self._store = store
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, int], Vocabulary] = OrderedDict()
        self._building: WeakValueDictionary[tuple[str, int], asyncio.Lock] = WeakValueDictionary()
        self._readers = Workers("read-question", size=1)  # reading is pure Python: two at once would not be faster

    async def of(self, scope: Scope, *, corpus_version: int) -> Vocabulary:
        """The scope's vocabulary at that version of the corpus or a later one, built once however many ask for it, and
        not on the event loop. Raises `StoreUnavailable`."""
        key = (scope.digest, corpus_version)
        if key not in self._kept:
            async with self._building.setdefault(key, asyncio.Lock()):
                if key not in self._kept:
                    self._keep(key, await self._built(scope))
        self._kept.move_to_end(key)
        return self._kept[key]

    async def read(
        self,
        question: str,
        context: MapContext,
        *,
        scope: Scope,
        corpus_version: int,
        plan: Sequence[Operation] = (),
    ) -> IntentReading:
        """The question as `read_intent` reads it in the scope's words, or that plan in its place; in a thread, since
        a long question takes a tenth of a second. Raises `StoreUnavailable`."""
        known = await self.of(scope, corpus_version=corpus_version)

        def work(stop: Stop) -> IntentReading:
            stop.check()
            reading = read_intent(question, context, lexicon=known.lexicon, untimed=known.untimed)
            return planned(reading, plan, lexicon=known.untimed or known.lexicon) if plan else reading

        return await self._readers.run(work)

    async def aclose(self) -> None:
        """Drops what has not been read and waits for what is being read."""
        await self._readers.aclose()

    async def _built(self, scope: Scope) -> Vocabulary:
        entries = await self._store.gazetteer_entries(scope=scope)
        domain = await self._store.domain(scope=scope)
        return await asyncio.to_thread(_vocabulary, entries, domain)

    def _keep(self, key: tuple[str, int], made: Vocabulary) -> None:
        self._kept[key] = made
        while len(self._kept) > self._capacity:
            self._kept.popitem(last=False)


def _vocabulary(entries: Sequence[GazetteerEntry], domain: Domain) -> Vocabulary:
    gazetteer = Gazetteer([entry for entry in entries if not entry.entity.listed])
    lexicon = Lexicon.of(gazetteer, domain.dated)
    apart = domain.apart
    if apart == domain.dated:
        return Vocabulary(gazetteer, lexicon)
    return Vocabulary(gazetteer, lexicon, Lexicon.of(Gazetteer(entries), apart))
