"""The advice beside an abstention: a layer or collection is named only where there is one to choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

QUESTIONS = ("Who repaired the organ in 1890?", "How many?", "When were the bells of 1911 rung?")


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_home_of_one_folder_has_no_layer_to_name(tmp_path: Path, question: str) -> None:
    folder = tmp_path / "parish"
    folder.mkdir()
    (folder / "letter.txt").write_text("The organ was bought in 1911. The bells are older.\n", encoding="utf-8")
    await ingest(tmp_path / "home", paths=[folder], label="public")
    async with opened(tmp_path / "home") as system:
        body = await ask(system, question)
    advice = [each["message"] for each in body["limitations"] if each["code"] == "CLARIFICATION_HELPS"]
    assert body["outcome"] == "ABSTAIN" and not any("layer" in each for each in advice)
