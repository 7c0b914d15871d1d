"""A sentence that takes words out of a question, a condition, a tale, or what somebody thinks, says or denies."""

from __future__ import annotations

import pytest

from ai.answer.claims.prose import compare
from ai.answer.claims.tokens import read_tokens

DEED = "Mary Lunt opened the mill in 1910"
UNREAL = (
    "If Mary Lunt had opened the mill in 1910, the town would have grown.",
    "Had Mary Lunt opened the mill in 1910, the town would have grown.",
    "Did Mary Lunt open the mill in 1910?",
    "Unless {0}, nobody did.",
    "Nobody believes that {0}.",
    "Few believe {0}.",
    "Some say {0}.",
    "It is a myth that {0}.",
    "It is false that {0}.",
    "It is unclear whether {0}.",
    "There is no evidence that {0}.",
    "The rumour that {0} was false.",
    "The claim that {0} has been disproved.",
    "In the novel, {0}.",
    "In a popular film, {0}.",
    "According to legend, {0}.",
    "John Pike dreamed that {0}.",
    "John Pike wrongly wrote that {0}.",
    "John Pike feared {0}.",
    "John Pike asked whether {0}.",
    "John Pike imagined how {0}.",
    "John Pike asked if {0}.",
    "Suppose {0}.",
    "Perhaps {0}.",
    "“{0},” John Pike joked.",
    '"{0}", wrote John Pike.',
    "{0}, or so John Pike said.",
    "{0}, John Pike claimed.",
    "{0}, the clerk believed.",
    "{0}, the story goes.",
    "{0}; but this is false.",
    "{0} if the council paid.",
    "{0}, unless the council lies.",
    "{0}, provided that the books are right.",
    "If the council paid, {0}.",
    "Should the books be right, {0}.",
)
REAL = (
    "The books show that {0}.",
    "It is true that {0}.",
    "It is known that {0}.",
    "The town was so poor that {0}.",
    "John Pike paid and {0}.",
    "John Pike feared the mayor, and {0}.",
    "In the spring, {0}.",
    "{0}, even if nobody came.",
    "{0}; if it rains, the cellar floods.",
    "{0}, and the clerk said that it was late.",
    "{0}, which pleased those who believed in her.",
)


def verdict(said: str, source: str) -> str:
    return compare(read_tokens(said), source, frozenset()).verdict


@pytest.mark.parametrize("form", UNREAL)
@pytest.mark.parametrize("said", [f"{DEED}.", "Mary Lunt opened the mill.", "In 1910 Mary Lunt opened the mill."])
def test_what_is_not_stated_is_not_borne_out(form: str, said: str) -> None:
    assert verdict(said, form.format(DEED)) != "borne_out"


@pytest.mark.parametrize("form", REAL)
def test_what_is_stated_is(form: str) -> None:
    assert verdict(f"{DEED}.", form.format(DEED)) == "borne_out"


@pytest.mark.parametrize("form", UNREAL)
def test_the_whole_bears_itself_out(form: str) -> None:
    source = form.format(DEED)
    assert verdict(source, source) == "borne_out"


LIMITS = (
    ("Dogs are allowed in the garden if they are on a lead.", "Dogs are allowed in the garden."),
    ("Dogs are allowed in the garden except in May.", "Dogs are allowed in the garden."),
    ("All counties except Ness voted for the railroad.", "All counties voted for the railroad."),
    ("Everyone but for the miller left the town.", "Everyone left the town."),
    ("The fee is paid back, unless the ticket was used.", "The fee is paid back."),
    ("With the exception of the roof, the mill was rebuilt.", "The mill was rebuilt."),
    ("The pump runs as long as the valve is open.", "The pump runs."),
    ("Members may vote provided they have paid.", "Members may vote."),
    ("Apart from the chapel, the abbey was destroyed.", "The abbey was destroyed."),
    ("If the lamp is red, call the office at once.", "Call the office at once."),
)


@pytest.mark.parametrize(("source", "said"), LIMITS)
def test_a_condition_or_an_exception_is_not_left_out(source: str, said: str) -> None:
    assert verdict(said, source) != "borne_out"
    assert verdict(source, source) == "borne_out"
