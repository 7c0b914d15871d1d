"""Entries by rules that belong to no release open and verify; replay runs them by today's rules, says so, and never
calls a result equal that is not."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ai.answer.claims.answering import Wanted
from ai.case.case import Case
from ai.model import CLAIMS_VERSION
from ai.models.extractive import ExtractiveModel
from ai.models.reading.versions import VERSION
from ai.replay.asked_again import ask_again
from ai.replay.explanation import explain_difference
from ai.replay.replay import Grade, ReplayReport, Verdict, replay
from api import wiring
from api.audit.entries.replay import replay_document
from tests.harness import ask, opened, subject, with_services

PROSE = "What treaties did the Kansa sign?"
FIGURE = "What was the population of Shawnee County in 1930?"
NOT_KEPT = "belong to no release and are not kept"


@pytest.fixture
def home(kansas_home: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "home"
    shutil.copytree(kansas_home, copy)
    return copy


async def asked_by(
    system: wiring.System, monkeypatch: pytest.MonkeyPatch, version: int, question: str, *, refuses: bool = False
) -> str:
    """The entry of a question, its draft checked as software of that version did; `refuses`: by rules for which no
    sentence answers."""
    of = Case.of
    with monkeypatch.context() as patched:
        if refuses:
            patched.setattr(Wanted, "is_answered", lambda *_, **__: False)
        made = lambda ask, **given: replace(of(ask, **given), claims_version=version)  # noqa: E731
        patched.setattr(Case, "of", made)
        return str((await ask(system, question))["provenance"]["entry_id"])


def told(found: ReplayReport) -> str:
    [detail] = [stage.detail for stage in found.stages if stage.name == "checks"]
    return detail


@pytest.mark.parametrize("question", [PROSE, FIGURE])
@pytest.mark.parametrize("version", [1, 7, CLAIMS_VERSION - 1])
async def test_the_same_result_by_todays_checks_is_reproduced_and_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch, version: int, question: str
) -> None:
    async with opened(home) as system:
        entry = await asked_by(system, monkeypatch, version, question)
        found = await replay(entry, services=system.services, up_to=Grade.R2)
        assert (found.grade, found.verdict, found.missing) == (Grade.R2, Verdict.REPRODUCED, ("checks",))
        assert told(found).startswith(f"version: recorded {version}, now {CLAIMS_VERSION}; ")
        assert NOT_KEPT in told(found)


@pytest.mark.parametrize("version", [1, 7, CLAIMS_VERSION - 1])
async def test_another_result_names_its_stage_and_the_version(
    home: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    async with opened(home) as system:
        entry = await asked_by(system, monkeypatch, version, PROSE, refuses=True)
        found = await replay(entry, services=system.services, up_to=Grade.R2)
        assert (found.grade, found.verdict, found.missing) == (Grade.R0, Verdict.CANNOT_RUN, ("checks",))
        assert found.differs_at not in (None, "checks")
        assert f"version {version} {NOT_KEPT}" in told(found)
        assert "checks" in {stage["name"] for stage in replay_document(found)["stages"] if not stage["same"]}
        assert (await system.services.ledger.verify()).ok
        other = await asked_by(system, monkeypatch, CLAIMS_VERSION, PROSE)
        explained = await explain_difference(entry, other, of_one=system.services, of_other=system.services)
        assert NOT_KEPT in explained.impossible


@pytest.mark.parametrize("version", [0, CLAIMS_VERSION])
async def test_the_checks_of_a_release_are_kept(home: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    async with opened(home) as system:
        entry = await asked_by(system, monkeypatch, version, PROSE)
        found = await replay(entry, services=system.services, up_to=Grade.R2)
        assert (found.grade, found.missing) == (Grade.R2, ())
        assert "checks" not in {stage.name for stage in found.stages}
        again = await asked_by(system, monkeypatch, version, PROSE, refuses=True)
        found = await replay(again, services=system.services)
        assert found.verdict is (Verdict.DIFFERS if version else Verdict.REPRODUCED)


async def test_rules_of_later_software_are_not_called_those_of_no_release(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as system:
        entry = await asked_by(system, monkeypatch, CLAIMS_VERSION + 1, PROSE)
        assert "of later software" in told(await replay(entry, services=system.services))


async def test_a_backtest_does_not_take_todays_checks_for_those_of_the_record(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as system:
        entry = await asked_by(system, monkeypatch, 7, PROSE)
        again = await ask_again(entry, subject=subject(system, "maintainer"), services=system.services)
        assert again.unknown == "CHECKS_GONE"


@pytest.mark.parametrize("version", ["4", "7", str(int(VERSION) - 1)])
async def test_a_model_between_releases_is_not_made_again(home: Path, version: str) -> None:
    model = ExtractiveModel(version=version)
    assert ExtractiveModel.of(model.document) is None
    async with opened(home) as system:
        await system.services.archive.keep([model.document])
        body = await ask(system, PROSE, services=with_services(system, model=model))
        found = await replay(body["provenance"]["entry_id"], services=system.services, up_to=Grade.R2)
    assert (found.grade, found.differs_at, found.missing) == (Grade.R1, "model.identity", ("model",))
    [detail] = [stage.detail for stage in found.stages if stage.name == "model.identity"]
    assert detail.endswith(f"version: recorded {version}, now {VERSION}; the rules of version {version} {NOT_KEPT}")
