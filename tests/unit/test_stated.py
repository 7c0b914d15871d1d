"""A sentence that has a question's words, and nothing of the finer kind that it asks for, does not answer. Each wrong
question has a right one beside it."""

from __future__ import annotations

import pytest

from ai.text.meaning.stated import Stated
from ai.text.question_type import gives_reason
from tests.unit.test_one_word_off import answered

ELSEWHERE = "The office is closed on Sundays."
PAIRS = [
    # a time of day, and a date
    (
        "At what time of day did the boat leave Tarn?",
        "The boat left Tarn at half past six.",
        "The boat left Tarn on 3 June.",
    ),
    ("What time does the gate close?", "The gate closes at 9.30.", "The gate closes in June."),
    # a year, and a time without one
    ("In which years did Oda Bruun winter in Tarn?", "Oda Bruun wintered in Tarn in 1911 and 1913.",
     "Oda Bruun, who had wintered in Tarn twice, led the party."),
    ("In what year was the roof of the mill replaced?", "The roof of the mill was replaced in 1911.",
     "In recent years the roof of the mill was replaced."),
    # since when, and a number of days
    ("Since when has Ida Lunt been treasurer?", "Ida Lunt has been treasurer since 2011.",
     "Bills are paid after 30 days rather than 90, as the treasurer, Ida Lunt, asked."),
    # a sum, and another number
    ("What fee did the surgeon at Tarn ask for?", "The surgeon at Tarn asked for a fee of £4.",
     "The surgeon at Tarn asked which hospital had taken the fee."),
    ("What did the bureau charge for the maps?", "The bureau charged £300 for the maps.",
     "The maps were drawn in 3 weeks by the bureau, which is in charge of them."),
    ("How much is parking at Colvin Point?", "Parking at Colvin Point costs £4.",
     "Parking at Colvin Point is limited to 3 hours."),
    ("How much was the aid to Tarn?", "The aid to Tarn was $2.2 billion.", "The aid to Tarn took 3 weeks."),
    # a colour, and none
    ("What colour are the eyes of the toad?", "The colour of the eyes of the toad is yellow.",
     "Behind the eyes of the toad is a patch."),
    # what it is of, from, with
    ("What did Honor Bruun die of?", "Honor Bruun died of a fever.", "Honor Bruun died in 2016."),
    ("What was the lamp made of?", "The lamp was made of brass.", "The lamp, one of the first, was made in 1911."),
    # how it came about
    ("How did Ilona Szabo break her wrist?", "Ilona Szabo broke her wrist by falling from a horse.",
     "The hall of 1908 was closed; then Ilona Szabo broke her wrist; and then came the war."),
    # a number of the text's own
    ("How much may be claimed for laundry?", "4.3 For laundry £20 may be claimed.",
     "4.3 Laundry may be claimed after five nights."),
    # another number before the same noun
    ("What is the charge for a two-bedroom flat?", "The charge for a two-bedroom flat is £90.",
     "The charge for a one-bedroom flat is £70."),
    # a name, and the thing alone
    ("Who made the oak clock?", "The oak clock was made by Ida Lunt.",
     "Ida Lunt said that the loss of the oak clock had hurt her."),
    ("Which three counties can be seen from the hill?", "From the hill you can see the counties of Marl, Tarn and Hale.",
     "From the hill three counties can be seen."),
    # a place, and what is none
    ("Where does the bus from Tarn stop?", "The bus from Tarn stops outside the smithy.", "The bus from Tarn stops."),
    # a side with the amount, and one with the matter
]  # fmt: skip


@pytest.mark.parametrize(("question", "right", "wrong"), PAIRS)
def test_what_a_question_asks_for_is_stated(question: str, right: str, wrong: str) -> None:
    assert answered(right, question, ELSEWHERE)
    assert not answered(wrong, question, ELSEWHERE)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("We hope to put this right in January.", False),
        ("It had to be mended.", False),
        ("The screen is dark, and they plan to change it.", False),
        ("It was closed to save money.", True),
        ("They switched in protest against the war.", True),
        ("Knowing that the king was hostile, they left.", True),
        ("It was late, due to the weather.", True),
    ],
)
def test_what_somebody_hopes_to_do_is_no_reason(text: str, given: bool) -> None:
    assert gives_reason(text) is given


@pytest.mark.parametrize(
    ("question", "other", "right"),
    [
        ("How long is the whale?", "It is 5.1 metres high.", "It is 5.1 metres long."),
        ("How wide is the lake?", "The lake is 65 m deep.", "The lake is 65 m deep and 300 m wide."),
        ("How high is the bridge?", "The bridge has a length of 30 m.", "The bridge is 30 m above the water."),
        ("How long is the beach?", "The beach is a ten-minute walk along the dune path.", "The beach runs for 2 km."),
        ("How many ports has the server?", "Start the server: `serve --port 7420`.", "The server has 4 ports."),
        ("How many rooms has the inn?", "Keys are kept in room 12.", "On floor 2 are 7 rooms."),
    ],
)
def test_a_number_of_another_measure_is_none(question: str, other: str, right: str) -> None:
    """A reader that takes the number for the answer has read another one."""
    for read in (True, False):
        assert not Stated.of(question).agrees(other, read=read)
        assert Stated.of(question).agrees(right, read=read)
