"""The words that a scope knows: built once however many ask; that, and reading with them, not on the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from ai.intent.vocabulary import Vocabularies
from ai.model import MapContext
from retrieval.algebra.domain import Domain
from retrieval.index import GazetteerEntry
from retrieval.model import EntityRef
from retrieval.registry.store import RecordStore
from retrieval.scope import Scope

SCOPE, OTHER = Scope("default", frozenset({"c"})), Scope("default", frozenset({"d"}))


class Entries(Sequence[GazetteerEntry]):
    """Entries that note which thread reads them."""

    def __init__(self) -> None:
        self.readers: list[int] = []

    def __iter__(self) -> Iterator[GazetteerEntry]:
        self.readers.append(threading.get_ident())
        yield GazetteerEntry(EntityRef("e", "place", "Rooks County"), ("Rooks",), "c", "d")

    def __len__(self) -> int:
        return 1

    def __getitem__(self, at: object) -> GazetteerEntry:  # type: ignore[override]
        raise AssertionError("read as a whole")


class Store:
    """A store that answers late, and counts."""

    def __init__(self) -> None:
        self.entries = Entries()
        self.asked: list[str] = []

    async def gazetteer_entries(self, *, scope: Scope) -> Sequence[GazetteerEntry]:
        self.asked.append(scope.digest)
        await asyncio.sleep(0.01)
        return self.entries

    async def domain(self, *, scope: Scope) -> Domain:
        return Domain()


def vocabularies(store: Store, capacity: int = 32) -> Vocabularies:
    return Vocabularies(store=cast(RecordStore, store), capacity=capacity)


async def test_many_who_ask_at_once_get_one_that_no_event_loop_built() -> None:
    store = Store()
    kept = vocabularies(store)
    found = await asyncio.gather(*(kept.of(SCOPE, corpus_version=1) for _ in range(20)))
    assert store.asked == [SCOPE.digest]
    assert len({id(each) for each in found}) == 1
    assert store.entries.readers and threading.get_ident() not in store.entries.readers


async def test_another_scope_or_state_of_the_corpus_has_one_of_its_own() -> None:
    store = Store()
    kept = vocabularies(store, capacity=1)
    wanted = [(SCOPE, 1), (OTHER, 1), (SCOPE, 2), (SCOPE, 1)]
    found = [await kept.of(scope, corpus_version=version) for scope, version in wanted]
    assert len({id(each) for each in found}) == len(wanted)
    assert len(store.asked) == len(wanted)


async def test_one_who_goes_away_while_it_is_built_leaves_the_others_theirs() -> None:
    store = Store()
    kept = vocabularies(store)
    first, second = (asyncio.ensure_future(kept.of(SCOPE, corpus_version=1)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).gazetteer is not None
    assert first.cancelled()
    assert len(store.asked) == 2


class Question(str):
    """A question that notes which thread reads it."""

    readers: list[int]

    def __getitem__(self, at: object) -> str:
        self.readers.append(threading.get_ident())
        return super().__getitem__(at)  # type: ignore[index]


def question(text: str) -> Question:
    made = Question(text)
    made.readers = []
    return made


async def test_questions_are_read_one_at_a_time_and_not_on_the_event_loop() -> None:
    kept = vocabularies(Store())
    asked = [question(f"What was the population of Rooks County in {year}?") for year in range(1900, 1910)]
    read = [kept.read(each, MapContext(), scope=SCOPE, corpus_version=1) for each in asked]
    found = await asyncio.gather(*read)
    assert [each.intent.times[0].start.year for each in found] == [*range(1900, 1910)]
    readers = {thread for each in asked for thread in each.readers}
    assert len(readers) == 1
    assert threading.get_ident() not in readers
    await kept.aclose()


async def test_a_question_whose_asker_has_gone_is_not_read() -> None:
    kept = vocabularies(Store())
    await kept.of(SCOPE, corpus_version=1)
    long, gone = question("Rooks County " * 300), question("Where is Rooks County?")
    first, second = (
        asyncio.ensure_future(kept.read(each, MapContext(), scope=SCOPE, corpus_version=1)) for each in (long, gone)
    )
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    await first
    assert long.readers
    assert not gone.readers
    await kept.aclose()


async def test_scopes_do_not_wait_for_each_other() -> None:
    store = Store()
    kept = vocabularies(store)
    waiting = asyncio.Event()

    async def held(*, scope: Scope) -> Sequence[GazetteerEntry]:
        if scope == SCOPE:
            await waiting.wait()
        return store.entries

    store.gazetteer_entries = held  # type: ignore[method-assign]
    slow = asyncio.ensure_future(kept.of(SCOPE, corpus_version=1))
    await asyncio.sleep(0)
    await asyncio.wait_for(kept.of(OTHER, corpus_version=1), 5)
    assert not slow.done()
    waiting.set()
    await slow
