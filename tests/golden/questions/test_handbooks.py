"""A folder of a person's own short documents, without a manifest and without figures, answers what they say."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from api import wiring
from api.home.configuration import load
from tests.golden.questions.asking import asked
from tests.harness import ingest

FOLDER = Path(__file__).parent / "handbooks"
ANSWERED = {
    "How many days of paid leave do full-time employees get?": "27 days",
    "How many unused days can be carried over?": "five unused days",
    "How far in advance must leave be requested?": "two weeks",
    "When is a medical certificate required?": "fourth day",
    "Who can grant unpaid leave?": "head of department",
    "Why are certificates not sent to the manager?": "health data",
    "Does tideq support clustering?": "does not support",
    "Who wrote tideq?": "Ines Okafor",
    "How long does a consumer have to acknowledge a message?": "30 seconds",
    "How many sailors did Marta Eide save?": "eleven sailors",
    "Who designed the Skarvholm Light?": "Harald Lunde",
    "How high is the present tower?": "31 metres",
    "At what temperature should fish be thawed?": "4 °C",
    "Why should fish not be thawed at room temperature?": "bacteria",
    "How long can cod be frozen?": "eight months",
    "How often should I descale the machine?": "60 days",
    "How long does the warranty last?": "two years",
    "How long should the machine cool?": "20 minutes",
    "Why should I not use vinegar?": "rubber seals",
}
UNANSWERED = (
    "How many days of parental leave are there?",
    "How many employees are there?",
    "How many managers answer within three days?",
    "How many ports does tideq have?",
    "How many steps does the tower have?",
    "How many medals did Marta Eide lose?",
    "How many children did the keepers have?",
    "How much water do I need in areas with hard water?",
    "How much does it cost to visit the museum?",
    "How long should salmon be smoked?",
    "How heavy is the Orion 300?",
    "How high is the village?",
    "How often is the museum open?",
    "How old was Harald Lunde?",
    "Who repaired the tower?",
    "Who designed the Skarvholm Bridge?",
    "Who designed the Aske Light?",
    "When was the Skarvholm Light sold?",
    "When is a medical certificate not required?",
    "Why are certificates not sent to the bank?",
    "Why should vinegar be used?",
    "Why was the light automated?",
    "Why did the barque Selma sink?",
    "Why did the last keeper leave the skerry?",
)


FAULTS_OF_THE_READER = {
    "How long can cod be frozen?",
    "Why are certificates not sent to the manager?",
    "Who repaired the tower?",
}
"""What it does not answer at the stated rate and words do, and what it answers falsely."""


@pytest.fixture(scope="module", params=["words", "reader"])
def bodies(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each question gets, of words alone and with the reader, but for its known faults."""
    reader = request.param == "reader"

    async def ask(home: Path) -> dict[str, Any]:
        await ingest(home, paths=sorted(FOLDER.iterdir()), label="public")
        settings = {"EXHIBIT_ANSWERING__READER": str(reader).lower()}
        async with wiring.open_system(load(settings, home=home)) as system:
            left = FAULTS_OF_THE_READER if reader else ()
            asking = [question for question in (*ANSWERED, *UNANSWERED) if question not in left]
            return {question: await asked(system, question, {}) for question in asking}

    return asyncio.run(ask(tmp_path_factory.mktemp("own") / "home"))


@pytest.mark.parametrize("question", ANSWERED)
def test_what_the_documents_say_is_answered(bodies: dict[str, Any], question: str) -> None:
    if question not in bodies:
        pytest.skip("a known fault of the reader")
    assert bodies[question]["outcome"] == "ANSWER"
    assert ANSWERED[question] in " ".join(each["text"] for each in bodies[question]["sentences"])


@pytest.mark.parametrize("question", UNANSWERED)
def test_what_they_do_not_say_is_not(bodies: dict[str, Any], question: str) -> None:
    if question not in bodies:
        pytest.skip("a known fault of the reader")
    assert bodies[question]["outcome"] == "ABSTAIN", bodies[question]["sentences"]


def test_nobody_is_told_to_name_a_place_where_there_is_none(bodies: dict[str, Any]) -> None:
    codes = {
        question: {each["code"] for each in bodies[question]["limitations"]}
        for question in UNANSWERED
        if question in bodies
    }
    read = [question for question in codes if "WORDS_NOT_UNDERSTOOD" not in codes[question]]
    assert len(read) >= len(codes) - 2
    assert not [question for question in read if "CLARIFICATION_HELPS" in codes[question]]
