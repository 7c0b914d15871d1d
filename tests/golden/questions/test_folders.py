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
    "tenth": 56,
    "eleventh": 40,
    "twelfth": 83,
    "thirteenth": 68,
    "fourteenth": 29,
    "fifteenth": 28,
    "sixteenth": 31,
    "seventeenth": 21,
    "eighteenth": 44,
    "nineteenth": 10,
    "twentieth": 12,
    "twentyfirst": 6,
    "twentysecond": 5,
}
"""Questions of each set with the answer among their sentences."""
FEWER = 1
STILL_FALSE = {
    "What is the telephone number of the support desk?",
    "At which school did Mrs Bunting teach maths?",
    "How many of the faces have the volunteers been able to name?",
    "How many people does the hall in Castle Street seat?",
    "Within how many days do I have to make a complaint?",
    "What illness did Mayor Rake have?",
    "Who looked after the canal before the trust?",
    "How many people worked at the plant when she retired?",
    "which banks turned her down",
    "How much money did Margit lend to her sister?",
    "How many children are there in the Oaks room?",
    "How do I change the administrator's code?",
    "Who has been nominated to succeed Mr Achebe?",
    "Whom did the cook marry?",
    "What colour is used for overtime?",
    "What's the name of the Denholms' daughter?",
    "How much is parking at Colvin Point?",
    "Who emptied the lower field with a siphon in 2018?",
    "What's the code for the main gate?",
    "When was the timber bridge built?",
    "how many families live in Mill Cottages",
    "Which clubs did the first team draw with?",
    "What made the pipe burst?",
    "who will make the sandwiches next season",
    "What was the retoucher at Harcourt's called?",
    "What were the men usually paid for washing sheep?",
    "Who founded the Ramblers' group of Whitcombe?",
    "Please could you tell me the name of the pig farmer who gets the spent grain?",
    "Which club won the Northern Counties Second Division?",
    "What caused the power cut in May?",
    "Why is Mr Oyelaran moving to Portugal?",
    "which club did stefan kowalczyk play for before 2003",
    "When did Mr Gillespie come to Skerra Head?",
    "On which light did Mr Gillespie serve before this one?",
    "What does Marisa charge for a ribbon?",
    "which club won the cup the year before stourbeck",
    "What colour is the umpire's launch?",
    "On which date did the main burst before 17 January?",
    "How much do passengers have to pay the driver?",
    "How much is the adoption fee for cats?",
    "how long would a second operation after a torn bag take",
    "Where did he give the lecture of 1994?",
    "How much did the carpet in the common room cost?",
    "how long was the anchor cable that parted",
    "In which town were Agnes and Peter Lund married?",
    "How many hours did the volunteers spend on training?",
    "How heavy are the sandbags that the regatta supplies?",
}
"""Known faults, nearly all of the sets from the twelfth on, which are by other hands; by the eighteenth no rule was written."""
FALSE = {"nineteenth": 19, "twentieth": 13, "twentyfirst": 11, "twentysecond": 12}
"""Near misses that words answer, of sets by which no rule of words was made."""


@pytest.mark.parametrize("which", ANSWERED)
async def test_what_a_folder_does_not_say_is_not_answered(which: str, tmp_path: Path) -> None:
    told: Counter[str] = Counter()
    false = []
    for folder in sorted((HERE / which).iterdir()):
        for question, said in await asked_of(folder, tmp_path / folder.name):
            told[verdict(question, said)] += 1
            if verdict(question, said) == "false" and question.text not in STILL_FALSE:
                false.append((question.text, said))
    assert len(false) <= FALSE.get(which, 0), false
    assert told["rightly none"] >= 20
    assert told["right"] + told["partly"] >= ANSWERED[which] - FEWER
