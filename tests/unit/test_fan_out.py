"""All channels at once: every failure is a value, every time-out stops its work, a bug still raises."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from retrieval.channels.fan_out import Slots, fan_out
from retrieval.errors import ChannelFault, ChannelUnavailable, EmbedModelMismatch, IndexNotReady
from retrieval.model import ChannelName, Hit, Limitation, Query, Run
from retrieval.scope import Scope
from tests.fakes_retrieval import ScriptedChannel, broken

QUERY = Query("anything", Scope("default", frozenset({"c"})), 5)
SOON = dict.fromkeys(ChannelName, 5.0)
AT_ONCE = dict.fromkeys(ChannelName, 0.02)


def slots(size: int = 8) -> Slots:
    return Slots(size)


async def test_all_runs_in_the_order_of_the_channels() -> None:
    channels = [ScriptedChannel(n, [Hit(1, n, 1.0)], delay_s=0.01 * (4 - i)) for i, n in enumerate(ChannelName)]
    found = await fan_out(channels, QUERY, deadlines_s=SOON, slots=slots())
    assert [run.channel for run in found.runs] == list(ChannelName)
    assert found.limitations == ()
    assert set(found.timings_ms) == set(ChannelName)


async def test_channels_search_at_the_same_time() -> None:
    barrier = asyncio.Barrier(4)

    class Meeting(ScriptedChannel):
        async def search(self, query: Query) -> Run:
            await barrier.wait()
            return await super().search(query)

    found = await fan_out([Meeting(n) for n in ChannelName], QUERY, deadlines_s=SOON, slots=slots())
    assert len(found.runs) == 4


async def test_a_time_out_is_a_limitation_and_cancels_the_search() -> None:
    slow, quick = ScriptedChannel(ChannelName.VECTOR, delay_s=30), ScriptedChannel(ChannelName.GRAPH)
    found = await fan_out([slow, quick], QUERY, deadlines_s=AT_ONCE, slots=slots())
    assert [run.channel for run in found.runs] == [ChannelName.GRAPH]
    assert found.limitations == (Limitation("CHANNEL_TIMEOUT", "no answer within 0.02 s", ChannelName.VECTOR),)
    assert (slow.begun, slow.ended, slow.cancelled) == (1, 0, 1)


async def test_a_search_waits_for_its_turn_no_longer_than_a_part_of_the_deadline() -> None:
    taken, channel = slots(1), ScriptedChannel(ChannelName.VECTOR)
    await taken.of(ChannelName.VECTOR).acquire()
    found = await fan_out([channel], QUERY, deadlines_s=AT_ONCE, slots=taken)
    said = Limitation("CHANNEL_TIMEOUT", "too many searches of it run already", ChannelName.VECTOR)
    assert (found.limitations, channel.begun) == ((said,), 0)
    taken.of(ChannelName.VECTOR).release()
    again = await fan_out([channel], QUERY, deadlines_s=SOON, slots=taken)
    assert (len(again.runs), taken.of(ChannelName.VECTOR).locked()) == (1, False)


async def test_waiting_for_a_turn_counts_against_the_deadline() -> None:
    taken, channel = slots(1), ScriptedChannel(ChannelName.VECTOR, delay_s=0.35)
    deadlines = dict.fromkeys(ChannelName, 0.4)
    asyncio.get_running_loop().call_later(0.08, taken.of(ChannelName.VECTOR).release)
    await taken.of(ChannelName.VECTOR).acquire()
    found = await fan_out([channel], QUERY, deadlines_s=deadlines, slots=taken)
    said = Limitation("CHANNEL_TIMEOUT", "no answer within 0.4 s", ChannelName.VECTOR)
    assert (found.limitations, channel.begun, channel.cancelled) == ((said,), 1, 1)


async def test_slots_bound_the_searches_of_all_requests_together() -> None:
    channel, two = ScriptedChannel(ChannelName.VECTOR, delay_s=0.005), slots(2)
    await asyncio.gather(*(fan_out([channel], QUERY, deadlines_s=SOON, slots=two) for _ in range(10)))
    assert channel.ended == 10
    assert channel.most_at_once == 2


async def test_a_channel_that_stands_still_keeps_no_slot_of_another() -> None:
    one = slots(1)
    stuck = asyncio.create_task(
        fan_out([ScriptedChannel(ChannelName.VECTOR, delay_s=30)], QUERY, deadlines_s=SOON, slots=one)
    )
    await asyncio.sleep(0)
    channels = [ScriptedChannel(ChannelName.GRAPH), ScriptedChannel(ChannelName.VECTOR)]
    found = await fan_out(channels, QUERY, deadlines_s=AT_ONCE, slots=one)
    assert [run.channel for run in found.runs] == [ChannelName.GRAPH]
    stuck.cancel()
    await asyncio.gather(stuck, return_exceptions=True)


async def test_a_slot_comes_back_after_a_time_out_and_a_fault() -> None:
    one = slots(1)
    slow = ScriptedChannel(ChannelName.VECTOR, delay_s=30)
    await fan_out([slow], QUERY, deadlines_s=AT_ONCE, slots=one)
    await fan_out([broken(ChannelName.VECTOR, ChannelFault)], QUERY, deadlines_s=SOON, slots=one)
    assert not one.of(ChannelName.VECTOR).locked()


@pytest.mark.parametrize("error", [ChannelUnavailable, ChannelFault])
async def test_a_channel_error_is_a_limitation_with_its_code(error: type[ChannelFault]) -> None:
    channels = [broken(ChannelName.SPATIAL, error, "out of order"), ScriptedChannel(ChannelName.GRAPH)]
    found = await fan_out(channels, QUERY, deadlines_s=SOON, slots=slots())
    assert found.limitations == (Limitation(error.code, "out of order", ChannelName.SPATIAL),)
    assert len(found.runs) == 1


@pytest.mark.parametrize("fault", [EmbedModelMismatch("the index holds model x of /srv/y"), IndexNotReady("/srv/y")])
async def test_an_index_that_must_be_rebuilt_is_a_limitation_without_inner_words(fault: Exception) -> None:
    channel = ScriptedChannel(ChannelName.VECTOR, fault=fault)
    found = await fan_out([channel], QUERY, deadlines_s=SOON, slots=slots())
    assert [limitation.code for limitation in found.limitations] == [fault.code]  # type: ignore[attr-defined]
    assert "/srv" not in found.limitations[0].message


async def test_all_channels_failing_is_no_fault() -> None:
    found = await fan_out([broken(n, ChannelUnavailable) for n in ChannelName], QUERY, deadlines_s=SOON, slots=slots())
    assert found.runs == ()
    assert len(found.limitations) == 4


async def test_a_runs_own_limitations_are_passed_on_once() -> None:
    said = Limitation("TOO_MANY", "more than can be counted", ChannelName.SPATIAL)

    class Limited(ScriptedChannel):
        async def search(self, query: Query) -> Run:
            return replace(await super().search(query), limitations=(said, said))

    found = await fan_out([Limited(ChannelName.SPATIAL)], QUERY, deadlines_s=SOON, slots=slots())
    assert found.limitations == (said,)


async def test_a_bug_raises_and_the_others_are_cancelled() -> None:
    slow = ScriptedChannel(ChannelName.VECTOR, delay_s=30)
    with pytest.raises(ZeroDivisionError):
        await fan_out(
            [slow, ScriptedChannel(ChannelName.GRAPH, fault=ZeroDivisionError())],
            QUERY,
            deadlines_s=SOON,
            slots=slots(),
        )
    assert slow.cancelled == 1


async def test_cancelling_cancels_every_search() -> None:
    channels = [ScriptedChannel(n, delay_s=30) for n in ChannelName]
    task = asyncio.create_task(fan_out(channels, QUERY, deadlines_s=dict.fromkeys(ChannelName, 60.0), slots=slots()))
    await asyncio.sleep(0.01)
    assert [c.begun for c in channels] == [1, 1, 1, 1]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [c.cancelled for c in channels] == [1, 1, 1, 1]


async def test_a_channel_without_a_deadline_is_refused_before_any_search() -> None:
    channels = [ScriptedChannel(ChannelName.VECTOR), ScriptedChannel(ChannelName.GRAPH)]
    with pytest.raises(KeyError):
        await fan_out(channels, QUERY, deadlines_s={ChannelName.VECTOR: 1.0}, slots=slots())
    assert channels[0].begun == 0
