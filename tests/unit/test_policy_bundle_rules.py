"""The shipped rules on the embedded engine: decision vectors, deleted guards, the empty input."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.authoring.testing.vectors import brief, patched
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.canonical import canonical
from policy.checks import decision_of, single_result
from policy.messages import text_of
from policy.wasm import WasmEngine
from tests.policy_world import Document, base, guard_paths, reachable, vectors

POINTS = ("query", "evidence", "answer")
CASES = [(point, case) for point in POINTS for case in vectors(point)["cases"]]


@pytest.fixture(scope="module")
def engine() -> Iterator[WasmEngine]:
    opened = WasmEngine.open(load_bundle())
    yield opened
    asyncio.run(opened.aclose())


async def decide(engine: WasmEngine, name: str, asked: object) -> Any:
    reply = await engine.evaluate(f"kfm/ai/{name}", canonical(asked), deadline_s=2.0)
    return decision_of(reply.results) if name in POINTS else single_result(reply.results)


@pytest.mark.parametrize(("point", "case"), CASES, ids=[f"{point}: {case['name']}" for point, case in CASES])
async def test_vector(engine: WasmEngine, point: str, case: Document) -> None:
    decision = await decide(engine, point, patched(base(point), case["patch"]))
    assert brief(decision) == case["decision"]


@pytest.mark.parametrize("case", vectors("allow_answer")["cases"], ids=str)
async def test_requirement_003_allow_answer(engine: WasmEngine, case: Document) -> None:
    assert await decide(engine, "allow_answer", case["input"]) is case["result"]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("nothing", [{}, [], None, "", 0], ids=repr)
async def test_the_empty_input_is_denied(engine: WasmEngine, point: str, nothing: object) -> None:
    decision = await decide(engine, point, nothing)
    assert decision["effect"] == "deny"
    assert decision["admit"] == [] == decision["obligations"]


GUARDED = [(point, path) for point in POINTS for path in guard_paths(point)]
IDS = {"classes": "id", "evidence": "id"}


async def assert_unguarded(engine: WasmEngine, point: str, path: str, changed: Document) -> None:
    """The record whose guard was taken away is out; for a guard of the request or the prior decision, everything is."""
    before, after = await decide(engine, point, base(point)), await decide(engine, point, changed)
    assert reachable(point, before), "the base input lets something through"
    list_name, *place = path.split("/")
    if list_name not in IDS:
        assert after["effect"] == "deny" or not reachable(point, after)
        return
    record = base(point)[list_name][int(place[0])]
    lost = {record["id"]}
    if list_name == "classes" and point == "evidence":
        lost = {item["id"] for item in base(point)["evidence"] if item["class_id"] == record["id"]}
    assert not lost & reachable(point, after)
    assert reachable(point, after) <= reachable(point, before)


@pytest.mark.parametrize(("point", "path"), GUARDED, ids=[f"{point}: {path}" for point, path in GUARDED])
async def test_a_deleted_guard_un_admits(engine: WasmEngine, point: str, path: str) -> None:
    await assert_unguarded(engine, point, path, patched(base(point), [["delete", path]]))


@pytest.mark.parametrize(("point", "path"), GUARDED, ids=[f"{point}: {path}" for point, path in GUARDED])
@pytest.mark.parametrize("junk", [{}, True, 7, "", [[]], [None]], ids=repr)
async def test_a_guard_of_the_wrong_kind_un_admits(engine: WasmEngine, point: str, path: str, junk: object) -> None:
    await assert_unguarded(engine, point, path, patched(base(point), [["set", path, junk]]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(POINTS), st.data())
async def test_no_junk_anywhere_admits_more(engine: WasmEngine, point: str, data: st.DataObject) -> None:
    """Any one value of an allowed input replaced by any other: an answer, and for guards never a wider one."""
    path = data.draw(st.sampled_from(leaf_paths(base(point))))
    decision = await decide(engine, point, patched(base(point), [["set", path, data.draw(JSON)]]))
    before = await decide(engine, point, base(point))
    assert set(decision) == {"effect", "reasons", "obligations", "admit"}
    renamed = path.endswith("/id") or path.startswith(("answer/", "prior/admit"))
    assert renamed or reachable(point, decision) <= reachable(point, before)


def leaf_paths(value: object, prefix: str = "") -> list[str]:
    if isinstance(value, dict):
        items: list[tuple[object, object]] = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return [prefix]
    here = [prefix] if prefix else []
    return here + [leaf for key, each in items for leaf in leaf_paths(each, f"{prefix}/{key}".lstrip("/"))]


async def test_evaluations_leave_nothing_behind(engine: WasmEngine) -> None:
    first = await decide(engine, "evidence", base("evidence"))
    await decide(engine, "evidence", patched(base("evidence"), [["set", "subject/tenant", "t2"]]))
    assert await decide(engine, "evidence", base("evidence")) == first


def rego_files() -> list[Path]:
    return [path for path in sorted((SHIPPED / "rego").rglob("*.rego")) if not path.name.endswith("_test.rego")]


RULES = load_bundle().rules


def test_every_rule_says_its_id_and_its_text_for_readers() -> None:
    declared = [line for path in rego_files() for line in re.findall(r"^#  id: (\w+)$", path.read_text(), re.MULTILINE)]
    assert sorted(declared) == [rule.id for rule in RULES]
    assert len(RULES) > 30
    assert all(rule.title and rule.owner and rule.reader.endswith(".") for rule in RULES)


def test_the_catalogue_of_messages_has_the_rules_own_words() -> None:
    assert {(rule.code, rule.reader) for rule in RULES} == {(rule.code, text_of(rule.code)) for rule in RULES}


def test_every_rule_is_seen_to_speak_and_to_stay_silent() -> None:
    decisions = [case["decision"] for _, case in CASES]
    lines = [line for each in decisions for key in ("reasons", "obligations") for line in each[key]]
    spoken = {line.split(" ", 1)[0] for line in lines}
    assert {rule.id for rule in RULES} == spoken
    for rule in spoken:
        assert any(rule not in json.dumps(case["decision"]) for _, case in CASES)


def test_package_path_is_folder_path() -> None:
    for path in rego_files():
        package = re.search(r"^package (\S+)$", path.read_text(), re.MULTILINE)
        assert package is not None
        assert package[1].split(".") == list(path.relative_to(SHIPPED / "rego").parts[:-1])
