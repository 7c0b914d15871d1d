"""A backtest of rules from which one label condition was taken, built by the real `opa`: exact entries and sentences."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ai.backtest.report import Backtest
from api.audit.policy.backtesting import run_backtest
from api.home.configuration import load
from policy.authoring.candidate import open_candidate
from policy.bundles.bundle import SHIPPED
from tests.api_world import FERRY, POPULATION, make_world
from tests.harness import ask, opened
from tests.opa_server import pinned_opa

pytestmark = pytest.mark.services
ASKED = (("public_viewer", POPULATION), ("public_viewer", FERRY), ("contributor", FERRY), ("admin", POPULATION))
OF_ITEMS = "item_label_ok(item) if config.labels[item.label] <= subject.clearance_rank\n"
OF_CLASSES = "\tdata.kfm.access.label_ok(class)\n"
Recorded = tuple[Path, Sequence[dict[str, Any]]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A home, and the bodies of what was asked in it."""
    home = (await make_world(tmp_path_factory.mktemp("backtest"))).configuration.home
    async with opened(home) as system:
        return home, [await ask(system, question, role=role) for role, question in ASKED]


async def without(
    condition: str, file: str, recorded: Recorded, folder: Path, request: pytest.FixtureRequest
) -> Backtest:
    """What the backtest finds for the shipped rules less one condition."""
    shutil.copytree(SHIPPED / "rego", folder / "rego")
    path = folder / "rego" / "kfm" / file
    assert path.read_text().count(condition) == 1
    path.write_text(path.read_text().replace(condition, ""))
    request.getfixturevalue("monkeypatch").setenv("EXHIBIT_OPA_BIN", str(pinned_opa(request.config).path))
    return await run_backtest(load({}, home=recorded[0]), open_candidate(folder), since_ms=0, limit=100)


@pytest.mark.asyncio(loop_scope="module")
async def test_who_may_read_no_longer_may(recorded: Recorded, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Only the named are left: each answer that cites is listed, with each of its sentences."""
    found = await without(OF_ITEMS, "ai/evidence.rego", recorded, tmp_path, request)
    assert not found.refused
    assert found.reproduced >= 3 * len(ASKED) - 1
    said = {
        body["provenance"]["entry_id"]: [(s["i"], s["text"]) for s in body["sentences"] if s["citations"]]
        for body in recorded[1]
    }
    lost = {each.entry_id: [(s.i, s.text) for s in each.lost_sentences] for each in found.differences}
    assert {id: sentences for id, sentences in lost.items() if sentences} == {
        id: sentences for id, sentences in said.items() if sentences
    }
    assert all(moved.rules == ("E07 LABEL_ABOVE_CLEARANCE",) for each in found.differences for moved in each.lost)


@pytest.mark.asyncio(loop_scope="module")
async def test_who_may_not_read_would_be_searched_for(
    recorded: Recorded, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The classes that open are listed for just those who were kept out by the label; the floor still stops them."""
    found = await without(OF_CLASSES, "access/access.rego", recorded, tmp_path, request)
    opened_classes = {each.entry_id: [name.split()[:2] for name in each.opened] for each in found.differences}
    public = [b["provenance"]["entry_id"] for (role, _), b in zip(ASKED, recorded[1], strict=True) if "viewer" in role]
    assert opened_classes == {key: [["internal", "staff"]] for key in public}
    assert all("stopped by the floor" in name for each in found.differences for name in each.opened)
