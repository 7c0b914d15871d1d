"""What the sentence beside it says otherwise, asked through the whole product: what is believed comes with the sentence
that denies it, an ellipsis with the one that it completes, and what is said of another thing not at all; beside each its
twin, which is answered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

WORKS = """# The Brannock works

## Lockers

The drills and the sanders are stored in the green cabinet overnight. The laser cutter is not; it stays under its hood.
Apprentices eat in the canteen free of charge. The price for everyone else is £4.50 a meal. A lathe and three grinders
were sold at auction; the grinders were later returned by the buyer. The crane was inspected in March, and the hoists
were replaced in June.

## Talk

Many fitters say that goose grease stops rust. The laboratory found no evidence of it. Some of the older hands believe
that the boiler house is haunted. Mrs Dell hopes that a new kiln will be bought next year. The report says that the
repair of the weir cost £9,200. Mr Okoro offered to paint the gates. Mrs Lund painted the railings in April.

## Hours

The tool store opens at half past six. The first-aid room is closed on Saturdays. The paint shop is open from eight to
four.
"""
SCHOOL = """The Ferrin Letter, autumn number

Pupils of the lower school may borrow the violins without charge. The rent for all others is 12 francs a term. The choir
robes and the banners are washed in June. The velvet curtain is not, because it would shrink.

Many parents believe that the school bus will be stopped. The canton has denied this. The caretaker believes that the
bell was cast in Ulm. A geologist, Dr Reto Frame, believes that the cave is 900 years old.

A flute and two trumpets were lost on the journey, and the trumpets were found in Chur. The swimming bath is closed on
Mondays. The library opens at ten.
"""
ASKED: Mapping[str, tuple[str, Mapping[str, tuple[str, ...] | None]]] = {
    "works.md": (
        WORKS,
        {
            "Is the laser cutter stored in the green cabinet overnight?": ("sanders are stored", "cutter is not"),
            "Are the sanders stored in the green cabinet overnight?": ("sanders are stored",),
            "Is the laser cutter insured?": None,
            "How much do apprentices pay for a meal?": None,
            "How much do visitors pay for a meal?": ("£4.50",),
            "Who returned the lathe?": None,
            "Who returned the grinders?": ("the buyer",),
            "When was the crane replaced?": None,
            "When were the hoists replaced?": ("June",),
            "Does goose grease stop rust?": ("Many fitters say", "no evidence"),
            "Is the boiler house haunted?": None,
            "Who believes that the boiler house is haunted?": ("older hands",),
            "Will a new kiln be bought?": None,
            "What did the repair of the weir cost?": ("£9,200",),
            "Who offered to paint the gates?": ("Okoro",),
            "Who painted the railings?": ("Lund",),
            "When does the first-aid room open?": None,
            "When does the tool store open?": ("half past six",),
            "When does the paint shop close?": ("to four",),
        },
    ),
    "letter.txt": (
        SCHOOL,
        {
            "How much do pupils of the lower school pay for the violins?": None,
            "Is the velvet curtain washed in June?": ("robes and the banners are washed", "curtain is not"),
            "When are the choir robes washed?": ("June",),
            "Will the school bus be stopped?": ("Many parents believe", "denied this"),
            "What do many parents believe about the school bus?": ("school bus",),
            "Was the bell cast in Ulm?": None,
            "How old is the cave?": ("900 years",),
            "Where was the flute found?": None,
            "Where were the trumpets found?": ("Chur",),
            "When does the swimming bath open?": None,
            "When is the swimming bath closed?": ("Mondays",),
            "When does the library open?": ("ten",),
        },
    ),
}


@pytest.mark.parametrize("name", ASKED)
async def test_what_is_said_otherwise(tmp_path: Path, name: str) -> None:
    text, questions = ASKED[name]
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / name).write_text(text, encoding="utf-8")
    await ingest(tmp_path / "home", paths=[folder], label="public")
    wrong = []
    async with opened(tmp_path / "home") as system:
        for question, due in questions.items():
            body = await ask(system, question)
            answer = body["answer"] if body["outcome"] == "ANSWER" else ""
            if (due is None and answer) or any(words not in answer for words in due or ()):
                wrong.append((question, due, answer))
    assert wrong == []
