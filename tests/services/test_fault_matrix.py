"""Every cell of the fault matrix on the real servers, while questions arrive: what they get, how soon, that nothing is
lost, and that nothing must be restarted afterwards but the server."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from api.home.configuration import load
from api.wiring import open_system
from ledger.errors import LedgerUnavailable
from tests.services.fault_load import ALLOWANCE_MS, DEADLINE_MS, LOAD_S, TIMES, Asker, Seen, asking, measured, paid
from tests.services.fault_matrix import BOUND_MS, FAULTS, MATRIX, OPEN, write_result
from tests.services.fault_targets import (
    Target,
    keep,
    log_postgres,
    neo4j,
    ollama,
    opa,
    opensearch,
    own_postgres,
    postgres,
)
from tests.services.proxy import Proxy
from tests.services.run_folders import free_port

pytestmark = [pytest.mark.services, pytest.mark.asyncio(loop_scope="module")]
__all__ = ["log_postgres", "neo4j", "ollama", "opa", "opensearch", "own_postgres", "postgres"]
SERVERS = ["neo4j", "postgres", "opensearch", "opa", "ollama", "log_postgres"]
RESULTS = os.environ.get("EXHIBIT_TEST_MATRIX")
GARBAGE = b"\xff\x00 this is another service \x00\xff" * 8
DENIED = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
LATE = {"paused", "slow"}  # nobody is told anything before the deadline
STRIKES_LATER = {"killed", "restarted"}
STRIKES_S = 0.3  # with questions on their way


class Running:
    """Exhibit, its server, and the way between them; the same process for all faults of a column."""

    def __init__(self, target: Target, proxy: Proxy, asker: Asker) -> None:
        self.target = target
        self.proxy = proxy
        self.asker = asker
        self._starting: asyncio.Task[float] | None = None
        self._ended = 0.0

    async def well(self) -> str:
        """The whole answer, with the server there."""
        if not self.proxy.listening:
            await self.proxy.open()
        return (await self.asker.whole_again()).answer

    def ended(self) -> None:
        """The fault has ended, now."""
        self._ended = time.perf_counter()

    def start(self, work: Callable[[], object]) -> None:
        """Brings the server back; the fault has ended when that is done."""

        async def started() -> float:
            await keep(work)
            return time.perf_counter()

        self._starting = asyncio.create_task(started())

    async def since_it_serves(self) -> float:
        """Seconds since the fault ended; 0 where the first answer came before a server that starts said so."""
        now = time.perf_counter()
        starting, self._starting = self._starting, None
        return max(0.0, now - (self._ended if starting is None else await starting))


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=SERVERS)
async def running(request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    """Started while the server cannot be reached, where Exhibit starts at all then."""
    target: Target = request.getfixturevalue(request.param)
    proxy = Proxy(target.port)
    await proxy.open()
    if MATRIX[target.name]["absent"].starts:
        await proxy.close()
    try:
        async with asking(target.home, target.environment(proxy.port)) as asker:
            yield Running(target, proxy, asker)
            await proxy.open()  # the log is verified now
    finally:
        await proxy.close()


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_cell(running: Running, fault: str) -> None:
    target, asker, toll = running.target, running.asker, MATRIX[running.target.name][fault]
    if not toll.starts:
        await _does_not_start(target)
        return
    assert (fault == "absent") != running.proxy.listening or fault != "absent", "this cell is the first of its column"
    answer = None if fault == "absent" else await running.well()
    async with failing(fault, running):
        seen, beside = await _asked(running, LOAD_S + (target.deadline_ms / 1000 if fault in LATE else 0))
        if fault != "restarted":
            seen += await _is_told(running, fault)
    again = await asker.whole_again()
    again_s = await running.since_it_serves()
    hurt = [one for one in seen if fault not in STRIKES_LATER or not one.whole]
    assert hurt or fault == "restarted", "the fault was not met"  # a restart may be over before anyone has given up
    paid(toll, hurt, answer or again.answer)
    assert again.answer == (answer or again.answer)
    assert set((await asker.circuits()).values()) <= {"closed"}
    await asker.kept(seen)
    _in_time(target, fault, seen, beside, again_s)


@asynccontextmanager
async def failing(fault: str, running: Running) -> AsyncIterator[None]:
    """While this fault holds."""
    target, proxy = running.target, running.proxy
    match fault:
        case "absent":
            yield
            await proxy.open()
        case "killed":
            struck = asyncio.create_task(_in_a_moment(target.kill))
            yield
            await struck
            running.start(target.start)  # questions wait for it
        case "restarted":
            running.start(lambda: _restart(target))
            yield
        case "paused":
            target.pause()
            try:
                yield
            finally:
                target.resume()
        case "slow":
            proxy.delay_s = 3 * target.deadline_ms / 1000
            yield
            proxy.delay_s = 0.0
        case "refused" if target.deny is not None and target.admit is not None:
            await keep(target.deny)
            await proxy.drop()
            yield
            await keep(target.admit)
        case _:  # "garbled", and "refused" where the server of the tests admits everyone
            proxy.says = GARBAGE if fault == "garbled" else DENIED
            await proxy.drop()
            yield
            proxy.says = None
    running.ended()


def _restart(target: Target) -> None:
    time.sleep(STRIKES_S)
    target.stop()
    target.start()


async def _in_a_moment(work: Callable[[], object]) -> None:
    await asyncio.sleep(STRIKES_S)
    await keep(work)


async def _asked(running: Running, seconds: float) -> tuple[list[Seen], list[tuple[int, float]]]:
    """What the questions got; and beside them requests that do not need the server."""
    over = asyncio.Event()
    beside = asyncio.create_task(running.asker.beside(running.target.healthy, over))
    try:
        seen = await running.asker.under_load(seconds)
    finally:
        over.set()
    return seen, await beside


async def _is_told(running: Running, fault: str) -> list[Seen]:
    """`/readyz` names the parts that are down, with their circuits; of questions at one time all but one, which may try,
    meet an open one."""
    target = running.target
    parts = await running.asker.parts()
    assert target.parts <= {name for name, part in parts.items() if part["state"] == "down"}
    assert all(parts[name]["code"] for name in target.parts)
    if fault == "refused":  # a refusal is an answer
        return []
    assert {parts[name]["circuit"] for name in target.parts} & {"open", "half-open"}
    if not MATRIX[target.name][fault].limits:
        return []
    more = await asyncio.gather(*(running.asker.ask() for _ in range(3)))
    assert any(OPEN in one.limits for one in more)
    return more


def _in_time(target: Target, fault: str, seen: list[Seen], beside: list[tuple[int, float]], again_s: float) -> None:
    """No question and nothing beside them took longer than the deadline and the bound."""
    found = measured(seen, again_s=again_s, deadline_ms=target.deadline_ms)
    longest_beside_ms = max(took_s for _, took_s in beside) * 1000
    print(f"\n{target.name}, {fault}: {found}, beside {longest_beside_ms:.0f} ms")
    if RESULTS:
        write_result(Path(RESULTS), target.name, fault, found)
    assert {status for status, _ in beside} == {200}
    assert found.p99_ms <= target.deadline_ms + BOUND_MS + ALLOWANCE_MS
    assert longest_beside_ms <= DEADLINE_MS + ALLOWANCE_MS


async def _does_not_start(target: Target) -> None:
    """Exhibit says at once that it cannot record."""
    configuration = load({**target.environment(free_port()), **TIMES}, home=target.home)
    with pytest.raises(LedgerUnavailable):
        async with open_system(configuration):
            pass
