"""Every channel that is on a server by itself, beside the folder's and beside the driver alone with the same query."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ai.focus_pipeline import answer
from api.bench.bare import BareDriver, bare_drivers
from api.bench.corpus import ASKER_GROUP, ASKER_ROLE, ASKER_TENANT
from api.bench.model import Beside
from api.bench.questions import Question
from api.bench.statistics import settled
from api.bench.wrapped_channel import WrappedChannel
from api.configuration import Configuration
from api.schemas.ask import ask_of, parse_query
from api.wiring import System, new_id, open_system
from policy.model import Subject
from retrieval.channel import Channel
from retrieval.guarded_channel import GuardedChannel
from retrieval.model import ChannelName, Query, Run
from retrieval.statement import Statement

_DEADLINE_S = 60.0


@dataclass(slots=True)
class Listening(WrappedChannel):
    """A channel that keeps what it is asked. A `Channel`."""

    heard: list[Query] = field(default_factory=list)

    async def search(self, query: Query) -> Run:
        self.heard.append(query)
        return await self.inner.search(query)


async def measure_beside(
    configuration: Configuration, folder: Configuration, questions: Sequence[Question], *, rounds: int
) -> Mapping[str, Beside]:
    """The figures of each channel on a server, by name and store. The three ways take turns query by query, so that
    whatever else the machine does falls on all of them. Queries that do not reach the server are left out."""
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
    """What the pipeline asks of each channel."""
    listening = [Listening(channel) for channel in system.services.channels]
    services = replace(system.services, channels=listening)
    subject = Subject.of(id="bench", tenant=ASKER_TENANT, roles=(ASKER_ROLE,), data=system.data, groups=(ASKER_GROUP,))
    for question in questions:
        asked = ask_of(parse_query({"question": question.text}), subject=subject, request_id=new_id())
        await answer(asked, services=services, profile=system.profile("focus"))
    return {each.name: each.heard for each in listening}


@dataclass(frozen=True, slots=True)
class _Compared:
    channel: GuardedChannel
    embedded: Channel
    driver: BareDriver
    stated: Sequence[tuple[Query, Sequence[Statement]]]

    async def measure(self, rounds: int) -> Beside:
        await self._round()  # not counted
        taken = [await self._round() for _ in range(rounds)]
        ours, bare, embedded = (settled([[each[way] for each in one] for one in taken]) for way in range(3))
        statements = sum(len(statements) for _, statements in self.stated) / len(self.stated)
        return Beside(ours, bare, embedded, round(statements, 2))

    async def _round(self) -> list[tuple[float, float, float]]:
        return [
            (
                await _ms(self.channel.search(query)),
                await _ms(self.driver.carry_out(statements)),
                await _ms(self.embedded.search(query)),
            )
            for query, statements in self.stated
        ]


async def _ms(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return (time.perf_counter() - started) * 1000
