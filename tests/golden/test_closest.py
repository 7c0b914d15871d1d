"""Where nothing is sure enough to answer, the sentence that comes closest is shown as that, and never as an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ai.models.extractive import ExtractiveModel
from ai.replay.replay import Grade, replay
from api import wiring
from api.home.configuration import load
from tests.fakes_ai import ScriptedModel
from tests.harness import ask, ingest, with_services

FILES = {
    "handbook.md": "# Handbook\n\nRequests for more than two weeks at a time go to the head of department. Claims must "
    "be handed in within 30 days. The canteen serves soup on Mondays.\n",
    "kettle.md": "# The kettle\n\nThe kettle was made by the Harlow works. Descaling takes 25 minutes. The lid can be "
    "taken off for cleaning.\n",
}
ASKED = {
    "What is on the menu on Mondays?": "soup",
    "Within how many days must expenses be claimed?": "30 days",
    "How long does the kettle need to be descaled?": "25 minutes",
    "Which factory manufactured the kettle?": "Harlow works",
}
NOT_TOLD = ("Who invented the telescope?", "What colour is the roof?", "How deep is the lake?")


@pytest_asyncio.fixture
async def home(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    await ingest(tmp_path / "home", paths=[tmp_path / name for name in FILES], label="public")
    return tmp_path / "home"


@pytest_asyncio.fixture
async def strict(home: Path) -> AsyncIterator[wiring.System]:
    """A system that answers prose only where it is least often wrong."""
    async with wiring.open_system(load({"EXHIBIT_ANSWERING__MAX_FALSE_ANSWER_RATE": "0.08"}, home=home)) as system:
        yield system


def closest(body: dict[str, Any]) -> list[str]:
    return [each["text"] for each in body.get("related") or ()]


async def test_what_comes_closest_is_shown_and_is_no_answer(strict: wiring.System) -> None:
    shown = 0
    for question, wanted in ASKED.items():
        body = await ask(strict, question)
        if body["outcome"] == "ANSWER":
            assert not closest(body)
            continue
        assert (body["outcome"], body["reason_codes"]) == ("ABSTAIN", ["INSUFFICIENT_EVIDENCE"])
        assert body["citations"] == {}
        assert not any(wanted in each["text"] for each in body["sentences"])
        shown += any(wanted in text for text in closest(body))
        for each in body.get("related") or ():
            (cited,) = each["citations"]
            assert cited["quote"].strip(".") in each["text"]
            assert cited["href"].startswith("/api/v1/evidence/")
        replayed = await replay(body["provenance"]["entry_id"], services=strict.services, up_to=Grade.R2)
        assert (replayed.grade, replayed.differs_at) == (Grade.R2, None)
    assert shown >= 2


@pytest.mark.parametrize("question", NOT_TOLD)
async def test_where_nothing_comes_close_nothing_is_shown(strict: wiring.System, question: str) -> None:
    body = await ask(strict, question)
    assert (body["outcome"], closest(body)) == ("ABSTAIN", [])


async def test_a_model_that_finds_nothing_leaves_what_the_default_found(strict: wiring.System) -> None:
    default = strict.services.model
    assert isinstance(default, ExtractiveModel)
    said = ScriptedModel("The sources do not answer this question.")
    for question in ASKED:
        alone = await ask(strict, question)
        services = with_services(strict, model=said, fallback=default)
        body = await ask(strict, question, services=services)
        assert (body["outcome"], closest(body)) == (alone["outcome"], closest(alone))
        assert (await replay(body["provenance"]["entry_id"], services=services)).reproduced
