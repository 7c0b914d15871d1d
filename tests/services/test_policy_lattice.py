"""The whole lattice of the shipped domain with rules broken in Rego."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from policy.authoring.build import build_module
from policy.authoring.domain import Domain
from policy.authoring.invariants import broken, read_invariants
from policy.authoring.lattice import decide_lattice
from policy.bundle import SHIPPED, load_bundle
from policy.wasm import WasmEngine
from tests.opa_server import pinned_opa

pytestmark = pytest.mark.services

LEAKS = (
    ("access/access.rego", "if config.labels[record.label] <= subject.clearance_rank", "if config.labels[record.label] >= 0"),
    ("access/access.rego", "count(record.groups) == 0", "count(record.groups) >= 0"),
    ("ai/evidence.rego", "lifecycle_ok(item) if item.lifecycle in config.lifecycle", "lifecycle_ok(item) if is_string(item.lifecycle)"),
    ("ai/evidence.rego", "config.labels[item.label] <= subject.clearance_rank", "config.labels[item.label] >= 0"),
)  # fmt: skip


async def test_three_leaks_in_the_rules_are_found(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    """Label, groups, lifecycle: each condition taken away, the label's at both points."""
    shutil.copytree(SHIPPED / "rego", tmp_path / "rego")
    for path, before, after in LEAKS:
        file = tmp_path / "rego" / "kfm" / path
        assert before in file.read_text()
        file.write_text(file.read_text().replace(before, after))
    bundle = replace(load_bundle(), wasm=build_module(pinned_opa(pytestconfig), tmp_path / "rego"))
    domain = Domain.of(bundle)
    engine = WasmEngine.open(bundle)
    lattice = await decide_lattice(engine, domain)
    await engine.aclose()
    found = {each.title: each for each in broken(lattice, read_invariants(SHIPPED / "vectors/invariants.toml", domain))}
    assert {
        "No role below admin sees restricted material, unless it is named",
        "Material of other groups is closed to all roles, admins too",
        "Nothing but what is active",
    } <= found.keys()
    assert "Nothing of another tenant" not in found
    assert "Nothing with a handling tag that is not known" not in found
    assert all(each.examples for each in found.values())
