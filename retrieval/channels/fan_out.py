"""Asks all channels at once; what went wrong is a value."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.channels.channel import Channel
from retrieval.errors import ChannelError, ChannelTimeout, EmbedModelMismatch, IndexNotReady
from retrieval.model import ChannelName, Limitation, Query, Run

# Of a deadline that a search may wait for its turn. Where a store stands still, those that wait give up one by one
# while they are young, instead of all at the moment at which the first searches fail and the circuit opens.
PATIENCE = 0.25


@dataclass(frozen=True, slots=True)
class FanOut:
    """The runs of the channels that answered, in the order the channels were given; a limitation for each that did not,
    and the runs' own; and how long each took."""

    runs: tuple[Run, ...]
    limitations: tuple[Limitation, ...]
    timings_ms: Mapping[str, float]


class Slots:
    """At most `size` searches of one channel at a time, over all requests. Each channel has its own, so that a store
    that stands still keeps nobody but its own channel waiting."""

    def __init__(self, size: int) -> None:
        self._of = {name: asyncio.Semaphore(size) for name in ChannelName}

    def of(self, name: ChannelName) -> asyncio.Semaphore:
        """Those of one channel."""
        return self._of[name]


async def fan_out(
    channels: Sequence[Channel], query: Query, *, deadlines_s: Mapping[ChannelName, float], slots: Slots
) -> FanOut:
    """Searches every channel in parallel, each within its own deadline; waiting for one of `slots` counts against it,
    and ends after a quarter of it.

    A time-out cancels the channel's search, which stops its work (see `retrieval.channels.channel.Channel`). Cancelling
    this cancels them all. A bug in a channel still raises, after the others were cancelled. KeyError where a deadline
    is missing.
    """
    deadlines = [deadlines_s[channel.name] for channel in channels]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_timed(channel, query, deadline, slots))
                for channel, deadline in zip(channels, deadlines, strict=True)
            ]
    except* Exception as faults:
        raise faults.exceptions[0] from None
    outcomes = [task.result() for task in tasks]
    runs = tuple(outcome for outcome, _ in outcomes if isinstance(outcome, Run))
    failed = [outcome for outcome, _ in outcomes if isinstance(outcome, Limitation)]
    limitations = dict.fromkeys([*failed, *(limitation for run in runs for limitation in run.limitations)])
    timings = {str(channel.name): ms for channel, (_, ms) in zip(channels, outcomes, strict=True)}
    return FanOut(runs, tuple(limitations), timings)


async def _timed(channel: Channel, query: Query, deadline_s: float, slots: Slots) -> tuple[Run | Limitation, float]:
    started = time.perf_counter()
    outcome = await ask(channel, query, deadline_s=deadline_s, slots=slots)
    return outcome, round((time.perf_counter() - started) * 1000, 3)


async def ask(channel: Channel, query: Query, *, deadline_s: float, slots: Slots) -> Run | Limitation:
    """One channel's run, or why there is none."""
    try:
        async with asyncio.timeout(deadline_s):
            slot = slots.of(channel.name)
            if not await _taken(slot, deadline_s * PATIENCE):
                return _limitation(channel, ChannelTimeout(channel.name, "too many searches of it run already"))
            try:
                return await channel.search(query)
            finally:
                slot.release()
    except TimeoutError:
        return _limitation(channel, ChannelTimeout(channel.name, f"no answer within {deadline_s:g} s"))
    except ChannelError as error:
        return _limitation(channel, error)
    except (EmbedModelMismatch, IndexNotReady) as error:
        return Limitation(error.code, "the index must be rebuilt before it can be searched", channel.name)


async def _taken(slot: asyncio.Semaphore, patience_s: float) -> bool:
    try:
        async with asyncio.timeout(patience_s):
            return await slot.acquire()
    except TimeoutError:
        return False


def _limitation(channel: Channel, error: ChannelError) -> Limitation:
    return Limitation(error.code, error.message, channel.name)
