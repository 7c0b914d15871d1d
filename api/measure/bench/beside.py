"""Every channel that is on a server by itself, beside the folder's and beside the driver alone with the same query."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from math import ceil
from statistics import mean, median

from ai.focus_pipeline import answer
from api.home.configuration import Configuration
from api.measure.bench.bare import BareDriver, bare_drivers
from api.measure.bench.model import ChannelComparison
from api.measure.bench.statistics import Percentiles, spread
from api.measure.bench.workload.corpus import ASKER_GROUP, ASKER_ROLE, ASKER_TENANT
from api.measure.bench.workload.questions import Question
from api.measure.bench.wrapped_channel import WrappedChannel
from api.schemas.ask import ask_of, parse_query
from api.wiring import System, new_id, open_system
from policy.model import Subject
from retrieval.channels.channel import Channel
from retrieval.channels.guarded import GuardedChannel
from retrieval.model import ChannelName, Query, Run
from retrieval.servers.statement import Statement

_DEADLINE_S = 60.0
MIN_TURNS = 120
"""Of every channel, however few questions reach its server: each gives two samples of a way, enough for a p99."""


@dataclass(slots=True)
class ListeningChannel(WrappedChannel):
    """A channel that keeps what it is asked. A `Channel`."""

    heard: list[Query] = field(default_factory=list)

    async def search(self, query: Query) -> Run:
        self.heard.append(query)
        return await self.inner.search(query)


async def measure_beside(
    configuration: Configuration, folder: Configuration, questions: Sequence[Question], *, rounds: int
) -> Mapping[str, ChannelComparison]:
    """The figures of each channel on a server, by name and store: of every query that reaches the server `rounds`
    turns, or more where those are fewer than `MIN_TURNS`."""
    async with (
        open_system(configuration) as system,
        open_system(folder) as embedded,
        bare_drivers(system.chosen, _DEADLINE_S) as drivers,
    ):
        heard = await _heard(system, questions)
        found = {}
        for channel in system.services.channels:
            if not isinstance(channel, GuardedChannel):
                continue
            stated = [(query, await channel.statements_of(query)) for query in heard[channel.name]]
            if stated := [(query, statements) for query, statements in stated if statements]:
                beside = next(c for c in embedded.services.channels if c.name == channel.name)
                compared = _Compared(channel, beside, drivers[channel.name], stated)
                found[f"{channel.name}/{channel.store}"] = await compared.measure(rounds)
        return found


async def _heard(system: System, questions: Sequence[Question]) -> dict[ChannelName, list[Query]]:
    """The pipeline's query to each channel."""
    listening = [ListeningChannel(channel) for channel in system.services.channels]
    services = replace(system.services, channels=listening)
    subject = Subject.of(id="bench", tenant=ASKER_TENANT, roles=(ASKER_ROLE,), data=system.data, groups=(ASKER_GROUP,))
    for question in questions:
        asked = ask_of(parse_query({"question": question.text}), subject=subject, request_id=new_id())
        await answer(asked, services=services, profile=system.profile("focus"))
    return {each.name: each.heard for each in listening}


@dataclass(frozen=True, slots=True)
class Turn:
    """One query by each way twice, in milliseconds."""

    channel: tuple[float, float]
    bare: tuple[float, float]
    embedded: tuple[float, float]


def compared(turns: Sequence[Turn], statements: float) -> ChannelComparison:
    """The figures of at least one turn. What the channel takes more is the median over turns, in each of which the
    other jobs, the query and the order weigh on both alike: a median of all queries may fall on a quick one for the
    channel and on a slow one for the driver."""
    pairs = [(mean(turn.channel), mean(turn.bare)) for turn in turns]
    return ChannelComparison(
        channel=_spread_of([turn.channel for turn in turns]),
        bare=_spread_of([turn.bare for turn in turns]),
        embedded=_spread_of([turn.embedded for turn in turns]),
        statements=round(statements, 2),
        times=round(median(ours / bare for ours, bare in pairs), 3),
        more_ms=round(median(ours - bare for ours, bare in pairs), 3),
    )


def _spread_of(samples: Sequence[tuple[float, float]]) -> Percentiles:
    found = spread(list(chain.from_iterable(samples)))
    return Percentiles(found.n, round(found.p50, 3), round(found.p95, 3), round(found.p99, 3))


@dataclass(frozen=True, slots=True)
class _Compared:
    channel: GuardedChannel
    embedded: Channel
    driver: BareDriver
    stated: Sequence[tuple[Query, Sequence[Statement]]]

    async def measure(self, rounds: int) -> ChannelComparison:
        for query, statements in self.stated:
            await self._turn(query, statements)  # not counted
        rounds = max(rounds, ceil(MIN_TURNS / len(self.stated)))
        turns = [await self._turn(*asked) for _ in range(rounds) for asked in self.stated]
        return compared(turns, mean(len(statements) for _, statements in self.stated))

    async def _turn(self, query: Query, statements: Sequence[Statement]) -> Turn:
        """Whichever goes first finds the server's caches and the processor's cold from other work: the channel and the
        driver each do so once, after the folder's channel."""
        channel = partial(self.channel.search, query)
        bare = partial(self.driver.carry_out, statements)
        embedded = partial(self.embedded.search, query)
        ours_1, bare_1, folder_1 = await _ms(channel), await _ms(bare), await _ms(embedded)
        bare_2, ours_2, folder_2 = await _ms(bare), await _ms(channel), await _ms(embedded)
        return Turn((ours_1, ours_2), (bare_1, bare_2), (folder_1, folder_2))


async def _ms(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000
