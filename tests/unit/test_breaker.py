"""The circuit breaker and what stands behind it: silence opens it, answers do not, one trial closes it again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ai.errors import ModelMissing, ModelTimeout, ModelUnavailable, PromptTooLong
from ai.model import Completion, RenderedPrompt
from ai.models.chat_model import ChatRequest, StructuredRequest
from ai.models.guarded_model import GuardedModel
from retrieval.channels.fan_out import Slots, fan_out
from retrieval.channels.guarded import GuardedChannel
from retrieval.errors import (
    ChannelCircuitOpen,
    ChannelFault,
    ChannelTimeout,
    ChannelUnavailable,
    StoreNotResponding,
    StoreUnavailable,
)
from retrieval.model import ChannelName, Hit, Intent, Query, Run
from retrieval.registry.sql.engine import Engine
from retrieval.registry.sql.guarded_engine import GuardedEngine
from retrieval.scope import Scope
from retrieval.servers.breaker import LIMIT, REST_S, Breaker, CircuitOpen, CircuitState
from retrieval.servers.statement import Statement
from tests.fakes_ai import ScriptedModel
from tests.fakes_retrieval import ScriptedChannel

QUERY = Query("anything", Scope("default", frozenset({"c"})), 5)
NOBODY = Query("anything", Scope("default", frozenset()), 5)
DEADLINE_S = 5.0


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Server(ScriptedChannel):
    """A channel whose server is asked for whatever has a scope; it is `up` again when told."""

    def up(self) -> None:
        self._fault = None

    def asks(self, query: Query) -> bool:
        return bool(query.scope.class_ids)

    async def statements_of(self, query: Query) -> Sequence[Statement]:
        return ()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(ChannelTimeout, ChannelUnavailable, clock=clock)


def silent(breaker: Breaker, times: int = LIMIT) -> None:
    for _ in range(times):
        with pytest.raises(ChannelUnavailable), breaker.call(DEADLINE_S):
            raise ChannelUnavailable("c", "gone")


def refuses(breaker: Breaker) -> None:
    with pytest.raises(CircuitOpen), breaker.call(DEADLINE_S):
        pytest.fail("the call went through")


def test_it_opens_after_so_many_silences_in_a_row_and_tries_again_after_a_rest(breaker: Breaker, clock: Clock) -> None:
    silent(breaker, LIMIT - 1)
    assert breaker.state is CircuitState.CLOSED
    silent(breaker, 1)
    assert breaker.state is CircuitState.OPEN
    refuses(breaker)
    clock.now_s += REST_S
    assert breaker.state is CircuitState.HALF_OPEN
    silent(breaker, 1)
    refuses(breaker)
    clock.now_s += REST_S
    with breaker.call(DEADLINE_S):
        refuses(breaker)  # one trial at a time
    assert breaker.state is CircuitState.CLOSED


def test_an_answer_between_silences_starts_the_count_again(breaker: Breaker) -> None:
    for _ in range(3):
        silent(breaker, LIMIT - 1)
        with breaker.call(DEADLINE_S):
            pass
    assert breaker.state is CircuitState.CLOSED


@pytest.mark.parametrize("fault", [ChannelFault("c", "no"), ValueError()])
def test_what_is_no_silence_says_nothing(breaker: Breaker, clock: Clock, fault: Exception) -> None:
    for _ in range(LIMIT + 1):
        with pytest.raises(type(fault)), breaker.call(DEADLINE_S):
            raise fault
    assert breaker.state is CircuitState.CLOSED
    silent(breaker)
    clock.now_s += REST_S
    with pytest.raises(type(fault)), breaker.call(DEADLINE_S):
        raise fault
    assert breaker.state is CircuitState.HALF_OPEN
    silent(breaker, 1)  # the trial was given back


@pytest.mark.parametrize(("waited_s", "state"), [(1.0, CircuitState.CLOSED), (4.6, CircuitState.OPEN)])
def test_a_caller_who_leaves_early_says_nothing_of_the_store(
    breaker: Breaker, clock: Clock, waited_s: float, state: CircuitState
) -> None:
    for _ in range(LIMIT):
        with pytest.raises(asyncio.CancelledError), breaker.call(DEADLINE_S):
            clock.now_s += waited_s
            raise asyncio.CancelledError
    assert breaker.state is state


def test_a_caller_who_leaves_a_trial_gives_it_to_the_next(breaker: Breaker, clock: Clock) -> None:
    silent(breaker)
    clock.now_s += REST_S
    with pytest.raises(asyncio.CancelledError), breaker.call(DEADLINE_S):
        raise asyncio.CancelledError
    with breaker.call(DEADLINE_S):
        pass
    assert breaker.state is CircuitState.CLOSED


async def test_a_channel_that_rests_is_a_limitation_of_its_own_at_once(breaker: Breaker) -> None:
    server = Server(ChannelName.GRAPH, fault=ChannelUnavailable(ChannelName.GRAPH, "gone"))
    channel = GuardedChannel(server, breaker=breaker, deadline_s=DEADLINE_S)
    found = [await _limited(channel) for _ in range(LIMIT + 2)]
    assert found == ["CHANNEL_UNAVAILABLE"] * LIMIT + ["CHANNEL_CIRCUIT_OPEN"] * 2
    assert server.begun == LIMIT
    assert isinstance(ChannelCircuitOpen("c", ""), ChannelUnavailable)


async def test_a_channel_is_found_again_by_one_trial(breaker: Breaker, clock: Clock) -> None:
    server = Server(ChannelName.GRAPH, [Hit(1, "r", 1.0)], fault=ChannelTimeout(ChannelName.GRAPH, "slow"))
    channel = GuardedChannel(server, breaker=breaker, deadline_s=DEADLINE_S)
    for _ in range(LIMIT):
        await _limited(channel)
    server.up()
    clock.now_s += REST_S
    assert (await channel.search(QUERY)).hits == (Hit(1, "r", 1.0),)
    assert breaker.state is CircuitState.CLOSED


async def test_a_search_that_asks_no_server_neither_closes_nor_meets_the_circuit(breaker: Breaker) -> None:
    channel = GuardedChannel(Server(ChannelName.GRAPH), breaker=breaker, deadline_s=DEADLINE_S)
    silent(breaker)
    assert await channel.search(NOBODY) == Run(ChannelName.GRAPH, channel.store)
    assert breaker.state is CircuitState.OPEN


class Scripted(Engine):
    """An engine that answers as told."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    async def read(self, job: Any, *, scope: Scope | None) -> Any:
        return await self.answer()

    async def write(self, job: Any) -> Any:
        return await self.answer()

    async def compact(self) -> None:
        """Nothing to rewrite."""

    async def aclose(self) -> None:
        """Nothing to close."""


async def test_a_store_that_stands_still_is_left_at_the_deadline_and_then_alone(clock: Clock) -> None:
    breaker = Breaker(StoreNotResponding, clock=clock)
    ended: list[str] = []

    async def still() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("left")

    store = GuardedEngine(Scripted(still), breaker=breaker, deadline_s=0.01)
    for _ in range(LIMIT):
        with pytest.raises(StoreNotResponding, match=r"within 0\.01 s"):
            await store.read(len, scope=None)
    with pytest.raises(StoreNotResponding, match="is not responding; circuit open"):
        await store.read(len, scope=None)
    assert len(ended) == LIMIT


async def test_a_store_that_says_that_it_is_empty_has_answered(clock: Clock) -> None:
    breaker = Breaker(StoreNotResponding, clock=clock)

    async def empty() -> None:
        raise StoreUnavailable("nothing has been ingested")

    store = GuardedEngine(Scripted(empty), breaker=breaker, deadline_s=1.0)
    for _ in range(LIMIT + 1):
        with pytest.raises(StoreUnavailable, match="ingested"):
            await store.read(len, scope=None)
    assert breaker.state is CircuitState.CLOSED


async def _limited(channel: GuardedChannel) -> str:
    deadlines = dict.fromkeys(ChannelName, DEADLINE_S)
    found = await fan_out([channel], QUERY, deadlines_s=deadlines, slots=Slots(1))
    return found.limitations[0].code


class Scribe(ScriptedModel):
    """A model on a server that fails as told."""

    def __init__(self, fault: Exception | None) -> None:
        super().__init__("words")
        self.fault = fault
        self.asked = 0

    async def complete(self, request: ChatRequest) -> Completion:
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        return await super().complete(request)

    async def structured(self, request: StructuredRequest) -> Completion:
        self.asked += 1
        raise self.fault or AssertionError("not scripted")


CHAT = ChatRequest(
    prompt=RenderedPrompt("", "", "focus_mode/v1", "", (), 1),
    question="q",
    intent=Intent(),
    max_tokens=1,
    temperature_milli=0,
    seed=1,
    deadline_s=DEADLINE_S,
)
STRUCTURED = StructuredRequest((), {}, 1, 0, 1, DEADLINE_S)


@pytest.mark.parametrize("fault", [ModelUnavailable("gone"), ModelTimeout("late")])
async def test_a_model_that_is_silent_is_left_alone_and_found_again(clock: Clock, fault: Exception) -> None:
    breaker = Breaker(ModelUnavailable, ModelTimeout, clock=clock)
    scribe = Scribe(fault)
    model = GuardedModel(scribe, breaker=breaker)
    for _ in range(LIMIT):
        with pytest.raises(type(fault)):
            await model.structured(STRUCTURED)
    with pytest.raises(ModelUnavailable, match="is not responding; circuit open"):
        await model.structured(STRUCTURED)
    assert scribe.asked == LIMIT
    clock.now_s += REST_S
    scribe.fault = None
    assert (await model.complete(CHAT)).text == "words"
    assert breaker.state is CircuitState.CLOSED


@pytest.mark.parametrize("fault", [ModelMissing("no such model"), PromptTooLong("too long")])
async def test_a_server_that_refuses_a_call_has_answered(clock: Clock, fault: Exception) -> None:
    breaker = Breaker(ModelUnavailable, ModelTimeout, clock=clock)
    model = GuardedModel(Scribe(fault), breaker=breaker)
    for _ in range(LIMIT + 1):
        with pytest.raises(type(fault), match=str(fault)):
            await model.structured(STRUCTURED)
    assert breaker.state is CircuitState.CLOSED
