"""Questions for a thing of a kind, a name, an amount in a unit, the first or the last of several: a sentence that holds
their other words and nothing of what is asked for does not answer. Each wrong question has a right one beside it."""

from __future__ import annotations

import itertools

import pytest

from ai.text.question_type import gives_reason
from tests.unit.test_one_word_off import answered

KINDS = ("firm", "company", "contractor", "society", "college", "museum", "club", "brewery", "agency")
DEEDS = (("repaired", "repair"), ("replaced", "replace"), ("painted", "paint"), ("sold", "sell"), ("built", "build"))
THINGS = ("roof of the mill", "bridge at Tarn", "old lighthouse", "clock of the chapel")


@pytest.mark.parametrize(("kind", "deed", "thing"), [*itertools.product(KINDS, DEEDS, THINGS)])
def test_who_of_a_kind_did_it_is_told_by_a_name_or_as_one(kind: str, deed: tuple[str, str], thing: str) -> None:
    past, _ = deed
    elsewhere = f"A {kind} has its office in the harbour."
    question = f"Which {kind} {past} the {thing}?"
    assert answered(f"The {thing} was {past} by the {kind} Halden Brothers in 1904.", question, elsewhere)
    assert answered(f"Halden Brothers {past} the {thing} in 1904.", question, elsewhere)
    assert not answered(f"The {thing} was {past} before the war.", question, elsewhere)
    assert not answered(f"In 1904 the {thing} had to be {past} at last.", question, elsewhere)


@pytest.mark.parametrize(
    ("asked", "right", "wrong"),
    [
        ("How large was the grant in euros?", "The grant was 4,000 euros.", "The grant was cut by eight per cent."),
        ("How large was the grant in euros?", "The grant was 4,000 euros.", "The grant was 3 years late."),
        ("How long is the hall in metres?", "The hall is 40 metres long.", "The hall was closed as long as 40 days."),
        ("How much was the loan in pounds?", "The loan was 900 pounds.", "The loan was paid within 30 days."),
        (
            "What does a hot drink cost?",
            "A hot drink costs £2.",
            "A machine sells 4 kinds of hot drink at no small cost.",
        ),
        ("What is the fine for a lost card?", "The fine for a lost card is £5.", "A lost card is told to the bank."),
        ("On which day is the market held?", "The market is held on Friday.", "The market is held in the square."),
    ],
)
def test_an_amount_is_of_what_is_asked_for(asked: str, right: str, wrong: str) -> None:
    elsewhere = "Fines, costs, euros, pounds and metres are words; one month has a day for rent."
    assert answered(right, asked, elsewhere)
    assert not answered(wrong, asked, elsewhere)


ORDERS = ("first", "last", "next")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("noun", ["bus", "ferry", "keeper", "director", "concert"])
def test_the_first_the_next_and_the_last_are_others(order: str, noun: str) -> None:
    elsewhere = "First things come first, the next ones next, and the last ones last."
    question = f"When does the {order} {noun} leave Selby?"
    assert answered(f"The {order} {noun} leaves Selby at 9.30 pm.", question, elsewhere)
    assert not answered(f"The {noun} leaves Selby at 9.30 pm.", question, elsewhere)
    for other in ORDERS:
        if other != order:
            assert not answered(f"The {other} {noun} leaves Selby at 9.30 pm.", question, elsewhere), other


def test_the_last_but_one_is_not_the_last() -> None:
    for asked in ("second-to-last", "last but one", "penultimate"):
        assert not answered("The last keeper was Miriam Oakes.", f"Who was the {asked} keeper?", f"Word: {asked}.")
    assert answered("The penultimate keeper was Miriam Oakes.", "Who was the penultimate keeper?")


@pytest.mark.parametrize("word", ["largest", "oldest", "tallest", "strongest", "most expensive"])
def test_a_superlative_is_told_by_one(word: str) -> None:
    question = f"Who owns the {word} boat?"
    elsewhere = f"What is {word} is not always good."
    assert answered(f"The {word} boat is owned by Ida Holm.", question, elsewhere)
    assert not answered("The boat is owned by Ida Holm.", question, elsewhere)


@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        (
            "The council lent the guild £40,000.",
            "How much did the council lend to the guild?",
            "How much did the guild lend to the council?",
        ),
        (
            "The results are sent every month to the archive.",
            "To whom are the results sent?",
            "What does the archive send to the observatory?",
        ),
        ("Oda gave the pear to the kitchen.", "What did Oda give to the kitchen?", "What did the kitchen give to Oda?"),
        (
            "The mayor paid the baker £40.",
            "How much did the mayor pay the baker?",
            "How much did the baker pay the mayor?",
        ),
    ],
)
def test_who_gets_is_not_who_gives(said: str, right: str, wrong: str) -> None:
    elsewhere = "The observatory is a kitchen, a guild, a baker and an archive."
    assert not answered(said, wrong, elsewhere)
    if "whom" not in right:
        assert answered(said, right, elsewhere)


@pytest.mark.parametrize(
    ("text", "gives"),
    [
        ("The lid stays shut, as cold air may crack the pots.", True),
        ("The lid stays shut because of the cold.", True),
        ("They moved to save money.", True),
        ("After the fire they moved.", True),
        ("It was founded by Ann Berg, who retired two years ago.", False),
        ("She sold it to her assistant for £400.", False),
        ("The hall is used by the choir from noon.", False),
    ],
)
def test_a_preposition_alone_is_no_reason(text: str, gives: bool) -> None:
    assert gives_reason(text) is gives


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("The mayor was Miriam Oakes.", "Who was the mayor?"),
        ("The rent is paid on the 3rd of each month.", "When is the rent paid?"),
        (
            "The solar panels cover a third of our electricity.",
            "How much of the electricity do the solar panels cover?",
        ),
        ("We took in 960 animals, of which 642 were cats.", "How many cats were taken in?"),
        ("The tower stands 610 metres above the sea.", "How high above the sea does the tower stand?"),
        ("The kettle was bought from a closed dairy.", "Where was the kettle bought from?"),
        ("Claims must be approved by your line manager.", "Who has to approve claims?"),
        ("The council lent us £40,000.", "How much money did the council lend?"),
        ("The lens was ground in Vienna.", "In which city was the lens ground?"),
        ("Rehearsals are held in the church hall.", "Where do the rehearsals take place?"),
        ("The lid is not opened hot, as cold air may crack the pots.", "Why is the lid not opened hot?"),
    ],
)
def test_what_is_said_in_other_words_is_found(said: str, question: str) -> None:
    assert answered(said, question)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("The hall is still being rewired.", "Who is rewiring the hall?"),
        ("The depot, which was opened in 1934, will be enlarged.", "When will the depot be opened?"),
        ("The roof was repaired half a year ago.", "How much of the roof was repaired?"),
        ("Of the animals 642 were dogs.", "How many animals were cats?"),
        ("The kettle was bought by a closed dairy.", "Where was the kettle bought from?"),
        ("Claims must be approved within 3 days.", "Who has to approve claims?"),
        ("The path has been reopened after Sir Giles gave up, to Nether Thessing.", "Why did Sir Giles give up?"),
    ],
)
def test_what_only_seems_to_be_said_is_not(said: str, question: str) -> None:
    assert not answered(said, question, "Cats, dogs and dairies rewire the depot.")
