"""Whoever did it, without a name; where something is beside another; what a pronoun after the verb means; and amounts that
a pronoun's sentence states. Sentences are generated from verbs, doers and things; each is asked of rightly and wrongly."""

from __future__ import annotations

import pytest

from ai.text.sentences import split_sentences
from retrieval.english.stems import IRREGULAR, root_of
from retrieval.model import Intent
from tests.unit.test_extractive import an_item, ask

NONE = ["The sources do not answer this question."]
VERBS = {  # past, participle
    "built": "built",
    "painted": "painted",
    "repaired": "repaired",
    "chose": "chosen",
    "sold": "sold",
    "rebuilt": "rebuilt",
    "withdrew": "withdrawn",
    "washed": "washed",
}
THINGS = ("boathouse", "flag", "organ")
DOERS = (
    "the weavers",
    "a mechanic from Torn",
    "volunteers",
    "everyone",
    "a tall teacher",
    "retired railway workers",
    "two teachers",
)
NOBODY = (
    "",
    " by hand",
    " by 1934",
    " by means of ropes",
    " by the end of May",
    " by then",
    " by two metres",
    " by nine votes",
    " by 12 May",
    " in the harbour",
)


@pytest.mark.parametrize("past", VERBS)
@pytest.mark.parametrize("doer", DOERS)
def test_a_doer_without_a_name_is_one(past: str, doer: str) -> None:
    for n, thing in enumerate(THINGS):
        other = THINGS[n - 1]
        said = [
            f"The {thing} was {VERBS[past]} in 1934 by {doer}.",
            f"{doer[0].upper()}{doer[1:]} {past} the {thing} in a week.",
            f"The {thing} leaked; {doer} {past} it within a week.",
        ]
        for text in said:
            item = an_item(f"{text} The mayor of the village came to see it.", 1)
            assert text in " ".join(ask(f"Who {past} the {thing}?", item)), text
            assert ask(f"Who {past} the {other}?", item) == NONE
            assert ask(f"Who burnt the {thing}?", item) == NONE


@pytest.mark.parametrize("past", VERBS)
@pytest.mark.parametrize("nobody", NOBODY)
def test_what_says_no_doer_answers_nobody(past: str, nobody: str) -> None:
    for thing in THINGS:
        for text in (
            f"The {thing} was {VERBS[past]}{nobody}.",
            f"They {past} the {thing}{nobody}.",
            f"After that it was {VERBS[past]}{nobody}, and the {thing} was shown.",
        ):
            assert ask(f"Who {past} the {thing}?", an_item(text, 1)) == NONE, text


@pytest.mark.parametrize("may", ["can", "may", "must", "should", "cannot", "must not"])
def test_who_may_and_who_may_not(may: str) -> None:
    text = f"Visitors without a badge {may} open the gate."
    denied = {"can": "cannot", "must": "must not"}.get(may)
    assert ask(f"Who {may} open the gate?", an_item(text, 1)) == [f"{text} [1]"]
    assert ask(f"Who {may} paint the gate?", an_item(text, 1)) == NONE
    assert ask(f"Who {may} open the window?", an_item(text, 1)) == NONE
    if denied is not None:
        assert ask(f"Who {denied} open the gate?", an_item(text, 1)) == NONE


@pytest.mark.parametrize(
    "place",
    ["next to the door", "opposite the kiosk", "in front of the mill", "behind the silo", "at gate 2", "in room 14",
     "at the end of the corridor", "between the lifts"],
)  # fmt: skip
def test_where_something_is_beside_another(place: str) -> None:
    item = an_item(f"The emergency shower is {place}. The alarm is tested in May.", 1)
    assert ask("Where is the emergency shower?", item) == [f"The emergency shower is {place}. [1]"]
    assert ask("Where is the alarm?", item) == NONE
    assert ask("Where is the emergency ladder?", item) == NONE


@pytest.mark.parametrize("amount", ["in about 20 minutes", "on 12 May", "in 14 days", "since 1934"])
def test_an_amount_is_no_place(amount: str) -> None:
    assert ask("Where is the shower tested?", an_item(f"The shower is tested {amount}.", 1)) == NONE


@pytest.mark.parametrize(
    ("question", "states"),
    [("How hot is the dryer?", "It runs at 65 °C."), ("How heavy is the dryer?", "It weighs 900 kg without its door."),
     ("How high is the dryer?", "It is 4 metres high and painted red.")],
)  # fmt: skip
def test_what_a_pronoun_measures(question: str, states: str) -> None:
    item = an_item(f"The dryer was bought in 2011. {states}", 1)
    assert ask(question, item) == ["The dryer was bought in 2011. [1]", f"{states} [1]"]
    assert ask(question.replace("dryer", "roller"), item) == NONE
    apart = an_item(f"The dryer was bought in 2011.\n\n{states}", 1)
    assert ask(question, apart) == NONE
    assert ask(question, an_item("The dryer was bought in 2011. It dries for three hours.", 1)) == NONE


def test_an_order_on_it_means_what_was_named_before() -> None:
    item = an_item("Raw chicken is kept at 4 °C. Let it thaw in the lower part of the refrigerator.", 1)
    assert ask("Where should the chicken thaw?", item) == [
        "Raw chicken is kept at 4 °C. [1]",
        "Let it thaw in the lower part of the refrigerator. [1]",
    ]
    assert ask("Where should the butter thaw?", item) == NONE
    alone = an_item("Let it thaw in the lower part of the refrigerator.", 1, title="Chicken")
    assert ask("Where should the chicken thaw?", alone) == NONE


def test_there_are_leans_on_nothing() -> None:
    item = an_item("Bus 14 stops at the gate. There are 60 parking spaces behind the smithy.", 1)
    assert ask("How many parking spaces are there?", item) == ["There are 60 parking spaces behind the smithy. [1]"]


@pytest.mark.parametrize("unit", ["4 °C", "75 ° C", "12 °F", "3 h", "5 m", "2 l", "40 g"])
def test_a_unit_ends_a_sentence(unit: str) -> None:
    text = f"It is kept at {unit}. Let it stand."
    assert [text[s.start : s.end] for s in split_sentences(text)] == [f"It is kept at {unit}. ", "Let it stand."]


@pytest.mark.parametrize(
    "text", ["In 1859 A. Lincoln came.", "Ask J. Smith.", "Plan C. Meyer drew.", "See vitamin D. It"]
)
def test_an_initial_does_not(text: str) -> None:
    assert len(split_sentences(text)) == 1


def test_irregular_forms_share_a_root() -> None:
    families: dict[str, set[str]] = {}
    for word, base in IRREGULAR.items():
        families.setdefault(base, set()).add(root_of(word))
    assert [base for base, roots in families.items() if len(roots) > 1] == []
    assert root_of("rebuilt") == root_of("rebuilding") == root_of("rebuild")
    assert root_of("withdrawn") == root_of("withdraws")


def test_a_question_without_an_item_is_not_answered() -> None:
    assert ask("Who built it?", intent=Intent()) == NONE
