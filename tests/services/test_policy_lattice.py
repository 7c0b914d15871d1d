"""The whole lattice of the shipped domain with rules broken in Rego."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from policy.authoring.build import build_module
from policy.authoring.lattice.domain import Domain
from policy.authoring.lattice.invariants import BrokenInvariant, broken, read_invariants
from policy.authoring.lattice.lattice import decide_lattice
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.wasm import WasmEngine
from tests.opa_server import pinned_opa

pytestmark = pytest.mark.services

LEAKS = (
    ("access/access.rego", "if config.labels[record.label] <= subject.clearance_rank", "if config.labels[record.label] >= 0"),
    ("access/access.rego", "count(record.groups) == 0", "count(record.groups) >= 0"),
    ("ai/evidence.rego", "lifecycle_ok(item) if item.lifecycle in config.lifecycle", "lifecycle_ok(item) if is_string(item.lifecycle)"),
    ("ai/evidence.rego", "config.labels[item.label] <= subject.clearance_rank", "config.labels[item.label] >= 0"),
)  # fmt: skip


SCOPE_LEAKS = {
    ("config.labels[record.label] <= subject.clearance_rank", "config.labels[record.label] >= 0"): "No role below admin sees restricted material, unless it is named",
    ("config.labels[record.label] == subject.clearance_rank + 1", "config.labels[record.label] <= subject.clearance_rank + 2"): "Being named reaches one step: below contributor, nothing confidential",
}  # fmt: skip


async def broken_after(
    changes: Iterable[tuple[str, str, str]], pytestconfig: pytest.Config, folder: Path
) -> dict[str, BrokenInvariant]:
    """The invariants that do not hold once these texts of the rules have been replaced, by title."""
    shutil.copytree(SHIPPED / "rego", folder / "rego")
    for path, before, after in changes:
        file = folder / "rego" / "kfm" / path
        assert before in file.read_text()
        file.write_text(file.read_text().replace(before, after))
    bundle = replace(load_bundle(), wasm=build_module(pinned_opa(pytestconfig), folder / "rego"))
    domain = Domain.of(bundle)
    engine = WasmEngine.open(bundle)
    lattice = await decide_lattice(engine, domain)
    await engine.aclose()
    rules = read_invariants(SHIPPED / "vectors/invariants.toml", domain)
    return {each.title: each for each in broken(lattice, rules)}


@pytest.mark.parametrize(("change", "title"), SCOPE_LEAKS.items(), ids=["clearance", "named"])
async def test_a_leak_into_the_scope_alone_is_found(
    pytestconfig: pytest.Config, tmp_path: Path, change: tuple[str, str], title: str
) -> None:
    """The evidence point would still stop the items; but their class is searched, which no invariant permits."""
    found = await broken_after([("access/access.rego", *change)], pytestconfig, tmp_path)
    assert title in found
    [example, *_] = found[title].examples
    assert (example[0]["searched"], example[0]["visible"]) == (True, False)


async def test_three_leaks_in_the_rules_are_found(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    """Label, groups, lifecycle: each condition taken away, the label's at both points."""
    found = await broken_after(LEAKS, pytestconfig, tmp_path)
    assert {
        "No role below admin sees restricted material, unless it is named",
        "Material of other groups is closed to all roles, admins too",
        "Nothing but what is active",
    } <= found.keys()
    assert "Nothing of another tenant" not in found
    assert "Nothing with a handling tag that is not known" not in found
    assert all(each.examples for each in found.values())
