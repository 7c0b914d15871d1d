"""Every cell of the fault matrix on the real servers, under load: what questions get, how soon, and that nothing must be
restarted afterwards but the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.services.fault_load import asking, figures, paid
from tests.services.fault_matrix import FAULTS, MATRIX, OPEN
from tests.services.fault_targets import Target, keep, neo4j, ollama, opa, opensearch, postgres
from tests.services.proxy import Proxy

pytestmark = pytest.mark.services
__all__ = ["neo4j", "ollama", "opa", "opensearch", "postgres"]
LOAD_S = 3.0
GARBAGE = b"\xff\x00 this is another service \x00\xff" * 8
_STARTING: list[asyncio.Task[None]] = []


@asynccontextmanager
async def proxied(target: Target, *, listening: bool = True) -> AsyncIterator[Proxy]:
    proxy = Proxy(target.port)
    await proxy.open()
    if not listening:
        await proxy.close()
    try:
        yield proxy
    finally:
        await proxy.close()


async def _in_a_moment(target: Target) -> None:
    await asyncio.sleep(0.3)
    await keep(target.kill)


@asynccontextmanager
async def failing(fault: str, target: Target, proxy: Proxy) -> AsyncIterator[None]:
    """While this fault holds."""
    match fault:
        case "absent":
            yield
            await proxy.open()
        case "killed":
            kill = asyncio.create_task(_in_a_moment(target))  # with questions on their way
            yield
            await kill
            _STARTING.append(asyncio.create_task(keep(target.start)))  # with questions waiting for it
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
        case "refused" if target.denies:
            proxy.says = target.denies
            await proxy.drop()
            yield
            proxy.says = None
        case "refused":
            yield
            if target.admit is not None:
                await asyncio.to_thread(target.admit)
        case "garbled":
            proxy.says = GARBAGE
            await proxy.drop()
            yield
            proxy.says = None


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("server", ["neo4j", "postgres", "opensearch", "opa", "ollama"])
async def test_a_cell(request: pytest.FixtureRequest, server: str, fault: str) -> None:
    target: Target = request.getfixturevalue(server)
    toll = MATRIX[target.name][fault]
    async with asking(target.home, target.environment(target.port)) as asker:
        answer = (await asker.whole_again()).answer
    async with proxied(target, listening=fault != "absent") as proxy:
        environment = (target.refused if fault == "refused" else target.environment)(proxy.port)
        async with asking(target.home, environment) as asker:
            if fault not in ("absent", "refused"):
                await asker.whole_again()
            async with failing(fault, target, proxy):
                seen = await asker.under_load(LOAD_S)
                circuits = await asker.circuits()
            print(figures(f"{target.name} {fault}", seen))
            hurt = [one for one in seen if fault != "killed" or not one.whole]
            paid(toll, hurt, answer, deadline_ms=target.deadline_ms)
            if fault != "refused" and target.circuits:  # a refusal is an answer
                assert {circuits[part] for part in target.circuits} & {"open", "half-open"}
                assert not toll.limits or any(OPEN in one.limits for one in seen)
            if fault != "refused" or target.admit or target.denies:
                assert (await asker.whole_again()).answer == answer
                await asyncio.gather(*_STARTING)
                _STARTING.clear()
                assert set((await asker.circuits()).values()) <= {"closed"}
