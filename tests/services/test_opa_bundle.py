"""The shipped bundle before the real `opa`: check, format, its own tests, the rebuilt module, the same vectors."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from policy.authoring.build import build
from policy.authoring.opa import Opa, OpaFailed
from policy.authoring.testing.vectors import brief, patched
from policy.bundles.bundle import ENTRYPOINTS, SHIPPED, load_bundle
from policy.canonical import canonical
from policy.checks import decision_of
from policy.wasm import WasmEngine
from tests.opa_server import pinned_opa
from tests.policy_world import base, damaged, vectors

pytestmark = pytest.mark.services
POINTS = ("query", "evidence", "answer")
REGO = SHIPPED / "rego"


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


def decide(opa: Opa, point: str, inputs: list[Any]) -> list[Any]:
    """The decisions of many inputs in one call: the inputs are given as data of a query that walks over them."""
    query = f"[d | some asked in input; d := data.kfm.ai.{point} with input as asked]"
    arguments = ("eval", "-b", ".", "--ignore", "*_test.rego", "--stdin-input", "--format", "raw", query)
    found: list[Any] = json.loads(opa.run(*arguments, cwd=REGO, stdin=canonical(inputs)))
    assert len(found) == len(inputs), "a point was undefined for an input"
    return found


def test_check_is_strict(opa: Opa) -> None:
    opa.run("check", "--strict", "-b", ".", cwd=REGO)


def test_format(opa: Opa) -> None:
    assert opa.run("fmt", "--diff", "--fail", ".", cwd=REGO) == b""


def test_the_bundles_own_tests(opa: Opa) -> None:
    results = json.loads(opa.run("test", "-b", ".", "--format", "json", cwd=REGO))
    assert len(results) > 30
    assert [each["name"] for each in results if each.get("fail") or each.get("error")] == []


def test_every_rule_is_covered_by_the_bundles_own_tests_or_vectors(opa: Opa) -> None:
    report = json.loads(opa.run("test", "-b", ".", "--coverage", "--format", "json", cwd=REGO))
    assert report["coverage"] >= 80


def test_the_committed_module_and_manifest_are_what_the_sources_give(opa: Opa, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(opa.path))
    for name, content in build().items():
        assert (SHIPPED / "wasm" / name).read_bytes() == content, name


def test_the_module_does_not_depend_on_where_it_is_built(
    opa: Opa, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(opa.path))
    shutil.copytree(REGO, tmp_path / "elsewhere" / "rego")
    assert build(tmp_path / "elsewhere") == build()


def test_other_sources_give_another_module(opa: Opa, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(opa.path))
    shutil.copytree(REGO, tmp_path / "rego")
    changed = tmp_path / "rego" / "kfm" / "access" / "access.rego"
    changed.write_text(changed.read_text().replace("count(record.groups) == 0", "count(record.groups) == 1"))
    assert build(tmp_path)["bundle.wasm"] != (SHIPPED / "wasm" / "bundle.wasm").read_bytes()


def test_broken_rego_is_reported(opa: Opa, tmp_path: Path) -> None:
    (tmp_path / "x.rego").write_text("package x\n\nallow if {")
    with pytest.raises(OpaFailed, match="rego_parse_error"):
        opa.run("check", "--strict", "-b", ".", cwd=tmp_path)


@pytest.mark.parametrize("point", POINTS)
def test_vectors(opa: Opa, point: str) -> None:
    cases = vectors(point)["cases"]
    decisions = decide(opa, point, [patched(base(point), case["patch"]) for case in cases])
    for case, decision in zip(cases, decisions, strict=True):
        assert brief(decision) == case["decision"], case["name"]


def test_allow_answer_vectors(opa: Opa) -> None:
    cases = vectors("allow_answer")["cases"]
    assert decide(opa, "allow_answer", [case["input"] for case in cases]) == [case["result"] for case in cases]


@pytest.mark.parametrize("point", POINTS)
async def test_both_engines_decide_alike_on_damaged_inputs(opa: Opa, point: str) -> None:
    draw = random.Random(f"exhibit {point}")
    inputs = [damaged(draw, patched(base(point), draw.choice(vectors(point)["cases"])["patch"])) for _ in range(400)]
    engine = WasmEngine.open(load_bundle())
    mine = []
    for asked in inputs:
        mine.append(decision_of((await engine.evaluate(f"kfm/ai/{point}", canonical(asked), deadline_s=5)).results))
    await engine.aclose()
    theirs = decide(opa, point, inputs)
    assert [brief(each) for each in mine] == [brief(each) for each in theirs]
    allowed = sum(each["effect"] != "deny" for each in mine)
    assert allowed >= len(inputs) * 0.3


def test_the_module_serves_the_entry_points_of_the_manifest() -> None:
    manifest = json.loads((SHIPPED / "wasm" / "manifest.json").read_text())
    assert tuple(manifest["entrypoints"]) == ENTRYPOINTS
