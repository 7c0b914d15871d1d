"""The canary and the parity check: silent on the shipped bundle, and seen to speak."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from policy.authoring.lattice.deciding import FAULT, Decide, Outcome, by_engine, outcome_of
from policy.authoring.lattice.domain import Domain, allowed
from policy.authoring.testing.canary import GUARDS, canary, guard_paths
from policy.authoring.testing.generated import generated
from policy.authoring.testing.parity import parity
from policy.bundles.bundle import Bundle, load_bundle
from policy.canonical import canonical
from policy.model import Point
from policy.wasm import WasmEngine
from tests import policy_world
from tests.policy_engines import raising, saying

BUNDLE = load_bundle()
DOMAIN = Domain.of(BUNDLE)
DENY = {"effect": "deny", "reasons": [], "obligations": [], "admit": []}


def edited(**limits: int) -> Bundle:
    """The shipped rules over other limits."""
    data = json.loads(BUNDLE.data_json)
    data["kfm"]["config"]["limits"] |= limits
    return replace(BUNDLE, data_json=canonical(data))


@pytest.fixture(scope="module")
def shipped() -> Iterator[Decide]:
    engine = WasmEngine.open(BUNDLE)
    yield by_engine(engine)
    asyncio.run(engine.aclose())


# ---------------------------------------------------------------------------------------------------------- the canary


async def test_the_shipped_bundle_passes_on_the_raw_engine(shipped: Decide) -> None:
    assert await canary(shipped, DOMAIN) == ()


def test_the_guards_are_those_of_the_contract() -> None:
    assert {str(point): set(guards) for point, guards in GUARDS.items()} == {
        point: set(guards) for point, guards in policy_world.GUARDS.items()
    }
    assert all(len(list(guard_paths(point, allowed(point, DOMAIN)))) > 15 for point in Point)


async def test_an_engine_that_allows_the_empty_input_is_stopped(shipped: Decide) -> None:
    async def lax(point: Point, inputs: Sequence[bytes]) -> list[Outcome]:
        found = await shipped(point, inputs)
        return [
            DENY | {"effect": "allow"} if asked == b"{}" else each for asked, each in zip(inputs, found, strict=True)
        ]

    found = await canary(lax, DOMAIN)
    assert [(each.point, each.guard) for each in found] == [(point, "") for point in Point]
    assert all("the empty input {}" in str(each) for each in found)


@pytest.mark.parametrize("point", list(Point))
async def test_a_rule_that_ignores_a_guard_is_found_by_its_path(shipped: Decide, point: Point) -> None:
    """As if the rule read the subject's tenant from somewhere else: whatever the input lacks is filled in again."""

    async def filled(at: Point, inputs: Sequence[bytes]) -> list[Outcome]:
        documents = [json.loads(each) for each in inputs]
        for each in documents:
            if isinstance(each, dict) and isinstance(each.get("subject"), dict) and at is point:
                each["subject"]["tenant"] = "t1"
        return await shipped(at, [canonical(each) for each in documents])

    found = await canary(filled, DOMAIN)
    assert {(each.point, each.guard) for each in found} == {(point, "subject/tenant")}
    assert all(each.passed for each in found)


async def test_a_bundle_that_denies_everything_proves_nothing() -> None:
    engine = saying(json.dumps([{"result": DENY}]).encode())
    assert len(await canary(by_engine(engine), DOMAIN)) == len(Point)


async def test_an_engine_that_stops_is_no_decision() -> None:
    assert await by_engine(raising(RuntimeError("panic")))(Point.QUERY, []) == []
    assert outcome_of(b"[]") == "UNDEFINED"
    assert outcome_of(b"nonsense") == "NOT_JSON"


# -------------------------------------------------------------------------------------------------------------- parity


async def test_generated_inputs_hit_every_rule_both_ways_and_are_often_allowed(shipped: Decide) -> None:
    found = await parity(shipped, shipped, DOMAIN, count=900)
    assert found.equal
    assert found.compared == 900
    assert found.allowed_milli >= 300
    assert found.one_sided(rule.id for rule in BUNDLE.rules) == ()


async def test_generated_inputs_are_the_same_every_time_and_of_every_size() -> None:
    inputs = [list(generated(point, DOMAIN, count=150)) for point in Point]
    assert inputs == [list(generated(point, DOMAIN, count=150)) for point in Point]
    assert inputs != [list(generated(point, DOMAIN, count=150, seed=1)) for point in Point]
    lists = [each["evidence"] for each in inputs[1] if isinstance(each, dict) and "evidence" in each]
    sizes = {len(each) for each in lists if isinstance(each, list)}
    assert {0, 1, 60} <= sizes
    text = json.dumps(inputs, ensure_ascii=False)
    assert "日本 😀" in text
    assert "null" in text


async def test_a_divergence_is_seen(shipped: Decide) -> None:
    other = WasmEngine.open(edited(support_milli=501))
    found = await parity(shipped, by_engine(other), DOMAIN, count=300)
    await other.aclose()
    assert not found.equal
    assert found.differing >= len(found.differences) > 0
    assert {each.point for each in found.differences} == {Point.ANSWER}


async def test_an_evaluator_that_stops_where_the_other_decides_differs(shipped: Decide) -> None:
    chance = random.Random(1)

    async def shaky(point: Point, inputs: Sequence[bytes]) -> list[Outcome]:
        found = await shipped(point, inputs)
        return [FAULT if chance.random() < 0.01 else each for each in found]

    assert not (await parity(shipped, shaky, DOMAIN, count=300)).equal


async def test_nothing_compared_is_not_equal(shipped: Decide) -> None:
    assert not (await parity(shipped, shipped, DOMAIN, count=0)).equal
