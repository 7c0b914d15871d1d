"""A question one word off: the contrary of a word, or a name that begins alike. Sentences are generated from all pairs."""

from __future__ import annotations

import pytest

from retrieval.english.opposites import OPPOSITES, pairs
from retrieval.english.stems import root_of
from tests.unit.test_extractive import an_item, ask

NONE = ["The sources do not answer this question."]
ADJECTIVES = [
    "large",
    "small",
    "big",
    "high",
    "low",
    "old",
    "new",
    "deep",
    "shallow",
    "wide",
    "narrow",
    "upper",
    "lower",
    "inner",
    "outer",
    "northern",
    "southern",
    "eastern",
    "western",
    "north",
    "south",
    "east",
    "west",
    "top",
    "bottom",
    "front",
    "rear",
    "public",
    "private",
    "indoor",
    "outdoor",
    "major",
    "minor",
    "male",
    "female",
    "best",
    "worst",
    "largest",
    "smallest",
    "oldest",
    "youngest",
    "newest",
    "highest",
    "lowest",
    "longest",
    "shortest",
    "cheapest",
]
NOUNS = [
    "king",
    "queen",
    "prince",
    "princess",
    "mother",
    "father",
    "brother",
    "sister",
    "son",
    "daughter",
    "uncle",
    "aunt",
    "man",
    "woman",
    "boy",
    "girl",
]
SEASONS = ["summer", "winter", "spring", "autumn"]
ASKED = {
    "adjective": (
        "The {word} gate of the harbour was painted in 1971.",
        "When was the {word} gate of the harbour painted?",
    ),
    "whose": (
        "The {word} of the keeper built the chapel in 1904.",
        "When did the {word} of the keeper build the chapel?",
    ),
    "when": ("In {word} the ferry leaves at 9.30.", "When does the ferry leave in {word}?"),
}
OF = {"adjective": ADJECTIVES, "whose": NOUNS, "when": SEASONS}
CASES = [
    (kind, word, contrary)
    for kind, words in OF.items()
    for word in words
    for contrary in words
    if root_of(contrary) in OPPOSITES.get(root_of(word), frozenset())
]


@pytest.mark.parametrize("kind", ASKED)
def test_the_contrary_of_a_word_is_not_told_by_it(kind: str) -> None:
    cases = [(word, contrary) for of, word, contrary in CASES if of == kind]
    assert len(cases) > 3
    for word, contrary in cases:
        text, question = ASKED[kind][0].format(word=word), ASKED[kind][1]
        item = an_item(f"{text} The office has moved.", 1)
        assert text in " ".join(ask(question.format(word=word), item)), (word, contrary)
        assert ask(question.format(word=contrary), item) == NONE, (word, contrary)
        both = an_item(f"{text} The {contrary} road was closed in 1990.", 1)
        assert ask(question.format(word=contrary), both) == NONE, (word, contrary)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The lowest tower is 12 metres high.", "How high is the lowest tower?"),
        ("The new organ is 36 years old.", "How old is the new organ?"),
        ("The low tower of the castle is 12 metres high.", "How high is the tower of the castle?"),
        (
            "The ferry needs at least 20 passengers on most days.",
            "How many passengers does the ferry need on most days?",
        ),
        ("The ferry to New Brekke leaves the old quay at 9.30.", "When does the ferry leave the old quay?"),
        ("Summer guests and winter guests pay 12 euros for a bed.", "How much do winter guests pay for a bed?"),
        (
            "The king and the queen of Osmark opened the bridge in 1931.",
            "When did the queen of Osmark open the bridge?",
        ),
    ],
)
def test_a_contrary_beside_the_word_or_a_measure_is_none(text: str, question: str) -> None:
    assert text in " ".join(ask(question, an_item(f"{text} The office has moved.", 1)))


NAMES = [
    ("New York", "New Mexico"),
    ("Saint Anna", "Saint Olaf"),
    ("Lake Torn", "Lake Brekke"),
    ("Ida Holm", "Ida Sten"),
]
SAID = [
    ("After a week in {rest}, the crew was flown to {one} in 1971.", "When was the crew flown to {name}?"),
    ("{one}, as {rest} said, was painted in 1904.", "When was {name} painted?"),
]


@pytest.mark.parametrize(("one", "other"), [*NAMES, *((b, a) for a, b in NAMES)])
@pytest.mark.parametrize(("text", "question"), SAID)
def test_a_name_that_begins_alike_is_another(one: str, other: str, text: str, question: str) -> None:
    said = text.format(one=one, rest=other.rsplit(maxsplit=1)[-1])
    item = an_item(f"{said} The office has moved.", 1)
    assert said in " ".join(ask(question.format(name=one), item))
    assert ask(question.format(name=other), item) == NONE


SMALL = ("one", "two", "three", "four", "six", "eleven", "12")


@pytest.mark.parametrize("number", SMALL)
@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Ida Holm has signed for {number} more films.", "Who has signed for {number} more films?"),
        ("The crew of {number} keepers left in 1971.", "When did the crew of {number} keepers leave?"),
        (
            "The hall for {number} thousand guests opened in 1904.",
            "When did the hall for {number} thousand guests open?",
        ),
    ],
)
def test_another_number_of_the_same_is_another(number: str, text: str, question: str) -> None:
    said = text.format(number=number)
    item = an_item(f"{said} The office has moved.", 1)
    assert said in " ".join(ask(question.format(number=number), item))
    for other in SMALL:
        if other != number:
            assert ask(question.format(number=other), item) == NONE, other


def test_a_contrary_goes_both_ways_and_no_word_is_its_own() -> None:
    for word, contrary in pairs():
        assert root_of(contrary) in OPPOSITES[root_of(word)], (word, contrary)
        assert root_of(word) != root_of(contrary), word
