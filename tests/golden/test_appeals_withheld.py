"""An abstention for what the answer asks of its reader says so, and to ask for that gives it; no other does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from ai.answer.release import APPEAL_WITHHELD
from ai.replay.replay import Grade, replay
from api import wiring
from tests.harness import ask, ingest, opened

HANDBOOK = """# Harbour café handbook

## Coffee machine
The machine must be descaled every six weeks. If the red light stays on, call the supplier, Brewtech, on 555-0134.

## Bookings
Groups of more than ten book a table at www.harbour-cafe.example. The café seats forty people.

## Lost property
Lost umbrellas are kept behind the counter. If you have lost a key, please write to keys@harbour-cafe.example.
"""
WITHHELD = {
    "What should I do if the red light stays on?": "Whom should I call if the red light stays on?",
    "How many people book a table as a group?": "How can I book a table for a group?",
    "What must be done if the red light stays on?": "How do I contact Brewtech?",
}
"""Questions of which the answer asks something of its reader, each beside one that asks for it."""
ANSWERED = (
    "How often must the machine be descaled?",
    "How many people does the café seat?",
    "Where are lost umbrellas kept?",
)
UNTOLD = ("Who owns the café?", "What should I do if the green light stays on?", "When was the machine bought?")


@pytest_asyncio.fixture
async def system(tmp_path: Path) -> AsyncIterator[wiring.System]:
    (tmp_path / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
    await ingest(tmp_path / "home", paths=[tmp_path / "handbook.md"], label="public")
    async with opened(tmp_path / "home") as opened_system:
        yield opened_system


async def test_what_is_withheld_is_said_and_told_to_who_asks_for_it(system: wiring.System) -> None:
    for question, asking in WITHHELD.items():
        body = await ask(system, question)
        assert body["outcome"] == "ABSTAIN", (question, body["answer"])
        assert [each["code"] for each in body["limitations"]] == [APPEAL_WITHHELD], question
        assert "555-0134" not in str(body) and "keys@" not in str(body), question
        assert (await ask(system, asking))["outcome"] == "ANSWER", asking


async def test_nothing_else_says_it(system: wiring.System) -> None:
    for question, outcome in (*((each, "ANSWER") for each in ANSWERED), *((each, "ABSTAIN") for each in UNTOLD)):
        body = await ask(system, question)
        assert body["outcome"] == outcome, (question, body["answer"])
        assert APPEAL_WITHHELD not in {each["code"] for each in body["limitations"]}, question


async def test_its_entry_replays(system: wiring.System) -> None:
    body = await ask(system, next(iter(WITHHELD)))
    found = await replay(body["provenance"]["entry_id"], services=system.services, up_to=Grade.R2)
    assert found.grade is Grade.R2, found
