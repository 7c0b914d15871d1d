"""Parity and canary with the real OPA: a server and the module on 10,000 inputs, planted faults."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from policy.authoring.build import build_module
from policy.authoring.lattice.deciding import by_engine, by_opa
from policy.authoring.lattice.domain import Domain
from policy.authoring.opa import Opa
from policy.authoring.server_bundle import server_bundle
from policy.authoring.testing.canary import canary
from policy.authoring.testing.parity import Parity, parity
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.opa.server import OpaServerEngine
from policy.wasm import WasmEngine
from tests.opa_server import TOKEN, OpaServer, pinned_opa, serving

pytestmark = pytest.mark.services
BUNDLE = load_bundle()
DOMAIN = Domain.of(BUNDLE)
REGO = SHIPPED / "rego"


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


async def test_server_and_module_give_equal_digests_on_10_000_inputs(opa: Opa, tmp_path: Path) -> None:
    embedded = WasmEngine.open(BUNDLE)
    with serving(OpaServer(opa, tmp_path), server_bundle()) as running:
        server = OpaServerEngine.open(running.url, bundle_digest=BUNDLE.digest, token=TOKEN)
        assert await canary(by_engine(server), DOMAIN) == ()
        found = await parity(by_engine(embedded), by_engine(server), DOMAIN, count=10_000)
        await server.aclose()
    await embedded.aclose()
    assert found.equal, found.differences[:2]
    assert found.compared == 10_000
    assert found.allowed_milli >= 300
    assert found.one_sided(rule.id for rule in BUNDLE.rules) == ()


def changed(folder: Path, path: str, edit: Callable[[str], str]) -> Path:
    """A copy of the rules with one file edited."""
    shutil.copytree(REGO, folder)
    text = (folder / path).read_text()
    assert edit(text) != text
    (folder / path).write_text(edit(text))
    return folder


async def compared(opa: Opa, root: Path) -> Parity:
    """The committed module against OPA's evaluator over the rules below `root`."""
    embedded = WasmEngine.open(BUNDLE)
    found = await parity(by_engine(embedded), by_opa(opa, root), DOMAIN, count=450)
    await embedded.aclose()
    return found


async def test_the_evaluator_of_the_program_agrees_with_the_module(opa: Opa) -> None:
    assert (await compared(opa, REGO)).equal


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("kfm/ai/evidence.rego", "input.now_ms < item.valid_until_ms", "input.now_ms <= item.valid_until_ms"),
        ("kfm/access/access.rego", "\tinput.subject.id in record.allow_list\n", ""),
        ("kfm/ai/answer.rego", "sentence.support_milli >= config", "sentence.support_milli > config"),
    ],
)
async def test_a_planted_divergence_is_caught(opa: Opa, tmp_path: Path, path: str, before: str, after: str) -> None:
    found = await compared(opa, changed(tmp_path / "rego", path, lambda text: text.replace(before, after)))
    assert not found.equal
    assert found.differences


V0 = """package kfm.ai

evidence = {"effect": "allow", "reasons": [], "obligations": [], "admit": []} if {input.subject.clearance == "restricted"}
"""


async def test_the_classic_v0_mistake_is_stopped_by_the_canary(opa: Opa, tmp_path: Path) -> None:
    """Without `import rego.v1`, `x = y if {condition}` is read as two rules: `x = y`, always, and a rule named `if`."""
    shutil.copytree(REGO, tmp_path / "rego")
    (tmp_path / "rego/kfm/ai/evidence.rego").write_text(V0)
    for name in ("query", "answer", "request", "allow_answer"):
        (tmp_path / f"rego/kfm/ai/{name}.rego").write_text(V0.replace("evidence", name))
    for each in (tmp_path / "rego").rglob("*_test.rego"):
        each.unlink()
    for name in ("access", "subject"):
        shutil.rmtree(tmp_path / "rego/kfm" / name)
    module = build_module(_v0(opa, tmp_path), tmp_path / "rego")
    engine = WasmEngine.open(replace(BUNDLE, wasm=module))
    found = await canary(by_engine(engine), DOMAIN)
    await engine.aclose()
    assert {(each.point, "empty input" in each.what) for each in found} >= {
        (point, True) for point in ("query", "evidence", "answer")
    }


def _v0(opa: Opa, folder: Path) -> Opa:
    """The program as it was before version 1."""
    script = folder / "opa-v0"
    script.write_text(f'#!/bin/sh\ncommand=$1; shift\nexec "{opa.path}" "$command" --v0-compatible "$@"\n')
    script.chmod(0o755)
    return Opa(script)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("kfm/access/access.rego", "\trecord.tenant == input.subject.tenant\n", ""),
        ("kfm/ai/evidence.rego", "\tunchanged(item)\n", ""),
        ("kfm/ai/evidence.rego", "\tlifecycle_ok(item)\n", ""),
        ("kfm/ai/request.rego", "if not subject.has_tenant", "if not subject.may(input.subject.tenant)"),
    ],
)
async def test_a_rule_without_its_guard_is_stopped_by_the_canary(
    opa: Opa, tmp_path: Path, path: str, before: str, after: str
) -> None:
    root = changed(tmp_path / "rego", path, lambda text: text.replace(before, after))
    engine = WasmEngine.open(replace(BUNDLE, wasm=build_module(opa, root)))
    found = await canary(by_engine(engine), DOMAIN)
    await engine.aclose()
    assert found
