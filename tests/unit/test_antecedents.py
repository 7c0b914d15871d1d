"""Whom a sentence with a pronoun speaks of, by those before it."""

from __future__ import annotations

from itertools import permutations

import pytest

from ai.text.meaning.antecedents import Antecedent
from ai.text.meaning.meant import Meant

MEN = ("Isak Mohr", "Jens Falk", "Carl Roth", "Dr Paul Rook", "Walter Kerr")
LEADS = (
    "{one} founded the bank in 1848. Two years later {other} became its director.",
    "{one} painted ships. The critic {other} bought nine of them.",
    "{one} kept the school for thirty years. In 1902 his rival {other} came from Leeds.",
    "{one} brought the ship to the bar. The pilot, {other}, came aboard at six.",
    "{one} built the fort. {other} laid out the square. The work was slow.",
)
TOLD = ("He moved it to Bergen.", "In 1851 he moved to Bergen.", "His move to Bergen came in 1851.")


def follows(question: str, before: str, text: str) -> bool:
    """Whether the sentence speaks of the one asked about."""
    sentences = [f"{each.rstrip('.')}." for each in before.replace("Dr ", "Dr_").split(". ")]
    sentences = [each.replace("Dr_", "Dr ") for each in sentences]
    return Meant.of(question, frozenset()).follows(text, sentences)


@pytest.mark.parametrize("lead", LEADS)
def test_a_pronoun_means_the_nearest_subject(lead: str) -> None:
    for (one, other), text in ((pair, text) for pair in permutations(MEN, 2) for text in TOLD):
        before = lead.format(one=one, other=other)
        question = "When did {} move to Bergen?"
        assert not follows(question.format(one), before, text), (one, before, text)
        assert follows(question.format(other), before, text), (other, before, text)
        assert follows(question.format(one), before, f"{one} moved to Bergen."), before


@pytest.mark.parametrize(
    ("question", "before", "text"),
    [
        ("When did Anna Weir sail?", "Anna Weir was born in Cork. Her father was a carter.", "In 1881 she sailed."),
        ("When did Peter Hale move?", "Peter Hale was a boy. His father Amos Hale was a cooper.", "He moved in 1840."),
        ("When did Lotte Frei retire?", "Lotte Frei read the news. Her producer was Max Gull. He spoke well.", "She retired in 1971."),
        ("Whom did Otto Lenz teach?", "Otto Lenz played. When the priest died, Otto Lenz wrote a mass.", "He taught the boys."),
        ("When did Emil Sand die?", "Emil Sand painted. Tea was served in the garden.", "He died in 1890."),
        ("When did Emil Sand die?", "Emil Sand painted. The Alder sank in May.", "He died in 1890."),
        ("When did Emil Sand die?", "Emil Sand painted. Norway was at war in 1905.", "He died in 1890."),
        ("When did Emil Sand die?", "Emil Sand met Carl Roth in Berlin.", "He died in 1890."),
        ("When did Emil Sand die?", "E. Sand painted. He lived in Fold.", "He died in 1890."),
        ("When did Zoë Blanc sing?", "Zoe Blanc came from Lyon.", "She sang in 1903."),
        ("What did the bakers swear?", "The bakers met in the Lion.", "They swore to hold the price."),
        ("What did the bakers swear?", "The bakers met in the Lion. The doors were shut.", "The bakers swore an oath."),
        ("What was sold?", "Carl Roth died. Emil Sand came.", "He sold the brushes."),
        ("When did Emil Sand sell it?", "Carl Roth died.", "When the war came, I sold it for him."),
    ],
)  # fmt: skip
def test_where_it_is_not_plain_it_may_mean_whom_it_likes(question: str, before: str, text: str) -> None:
    assert follows(question, before, text)


@pytest.mark.parametrize(
    ("question", "before", "text"),
    [
        ("Where did Agnes Kerr drown?", "Agnes Kerr kept the school. Her cousin Walter Kerr went to sea.", "He drowned."),
        ("Where did Agnes Kerr drown?", "Agnes Kerr's cousin Walter Kerr went to sea.", "He drowned off Iceland."),
        ("What did Emil Sand leave?", "Emil Sand was taught by Carl Roth. Roth died in 1890.", "He left his brushes."),
        ("What did Emil Sand hang in the hall?", "Emil Sand came late. Carl Roth was a critic. He was rich.", "He hung a map in the hall."),
        ("What did the bakers swear?", "The bakers met in the Lion. The millers met in the church.", "They swore."),
    ],
)  # fmt: skip
def test_here_it_plainly_means_another(question: str, before: str, text: str) -> None:
    assert not follows(question, before, text)


@pytest.mark.parametrize(("one", "other"), [*permutations(("father", "uncle", "grandfather"), 2)])
def test_my_father_is_not_my_uncle(one: str, other: str) -> None:
    said = (f"My {other} Thomas Harker was too young", f"After the war my {one} came home", "He bought a cart")
    before, text = ". ".join(said), "In 1923 he opened a shop."
    assert not follows("When did Thomas Harker open a shop?", before, text)
    assert follows("When did Edmund Harker open a shop?", before, text), "he may be the one"
    assert follows("When did Thomas Harker open a shop?", before.replace(f"my {one}", f"my {other}"), text)
    assert follows("When did Thomas Harker open a shop?", before.replace(f"my {one}", "my mother"), text)


@pytest.mark.parametrize("deed", ["set the timer", "open the lid", "change the tyre"])
def test_who_asks_for_himself_asks_of_nobody_by_name(deed: str) -> None:
    """`Hold Prog` begins like a name: what the reader is told to do is no deed of another."""
    for question in (f"How do I {deed}?", f"When can I {deed}?"):
        assert Antecedent.of(question).name == ()
