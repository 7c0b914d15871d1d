"""A sentence that leaves out the word on which what it keeps hangs: made from templates, each with what is true of it."""

from __future__ import annotations

import pytest

from ai.answer.claims.prose import compare
from ai.answer.claims.tokens import read_tokens


def verdict(said: str, source: str) -> str:
    return compare(read_tokens(said), source, frozenset()).verdict


ONLY_TO = (
    "refused", "planned", "offered", "threatened", "agreed", "hoped", "wanted", "tried", "attempted", "failed",
    "declined", "intended", "promised", "vowed", "prepared", "struggled", "hesitated", "pledged", "applied",
    "expected", "longed", "forgot", "neglected", "wished", "proposed", "was asked", "was unable", "was forbidden",
    "was expected", "was supposed", "was said", "was invited", "was believed", "was rumoured", "was due",
    "was scheduled", "was ready", "was willing", "was permitted", "was allowed", "was ordered", "was reluctant",
    "was about", "was accused of wanting", "had the right", "had a plan", "was too poor", "was never able", "was",
    "has", "is yet", "seems", "was paid not", "began", "used",
)  # fmt: skip
DONE_TO = ("managed", "went on", "helped", "continued", "was the first woman", "was forced")


@pytest.mark.parametrize("lead", ONLY_TO)
@pytest.mark.parametrize("deed", [("open the mill in 1910", "opened the mill in 1910"), ("sell it", "sold it")])
def test_what_one_only_was_to_do_is_not_done(lead: str, deed: tuple[str, str]) -> None:
    assert verdict(f"Mary Lunt {deed[1]}.", f"Mary Lunt {lead} to {deed[0]}.") != "borne_out"


@pytest.mark.parametrize("lead", DONE_TO)
def test_what_one_managed_to_do_is(lead: str) -> None:
    assert verdict("Mary Lunt opened the mill.", f"Mary Lunt {lead} to open the mill.") == "borne_out"


@pytest.mark.parametrize(
    "lead",
    [
        "considered", "avoided", "denied", "opposed", "suggested", "delayed", "regretted", "proposed",
        "was accused of", "dreamed of", "spoke against", "was prevented from", "thought about", "gave up", "talked of",
        "was paid for", "ruled out", "was close to", "insisted on", "was acquitted of", "refrained from",
    ],
)  # fmt: skip
def test_what_one_only_thought_of_doing_is_not_done(lead: str) -> None:
    assert verdict("Mary Lunt opened the mill in 1910.", f"Mary Lunt {lead} opening the mill in 1910.") != "borne_out"


@pytest.mark.parametrize("lead", ["was", "kept", "finished", "became known by"])
def test_what_one_was_doing_is(lead: str) -> None:
    assert verdict("Mary Lunt opened the mill.", f"Mary Lunt {lead} opening the mill.") == "borne_out"


HEADS = (
    "the wife of", "the roof of", "a member of", "some members of", "the clerk of", "one of", "half of", "a copy of",
    "a model of", "the absence of", "the road to", "the village near", "the book about", "the law against",
    "the train from", "the clerk for", "the letter from", "the bridge under", "the wall around", "the house behind",
    "the plan for", "the plan to sell", "the attempt to kill", "the order to burn", "the enemies of",
)  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("thing", ["the mayor", "the old mayor", "the mayors"])
@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("{0} was lost in 1910.", "{0} was lost in 1910."),
        ("In 1910 {0} was lost.", "{0} was lost in 1910."),
        ("Pike painted {0}.", "Pike painted {0}."),
    ],
)
def test_the_wife_of_the_mayor_is_not_the_mayor(head: str, thing: str, form: str, said: str) -> None:
    source, mine = form.format(f"{head} {thing}"), said.format(thing)
    assert verdict(mine[:1].upper() + mine[1:], source[:1].upper() + source[1:]) != "borne_out"


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("In 1910 the mill was sold.", "In 1910 the mill of the mayor was sold."),
        ("The fire reached houses of the poor.", "The fire reached a number of houses of the poor."),
        ("Ann lived in Harle.", "Ann lived in the town of Harle."),
        ("Ann wrote the report.", "Ann, who was 50, wrote the report."),
        ("Pike helped Ann open the mill.", "Pike helped Ann to open the mill."),
        ("The mill was opened by Ann.", "The mill was opened in 1910 by Ann."),
        ("Ann Holt sang there.", "The mill went to Ann Holt, who sang there."),
        ("The fire destroyed 50 houses.", "The fire destroyed a total of 50 houses."),
    ],
)
def test_what_is_meant_may_stand_without_what_holds_it(said: str, source: str) -> None:
    assert verdict(said, source) == "borne_out"


@pytest.mark.parametrize(
    "of",
    ["as many as", "as few as", "some of the", "one of the", "half of the", "a third of the", "most of the", "up to"],
)
def test_a_part_is_not_the_whole(of: str) -> None:
    assert verdict("The fire destroyed 50 houses.", f"The fire destroyed {of} 50 houses in the town.") != "borne_out"
