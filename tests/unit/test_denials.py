"""Yes/no questions and the sentences that deny them outright, or something else."""

from __future__ import annotations

import pytest

from ai.text.denials import denies_another, yes_no_of

PEOPLE = ("captain", "head cook", "treasurer", "widow")
DEEDS = ("drinking", "warned", "paid", "late")


def is_denied(question: str, text: str) -> bool:
    return any(each.is_denied_by(text) for each in yes_no_of(question))


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("deed", DEEDS)
def test_a_subject_is_denied_a_deed(who: str, deed: str) -> None:
    question = f"Had the {who} been {deed}?"
    for text in (
        f"The {who} had not been {deed}.",
        f"The {who} was not tired and had not been {deed}.",
        f"The {who} had never been {deed}, as the log shows.",
        f"The {who} hadn't been {deed}; the mate had.",
    ):
        assert is_denied(question, text), text
    for text in (
        f"The {who} had been {deed}.",
        f"The porter had not been {deed}.",
        f"The {who} said that the porter had not been {deed}.",
        f"The {who}'s brother had not been {deed}.",
        f"The {who} had not been {deed} until noon.",
        f"The {who} had not been {deed} by the porter.",
        f"The {who} had not only been {deed}.",
        f"If the {who} had not been {deed}, nothing would have happened.",
        f"The {who} was not tired, and the porter had not been {deed}.",
    ):
        assert not is_denied(question, text), text
    assert yes_no_of(f"Had the {who} not been {deed}?") == ()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Was anyone {} in the fire?", "Nobody was {}."),
        ("Was anybody {}?", "No one has been {}."),
        ("Was any horse {}?", "No horse was {}."),
        ("Was anything {}?", "Nothing was {}."),
    ],
)
@pytest.mark.parametrize("deed", ["killed", "stolen", "sold", "hurt"])
def test_nobody_meets_anybody(question: str, text: str, deed: str) -> None:
    asked = question.format(deed)
    assert is_denied(asked, text.format(deed))
    assert is_denied(asked, text.format(deed)[:-1] + ", but the barn is gone.")
    assert not is_denied(asked, text.format("painted"))
    assert not is_denied(asked, text.format(deed)[:-1] + " on Sundays.")
    assert not is_denied(asked, "Some say that " + text.format(deed))
    assert not is_denied(asked, text.format(deed)[:-1] + " except the cook.")


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("deed", DEEDS)
def test_a_denial_of_another_is_none_of_this_one(who: str, deed: str) -> None:
    text = f"The porter was not tired and had not been {deed}."
    assert denies_another(f"Had the {who} been {deed}?", text, frozenset())
    assert not denies_another(f"Had the porter been {deed}?", text, frozenset())
    assert not denies_another(f"Had the {who} been {deed}?", f"He had not been {deed}.", frozenset())
    assert not denies_another(f"Why had the {who} been {deed}?", text, frozenset())


@pytest.mark.parametrize("verb", ["get", "ask for", "expect", "have"])
@pytest.mark.parametrize("who", ["I", "we", "you", "one", "they"])
def test_a_noun_behind_a_pronoun_and_its_verb_may_be_denied_as_a_deed(who: str, verb: str) -> None:
    text = "Tickets cannot be refunded, but the date can be changed."
    assert not denies_another(f"Can {who} {verb} a refund?", text, frozenset())
    assert denies_another("Can deposits be refunded?", text, frozenset())


@pytest.mark.parametrize("deed", ["killed", "sold"])
def test_a_denial_of_another_event_is_none_of_this_one(deed: str) -> None:
    text, told = f"Nobody was {deed}.", frozenset({"mill", "burn", "fire"})
    assert not denies_another(f"Was anyone {deed} when the mill burned?", text, told)
    assert denies_another(f"Was anyone {deed} when the barn burned?", text, told)
    assert denies_another(f"Was anyone {deed} in the strike?", text, told)


@pytest.mark.parametrize("who", ["company", "harbour board"])
def test_any_may_stand_behind_the_deed(who: str) -> None:
    assert is_denied(f"Did the {who} dismiss anyone?", f"The {who} dismissed nobody.")
    assert is_denied(f"Did the {who} buy any boats?", f"The {who} bought no boats.")
    assert not is_denied(f"Did the {who} dismiss anyone?", f"The union of the {who} blamed nobody.")
    assert not is_denied(f"Did the {who} buy any boats?", f"The {who} bought no nets.")
    assert not is_denied(f"Did the {who} buy any boats?", "The owner bought no boats.")
    assert is_denied("Were there any injuries?", "There were no injuries.")
    assert not is_denied("Were there any injuries?", "There were no deaths.")


@pytest.mark.parametrize(
    "question", ["Who was killed?", "Was nobody killed?", "Was it the cook or the mate?", "Was?", ""]
)
def test_other_questions_are_not_for_yes_or_no(question: str) -> None:
    assert yes_no_of(question) == ()
