"""Several questions in one: each is answered, or the body says which is not; and what joins no questions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import permutations
from pathlib import Path

import pytest
import pytest_asyncio

from ai.replay.replay import Grade, replay
from ai.text.parts import parts_of
from api import wiring
from tests.harness import ask, ingest, opened

FILES = {
    "mill.md": "# Carrow Mill\n\nCarrow Mill was built in 1782 by Josiah Penn. It burned down in 1911.\n",
    "tarn.md": "# Tarn\n\nTarn was founded by Agnes Hollow in 1640. The main industry of Tarn is glassmaking.\n",
    "printer.md": "# Printer guide\n\nThe printer holds 250 sheets of paper. The warranty lasts two years.\n",
}
TOLD = {
    "When was Carrow Mill built": "1782",
    "Who founded Tarn": "Agnes Hollow",
    "What is the main industry of Tarn": "glassmaking",
    "When did Carrow Mill burn down": "1911",
}
UNTOLD = ("Who was the first mayor of Tarn", "When was Carrow Lighthouse built")
JOINED = {
    "When was Carrow Mill built and who built it?": ("1782", "Josiah Penn"),
    "When and by whom was Carrow Mill built?": ("1782", "Josiah Penn"),
    "Who founded Tarn and what is its main industry?": ("Agnes Hollow", "glassmaking"),
    "How many sheets does the printer hold and how long does the warranty last?": ("250", "two years"),
}
ONE = (
    "Who were Smith and Jones?",
    "When did he live and work in Tarn?",
    "What are the names of the people who lived in Tarn and who worked there?",
    "What happens when it rains and when it snows?",
    "What should I do when the printer jams and when it runs out of ink?",
    "What is the difference between who and whom?",
    "Which towns and which villages lie in Ore?",
    "I lost my key. What do I do?",
)
LEFT = "PART_NOT_ANSWERED"


@pytest_asyncio.fixture
async def system(tmp_path: Path) -> AsyncIterator[wiring.System]:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    await ingest(tmp_path / "home", paths=[tmp_path / name for name in FILES], label="public")
    async with opened(tmp_path / "home") as opened_system:
        yield opened_system


def codes(body: dict[str, object]) -> dict[str, str]:
    return {each["code"]: each["message"] for each in body["limitations"]}  # type: ignore[attr-defined]


async def test_both_are_answered(system: wiring.System) -> None:
    pairs = {
        f"{one} and {other[0].lower()}{other[1:]}?": (TOLD[one], TOLD[other]) for one, other in permutations(TOLD, 2)
    }
    pairs |= {f"{one}? {other}?": (TOLD[one], TOLD[other]) for one, other in permutations(TOLD, 2)}
    for question, due in (pairs | JOINED).items():
        body = await ask(system, question)
        assert all(each in body["answer"] for each in due) and LEFT not in codes(body), (question, body["answer"])
        assert all(each["citations"] for each in body["sentences"]), question


async def test_what_is_left_is_named(system: wiring.System) -> None:
    for known, due in TOLD.items():
        for unknown in UNTOLD:
            for question in (f"{known}? {unknown}?", f"{unknown}? {known}?"):
                body = await ask(system, question)
                assert body["outcome"] == "ANSWER" and due in body["answer"], (question, body["answer"])
                assert unknown in codes(body)[LEFT] and known not in codes(body)[LEFT], question
    body = await ask(system, f"{UNTOLD[0]} and {UNTOLD[1].lower()}?")
    assert body["outcome"] == "ABSTAIN"


async def test_whose_pronoun_means_an_answer_is_left(system: wiring.System) -> None:
    body = await ask(system, "Who founded Tarn and when did he die?")
    assert "Agnes Hollow" in body["answer"] and "1911" not in body["answer"]
    assert "when did he die?" in codes(body)[LEFT]


async def test_their_entries_replay(system: wiring.System) -> None:
    for question in (*JOINED, f"{next(iter(TOLD))}? {UNTOLD[0]}?"):
        body = await ask(system, question)
        found = await replay(body["provenance"]["entry_id"], services=system.services, up_to=Grade.R2)
        assert found.grade is Grade.R2, (question, found)


@pytest.mark.parametrize("question", ONE)
def test_one_question_is_not_cut(question: str) -> None:
    assert parts_of(question) == ()
