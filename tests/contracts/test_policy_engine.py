"""What every PolicyEngine keeps, whichever product stands behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from policy.authoring.testing.vectors import brief, patched
from policy.bundles.bundle import load_bundle
from policy.canonical import canonical
from policy.checks import decision_of
from policy.engine import MAX_INPUT_BYTES, PolicyEngine
from policy.errors import PolicyUnavailable
from policy.wasm import WasmEngine
from tests.policy_world import base, vectors

Opening = Callable[[], PolicyEngine]

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def opening() -> Opening:
    """How to open the backend: the embedded one here, real servers in `tests/services`, which import this suite."""
    return lambda: WasmEngine.open(load_bundle())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(opening: Opening) -> AsyncIterator[PolicyEngine]:
    """One engine for all tests, since nothing of one evaluation may be visible to the next."""
    opened = opening()
    yield opened
    await opened.aclose()


async def test_a_reply_is_a_set_of_one_result_and_names_the_bundle(engine: PolicyEngine) -> None:
    reply = await engine.evaluate("kfm/ai/query", canonical(base("query")), deadline_s=5)
    [found] = json.loads(reply.results)
    assert set(found) == {"result"}
    assert reply.bundle_digest == engine.bundle_digest == load_bundle().digest
    assert engine.name


@pytest.mark.parametrize("point", ["query", "evidence", "answer"])
async def test_vectors(engine: PolicyEngine, point: str) -> None:
    for case in vectors(point)["cases"]:
        asked = canonical(patched(base(point), case["patch"]))
        decision = decision_of((await engine.evaluate(f"kfm/ai/{point}", asked, deadline_s=5)).results)
        assert brief(decision) == case["decision"], case["name"]


async def test_an_unknown_entry_point_is_no_decision(engine: PolicyEngine) -> None:
    with pytest.raises(PolicyUnavailable):
        await engine.evaluate("kfm/ai/everything", b"{}", deadline_s=5)


@pytest.mark.parametrize("asked", [b"", b"{", b"nope", b"{}}", b"\xff", b'{"a":1e999'])
async def test_what_is_not_json_is_no_allowance(engine: PolicyEngine, asked: bytes) -> None:
    try:
        reply = await engine.evaluate("kfm/ai/query", asked, deadline_s=5)
    except PolicyUnavailable:
        return
    assert [each["result"]["effect"] for each in json.loads(reply.results)] in ([], ["deny"])


async def test_text_of_any_kind_comes_back_as_it_went_in(engine: PolicyEngine) -> None:
    name = 'quote " back \\ nul \0 tab \t é 日本 😀 \u2028 del \x7f'
    asked = patched(base("query"), [["set", "request/collections", [name]]])
    [found] = json.loads((await engine.evaluate("kfm/ai/query", canonical(asked), deadline_s=5)).results)
    assert [each["target"]["ref"] for each in found["result"]["reasons"]] == [name]


async def test_no_time_is_no_decision(engine: PolicyEngine) -> None:
    for deadline_s in (0.0, -1.0):
        with pytest.raises(PolicyUnavailable):
            await engine.evaluate("kfm/ai/query", canonical(base("query")), deadline_s=deadline_s)


async def test_work_stops_at_the_deadline_and_the_engine_lives_on(engine: PolicyEngine) -> None:
    item = base("evidence")["evidence"][0]
    many = [item | {"id": f"e{i}"} for i in range(2_000)]
    large = canonical(base("evidence") | {"evidence": many})
    for asked in (large, canonical(base("evidence"))):
        with pytest.raises(PolicyUnavailable):
            await engine.evaluate("kfm/ai/evidence", asked, deadline_s=0.0001)
    [found] = json.loads((await engine.evaluate("kfm/ai/evidence", large, deadline_s=30)).results)
    assert len(found["result"]["admit"]) == 2_000


async def test_concurrent_evaluations_do_not_mix(engine: PolicyEngine) -> None:
    item = base("evidence")["evidence"][0]

    async def ask(n: int) -> list[str]:
        asked = base("evidence") | {"evidence": [item | {"id": f"{n}-{i}"} for i in range(n * 20)]}
        reply = await engine.evaluate("kfm/ai/evidence", canonical(asked), deadline_s=30)
        admitted: list[str] = decision_of(reply.results)["admit"]
        return admitted

    for n, admitted in enumerate(await asyncio.gather(*(ask(n) for n in range(12)))):
        assert admitted == sorted(f"{n}-{i}" for i in range(n * 20))


async def test_cancelling_leaves_the_engine_whole(engine: PolicyEngine) -> None:
    item = base("evidence")["evidence"][0]
    large = canonical(base("evidence") | {"evidence": [item | {"id": f"e{i}"} for i in range(1_000)]})
    tasks = [asyncio.create_task(engine.evaluate("kfm/ai/evidence", large, deadline_s=30)) for _ in range(4)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert any(isinstance(each, asyncio.CancelledError) for each in done)
    reply = await engine.evaluate("kfm/ai/evidence", canonical(base("evidence")), deadline_s=30)
    assert decision_of(reply.results)["admit"] == ["e1", "e2", "e3", "e4"]


async def test_a_closed_engine_decides_nothing(opening: Opening) -> None:
    engine = opening()
    await engine.aclose()
    with pytest.raises(PolicyUnavailable):
        await engine.evaluate("kfm/ai/query", canonical(base("query")), deadline_s=5)


async def test_an_input_beyond_the_limit_is_refused(engine: PolicyEngine) -> None:
    with pytest.raises(PolicyUnavailable):
        await engine.evaluate("kfm/ai/query", b" " * (MAX_INPUT_BYTES + 1), deadline_s=5)
