"""Slots for questions: how many run, who waits, who is refused, and what a caller that leaves gives back."""

from __future__ import annotations

import asyncio
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import Overloaded
from api.http.admission.slots import ProcessorShare, Slots


class Machine:
    """A process that is busy when it is told to be."""

    def __init__(self, busy: bool) -> None:
        self.is_busy = busy

    def busy(self) -> bool:
        return self.is_busy


async def hold(slots: Slots, leave: asyncio.Event) -> None:
    async with slots.hold():
        await leave.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize(("busy", "running"), [(True, 2), (False, 5)])
async def test_more_run_only_while_there_is_processor_time(busy: bool, running: int) -> None:
    slots = Slots(always=2, most=5, waiting=10, busy=Machine(busy).busy, clock=count().__next__)
    leave = asyncio.Event()
    tasks = [asyncio.create_task(hold(slots, leave)) for _ in range(8)]
    await settle()
    assert (slots.running, slots.queued) == (running, 8 - running)
    leave.set()
    await asyncio.gather(*tasks)
    assert (slots.running, slots.queued) == (0, 0)


async def test_a_crowd_does_not_start_all_at_once_before_it_shows_whether_it_computes() -> None:
    now, leave = [0.0], asyncio.Event()
    slots = Slots(always=2, most=9, waiting=10, busy=Machine(False).busy, clock=lambda: now[0])
    tasks = [asyncio.create_task(hold(slots, leave)) for _ in range(8)]
    await settle()
    assert (slots.running, slots.queued) == (3, 5)
    now[0] += 10
    async with asyncio.timeout(30):
        while slots.running < 4:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await settle()
    assert (slots.running, slots.queued) == (4, 4)
    leave.set()
    await asyncio.gather(*tasks)
    assert (slots.running, slots.queued) == (0, 0)


async def test_those_that_wait_go_on_when_the_process_has_time_again() -> None:
    machine, leave = Machine(True), asyncio.Event()
    slots = Slots(always=1, most=4, waiting=10, busy=machine.busy)
    tasks = [asyncio.create_task(hold(slots, leave)) for _ in range(4)]
    await settle()
    assert slots.running == 1
    machine.is_busy = False
    async with asyncio.timeout(30):
        while slots.queued:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert slots.running == 4
    leave.set()
    await asyncio.gather(*tasks)


async def test_one_more_than_may_wait_is_refused_at_once() -> None:
    slots, leave = Slots(always=1, most=1, waiting=1, busy=Machine(False).busy), asyncio.Event()
    tasks = [asyncio.create_task(hold(slots, leave)) for _ in range(2)]
    await settle()
    with pytest.raises(Overloaded):
        await hold(slots, leave)
    leave.set()
    await asyncio.gather(*tasks)


async def test_first_come_first_served() -> None:
    slots, order = Slots(always=1, most=1, waiting=10, busy=Machine(True).busy), []

    async def one(name: int) -> None:
        async with slots.hold():
            order.append(name)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(name) for name in range(6)))
    assert order == list(range(6))


async def test_a_fault_inside_gives_the_slot_back() -> None:
    slots = Slots(always=1, most=1, waiting=0, busy=Machine(True).busy)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with slots.hold():
                raise ZeroDivisionError
    assert slots.running == 0


@given(
    always=st.integers(1, 3),
    more=st.integers(0, 3),
    busy=st.booleans(),
    steps=st.lists(st.tuples(st.sampled_from(["come", "end", "leave"]), st.integers(0, 9)), max_size=30),
)
def test_slots_are_never_lost_or_invented(always: int, more: int, busy: bool, steps: list[tuple[str, int]]) -> None:
    async def play() -> None:
        slots = Slots(always=always, most=always + more, waiting=4, busy=Machine(busy).busy)
        tasks: list[tuple[asyncio.Task[None], asyncio.Event]] = []
        for step, which in steps:
            if step == "come":
                leave = asyncio.Event()
                tasks.append((asyncio.create_task(hold(slots, leave)), leave))
            elif tasks:
                task, leave = tasks[which % len(tasks)]
                leave.set() if step == "end" else task.cancel()
            await settle()
            assert 0 <= slots.running <= always + more
            assert slots.queued <= 4
            assert not slots.queued or slots.running >= always
        for _, leave in tasks:
            leave.set()
        await asyncio.gather(*(task for task, _ in tasks), return_exceptions=True)
        assert (slots.running, slots.queued) == (0, 0)

    asyncio.run(play())


def test_the_share_is_that_of_this_process() -> None:
    clock = {"wall": 0.0, "used": 0.0}
    share = ProcessorShare(lambda: clock["wall"], lambda: clock["used"])
    assert not share.busy()
    clock |= {"wall": 1.0, "used": 0.9}
    assert share.busy()
    clock |= {"wall": 1.05, "used": 0.9}
    assert share.busy(), "a moment is too short to tell"
    clock |= {"wall": 2.0, "used": 1.0}
    assert not share.busy()
