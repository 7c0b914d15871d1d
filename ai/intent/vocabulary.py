"""The words that a scope knows: its gazetteer and its lexicon, built once per scope and state of the corpus."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from ai.intent.lexicon import Lexicon
from retrieval.gazetteer import Gazetteer
from retrieval.registry.store import RecordStore
from retrieval.scope import Scope


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that a question of this scope can use."""

    gazetteer: Gazetteer
    lexicon: Lexicon


class Vocabularies:
    """Vocabularies by (scope, corpus version). The key holds the scope's digest, so no name crosses authority, and the
    corpus version, so a re-index is seen at once."""

    def __init__(self, *, store: RecordStore, capacity: int = 32) -> None:
        self._store = store
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, int], Vocabulary] = OrderedDict()

    async def of(self, scope: Scope, *, corpus_version: int) -> Vocabulary:
        """The scope's vocabulary at that version of the corpus or a later one. Raises `StoreUnavailable`."""
        key = (scope.digest, corpus_version)
        found = self._kept.get(key)
        if found is None:
            entries = await self._store.gazetteer_entries(scope=scope)
            gazetteer = Gazetteer(entries)
            found = Vocabulary(gazetteer, Lexicon.of(gazetteer, await self._store.domain(scope=scope)))
            self._kept[key] = found
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return found
