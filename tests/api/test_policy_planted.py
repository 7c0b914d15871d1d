"""Plants of every kind that needs no new module, each through a whole publication, by an author who takes out what notices
it: none decides without an acceptance that names what it opens. All of them: `python -m tests.policy_plants`."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from api.audit.policy.release import Engines
from api.home.configuration import load
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.bundles.releases import Releases
from tests.policy_plants.catalogue import CATALOGUE, KINDS, Plant
from tests.policy_plants.publishing import Attempt, attempt, changed, kept_engines, planted, published, still_refused

pytestmark = pytest.mark.asyncio(loop_scope="session")
SAMPLE = tuple(
    next(plant for plant in CATALOGUE if plant.kind == kind and not plant.new_rules) for kind in KINDS if kind != "rule"
)


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def beside() -> AsyncIterator[Engines]:
    async with kept_engines() as opened:
        yield opened


async def test_there_are_plants_of_every_kind() -> None:
    counted = Counter(plant.kind for plant in CATALOGUE)
    assert counted.keys() == set(KINDS)
    assert min(counted.values()) >= 15
    assert len({(plant.kind, plant.name) for plant in CATALOGUE}) == len(CATALOGUE) >= 400


async def test_every_plant_changes_the_bundle_and_says_what_it_opens(tmp_path: Path) -> None:
    shipped = {path.relative_to(SHIPPED): path.read_bytes() for path in _files(SHIPPED)}
    for n, plant in enumerate(CATALOGUE[::8]):
        folder = tmp_path / str(n)
        for path, content in shipped.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        plant.edit(folder)
        assert plant.opens
        assert {path.relative_to(folder): path.read_bytes() for path in _files(folder)} != shipped, plant.name


def _files(folder: Path) -> list[Path]:
    return [each for part in ("rego", "vectors") for each in (folder / part).rglob("*") if each.is_file()]


@pytest.mark.parametrize("plant", SAMPLE, ids=lambda plant: f"{plant.kind}: {plant.name}")
async def test_no_plant_decides_unnoticed(beside: Engines, tmp_path: Path, plant: Plant) -> None:
    found = await attempt(plant, tmp_path, beside, None)
    assert not found.unnoticed, found
    assert found.named, "taking out what notices it brings it as far as the comparison"


async def test_what_is_opened_is_what_must_be_accepted(beside: Engines, tmp_path: Path) -> None:
    plant = next(each for each in CATALOGUE if each.name.startswith("role viewer: clearance internal"))
    configuration = load({}, home=tmp_path / "home")
    folder = await planted(plant, tmp_path / "bundle", beside, None)
    found = await published(folder, configuration, beside, ())
    assert still_refused(found, plant.opens)
    assert not await changed(configuration)
    names = [each.name for each in found.trial.widenings]
    release = (await published(folder, configuration, beside, names)).release
    assert release is not None
    assert release.entry_id is not None
    assert await changed(configuration)
    assert Releases(configuration.home / "policy").state().active == load_bundle(folder).digest


@pytest.mark.parametrize(
    ("gate", "named", "missing", "reached", "unnoticed"),
    [
        ("its own tests: x", (), ("role viewer",), False, False),
        ("", ("role viewer: sees internal",), (), False, False),
        ("", ("vector query/x: removed",), ("role viewer",), False, True),
        ("", (), ("role viewer",), False, True),
        ("", ("role viewer: sees internal",), (), True, True),
    ],
)
async def test_what_counts_as_unnoticed(
    gate: str, named: tuple[str, ...], missing: tuple[str, ...], reached: bool, unnoticed: bool
) -> None:
    assert Attempt(SAMPLE[0], gate, named, missing, reached).unnoticed is unnoticed
