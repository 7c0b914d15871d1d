"""A home of an earlier version replays whole after anything that may become new in it: another policy, template, gate
ruleset or reader, and a corpus that grew, lost and replaced sources."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ai.canonical import digest_of
from ai.case.case import Services
from ai.gate.rules import ruleset_of
from ai.models.extractive import ExtractiveModel
from ai.replay.replay import Grade, Verdict, replay
from api import wiring
from api.audit.entries.recorded_policy import recorded_policies
from api.home.configuration import load
from tests.command_line import Run, command_line
from tests.edited_bundles import edited
from tests.golden.kept_homes import VERSIONS, KeptHome, unpack
from tests.harness import with_services
from tests.published import published

Grades = dict[str, Grade]


async def grades(
    kept: KeptHome, changes: Callable[[Services], dict[str, Any]] | None = None, **settings: Any
) -> Grades:
    """The grade of each entry that can be recomputed; every one is reproduced."""
    found = Grades()
    async with wiring.open_system(load({}, home=kept.home, overrides=settings)) as system:
        changed = with_services(system, **({} if changes is None else changes(system.services)))
        async with recorded_policies(replace(system, services=changed)) as policies:
            for recorded in kept.recorded["replayed"]["entries"]:
                if recorded["grade"] != "R0":
                    services = await policies.services_of(recorded["entry_id"])
                    report = await replay(recorded["entry_id"], services=services, up_to=Grade.R2)
                    assert report.verdict is Verdict.REPRODUCED, report
                    found[recorded["entry_id"]] = report.grade
    return found


@pytest.fixture(scope="module", params=VERSIONS)
def before(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Grades:
    """The grades in the home as it was kept."""
    found = asyncio.run(grades(unpack(request.param, tmp_path_factory.mktemp("before"))))
    assert len(found) > 10 and set(found.values()) <= {Grade.R1, Grade.R2}
    return found


@pytest.fixture
def kept(request: pytest.FixtureRequest, before: Grades, tmp_path: Path) -> KeptHome:
    """The same home, to change."""
    return unpack(request.node.callspec.params["before"], tmp_path)


def another_template(services: Services) -> dict[str, Any]:
    text = services.template.text.replace("SOURCES", "EVIDENCE")
    digest = digest_of(text.encode())
    return {"template": replace(services.template, name="focus_mode/v9", text=text, digest=digest)}


def another_gate(services: Services) -> dict[str, Any]:
    raw = json.loads(services.rules.document)
    raw["thresholds"]["act_milli"], raw["version"] = 1_000, "gate/999"
    return {"rules": ruleset_of(raw)}


def another_extractive_model(_: Services) -> dict[str, Any]:
    return {"model": ExtractiveModel(version="extractive/999")}


@pytest.mark.parametrize("changes", [another_template, another_gate, another_extractive_model])
async def test_after_a_new_template_gate_or_model(
    kept: KeptHome, before: Grades, changes: Callable[[Services], dict[str, Any]]
) -> None:
    assert await grades(kept, changes) == before


async def test_after_a_reader_was_chosen(kept: KeptHome, before: Grades) -> None:
    assert await grades(kept, **{"answering.reader": True, "answering.max_false_answer_rate": 0.3}) == before


async def test_after_another_policy_was_published(kept: KeptHome, before: Grades, tmp_path: Path) -> None:
    """One that denies every reader of the public everything."""
    denies_all = edited(tmp_path / "bundle", lambda data: data["roles"]["public_viewer"].update(permissions=[]))
    await published(kept.home, denies_all)
    assert await grades(kept) == before


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return command_line(capsys, monkeypatch)


def test_after_the_corpus_was_updated(kept: KeptHome, before: Grades, cli: Run, tmp_path: Path) -> None:
    """A source is new, one has another version, one is withdrawn; the indexes are made anew."""

    def told(*words: object) -> Any:
        code, out, err = cli(*words, "--home", kept.home, "--json")
        assert code == 0, (words, err)
        return json.loads(out)

    told("index", "rebuild")
    (tmp_path / "ferry.md").write_text("# The ferry\n\nWilliam Nace kept the ferry at Lecompton in 1856.\n", "utf-8")
    told("ingest", tmp_path / "ferry.md", "--collection", "kansas")
    figures = kept.folder / "corpus" / "county-population.csv"
    figures.write_text(figures.read_text("utf-8").replace("Shawnee", "Shawney"), "utf-8")
    updated = told("ingest", "--manifest", kept.folder / "corpus" / "manifest.toml")
    assert {each["state"] for each in updated["files"]} > {"skipped"}, updated
    told("source", "withdraw", "treaties", "--why", "x")
    assert asyncio.run(grades(kept)) == before
