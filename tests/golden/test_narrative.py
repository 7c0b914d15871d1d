"""Questions as readers ask them, on the texts of the sample corpus: most are answered from the right document, near
misses are not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ai.models.extractive import ExtractiveModel
from ai.text.catalogue import ABSTAIN, PHRASES
from api import wiring
from tests.harness import ask

QUESTIONS = json.loads(Path(__file__).with_name("narrative.json").read_text(encoding="utf-8"))
GROUPS = ("archivists", "cultural_review")


async def answered(system: wiring.System, question: str) -> tuple[str, set[str]]:
    """The answer, and the documents that it cites; both empty for an abstention."""
    body = await ask(system, question, role="maintainer", groups=GROUPS)
    if body["outcome"] != "ANSWER":
        return "", set()
    return body["answer"], {citation["source_id"] for citation in body["citations"].values()}


MISSED = {"words": 8, "reader": 13}
"""Of 40. At the stated rate the reader finds too little chance for five that words answer: what words miss was mended on these
very questions."""


@pytest.mark.parametrize("judge", MISSED)
async def test_what_the_sources_hold_is_answered_from_them(kansas: wiring.System, judge: str) -> None:
    missed = []
    if judge == "words":
        kansas = replace(kansas, services=replace(kansas.services, model=ExtractiveModel()))
    for each in QUESTIONS["answerable"]:
        text, sources = await answered(kansas, each["question"])
        if each["document"] not in sources or not any(word in text for word in each["words"]):
            missed.append((each["question"], text))
    assert len(missed) <= MISSED[judge], missed


async def test_a_near_miss_is_not_answered(kansas: wiring.System) -> None:
    found = {question: (await answered(kansas, question))[0] for question in QUESTIONS["unanswerable"]}
    wrong = {question: text for question, text in found.items() if text not in {"", PHRASES[ABSTAIN]}}
    assert len(wrong) <= 2, wrong
