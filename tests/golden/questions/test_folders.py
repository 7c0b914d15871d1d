"""Folders of short documents as users have them, each with questions that were written before any was asked: what has no
answer gets none, and of the others hardly fewer are answered than when this was written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.golden.questions.folders.run import HERE, asked_of
from tests.golden.questions.prose.run import verdict

ANSWERED = {
    "first": 37,
    "second": 39,
    "third": 36,
    "fourth": 42,
    "fifth": 37,
    "sixth": 60,
    "seventh": 54,
    "eighth": 39,
    "ninth": 49,
    "tenth": 41,
    "eleventh": 40,
    "twelfth": 83,
    "thirteenth": 68,
    "fourteenth": 29,
}
"""Questions of each set with the answer among their sentences."""
FEWER = 1
STILL_FALSE = {
    "How many people does the hall in Castle Street seat?",
    "Within how many days do I have to make a complaint?",
    "What illness did Mayor Rake have?",
    "Who is rewiring the village hall?",
    "Who looked after the canal before the trust?",
    "What was the Heron made of?",
    "How many people worked at the plant when she retired?",
    "which banks turned her down",
    "How much money did Margit lend to her sister?",
    "How many children are there in the Oaks room?",
    "How do I change the administrator's code?",
}
"""Known faults. The last seven are of the fourteenth set, by which no rule was written."""


@pytest.mark.parametrize("which", ANSWERED)
async def test_what_a_folder_does_not_say_is_not_answered(which: str, tmp_path: Path) -> None:
    told: Counter[str] = Counter()
    false = []
    for folder in sorted((HERE / which).iterdir()):
        for question, said in await asked_of(folder, tmp_path / folder.name):
            told[verdict(question, said)] += 1
            if verdict(question, said) == "false" and question.text not in STILL_FALSE:
                false.append((question.text, said))
    assert false == []
    assert told["rightly none"] >= 20
    assert told["right"] + told["partly"] >= ANSWERED[which] - FEWER
