"""Planted regressions of rules, compiled by the real `opa`: each is a named widening, and a whole publication of some of
them ends at that name. All of them: `python -m tests.policy_plants`."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from api.wiring import open_embedded
from policy.authoring.build import build
from policy.authoring.opa import Opa
from policy.authoring.widening.constants import probe_constants
from policy.authoring.widening.expectations import removed_expectations
from policy.authoring.widening.model import Side
from policy.bundles.archive import copy_bundle
from policy.bundles.bundle import SHIPPED, load_bundle
from tests.opa_server import pinned_opa
from tests.policy_plants.catalogue import CATALOGUE, Plant
from tests.policy_plants.of_rules import PLANTS, plant_rule
from tests.policy_plants.publishing import attempt, kept_engines

pytestmark = pytest.mark.services
FEW = [PLANTS[n] for n in range(0, len(PLANTS), 90)]
WHOLE = [*[each for each in CATALOGUE if each.kind == "rule"][:1], *[each for each in CATALOGUE if each.new_rules][:1]]


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


@pytest.mark.parametrize(("guard", "condition"), FEW, ids=str)
async def test_a_plant_is_named_by_its_constant(
    opa: Opa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guard: str, condition: str
) -> None:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(opa.path))
    folder = tmp_path / "planted"
    copy_bundle(SHIPPED, folder)
    plant_rule(folder, guard, condition)
    for name, content in build(folder).items():
        (folder / "wasm" / name).write_bytes(content)
    assert any(each.name.startswith("test ") for each in removed_expectations(SHIPPED, folder))
    async with AsyncExitStack() as stack:
        sides = []
        for each in (SHIPPED, folder):
            bundle = load_bundle(each)
            engine = await open_embedded(bundle)
            stack.push_async_callback(engine.aclose)
            sides.append(Side(bundle, each, engine))
        found = await probe_constants(*sides)
        assert [each.name for each in found if each.name.startswith("constant ")], (guard, condition)
        assert await probe_constants(sides[1], sides[0]) == (), "what closes opens nothing"


@pytest.mark.parametrize("plant", dict.fromkeys(WHOLE), ids=lambda plant: f"{plant.kind}: {plant.name}")
async def test_no_plant_decides_unnoticed(
    opa: Opa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Plant
) -> None:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(opa.path))
    async with kept_engines() as beside:
        found = await attempt(plant, tmp_path, beside, opa)
    assert not found.unnoticed, found
    assert found.named, found.gate


def test_there_are_many() -> None:
    assert len(PLANTS) >= 80
