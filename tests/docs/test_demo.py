"""The demonstration: it succeeds only if everything that it claims was seen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ai.model import Outcome
from api.cli.main import run
from api.errors import ExpectationFailed
from api.measure.demonstration import SCENES, Scene, check, public_manifest, sample_corpus
from tests.command_line import without_settings


def test_the_demo_shows_what_it_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    without_settings(monkeypatch)
    code = run(["demo", "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert err.count("unwitnessed") == 2  # what was verified, no witness has seen
    report = json.loads(out)
    assert report["home"] == "exhibit-home"
    assert len(report["scenes"]) >= 8
    assert report["receipts_verified"] == len(report["scenes"])
    assert report["replay"]["R1"] == len(report["scenes"])
    assert report["tampering"]["verdict"] == "broken"
    # What is there is never touched: a folder in use is refused where it was named.
    assert run(["demo", "--home", "exhibit-home"]) == 5
    assert run(["ask", "What was the population of Shawnee County in 1930?"]) == 0


def body(**changes: Any) -> dict[str, Any]:
    """A body that the scene below accepts."""
    citation = {"source_id": "s", "computed": {"operation": "neighbours"}}
    return {
        "outcome": "ANSWER",
        "answer": "It says so [1].",
        "reason_codes": [],
        "citations": {"1": citation},
        "evidence": [{"cited": True, "rank": {"vector": 1}}, {"cited": False, "rank": {"neo4j": 1}}],
        "limitations": [{"code": "NOTED"}],
    } | changes


SCENE = Scene("x", "q", Outcome.ANSWER, says="says so", cites="s", code="NOTED", operation="neighbours", only=None)


def test_a_scene_accepts_what_it_must_show() -> None:
    check(SCENE, body())


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "ABSTAIN"},
        {"answer": "Nothing."},
        {"citations": {}},
        {"citations": {"1": {"source_id": "other", "computed": {"operation": "neighbours"}}}},
        {"citations": {"1": {"source_id": "s", "computed": None}}},
        {"limitations": []},
    ],
    ids=str,
)
def test_a_scene_refuses_anything_else(change: dict[str, Any]) -> None:
    with pytest.raises(ExpectationFailed):
        check(SCENE, body(**change))


def test_evidence_of_another_channel_is_not_alone() -> None:
    from retrieval.model import ChannelName

    check(replace(SCENE, only=ChannelName.VECTOR), body())
    with pytest.raises(ExpectationFailed):
        check(
            replace(SCENE, only=ChannelName.VECTOR), body(evidence=[{"cited": True, "rank": {"vector": 1, "neo4j": 2}}])
        )


def test_the_scenes_cover_what_must_be_shown() -> None:
    assert {scene.only for scene in SCENES} >= {"neo4j", "postgis", "fulltext", "vector"}
    assert {scene.outcome for scene in SCENES} == set(Outcome)
    assert {scene.code for scene in SCENES} >= {"GATE_REJECTED", "PROMPT_SANITIZED", "COLLECTION_UNAVAILABLE"}


def test_the_public_corpus_holds_nothing_hidden(tmp_path: Path) -> None:
    text = public_manifest(sample_corpus(), tmp_path / "corpus").read_text("utf-8")
    assert 'source_id = "county-population"' in text
    assert "cody-life" not in text
    assert "kansas-narratives" not in text
