"""A question one word off: the contrary of a word, or a name that begins alike. Sentences are generated from all pairs."""

from __future__ import annotations

import pytest

from ai.answer.claims.check import Sources, check_sentence
from ai.model import Sentence
from ai.text.meaning.contrast.contrast import Contrast
from ai.text.support import WORD, fold
from retrieval.english.opposites import OPPOSITES, pairs
from retrieval.english.stems import root_of
from retrieval.model import Intent
from tests.unit.test_extractive import an_item, ask


def _read(text: str) -> frozenset[str]:
    return frozenset(map(fold, WORD.findall(text)))


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


ROOTED = [
    ("Academic Ranking", "Academic Rankings"),
    ("Jones Brother", "Jones Brothers"),
    ("Lake Barrow", "Lake Barrows"),
]


@pytest.mark.parametrize(("one", "other"), [*ROOTED, *((b, a) for a, b in ROOTED)])
@pytest.mark.parametrize(("text", "question"), SAID)
def test_a_name_in_the_plural_is_the_same(one: str, other: str, text: str, question: str) -> None:
    said = text.format(one=one, rest="Selby")
    meant = Contrast.of(question.format(name=other))
    assert meant.agrees(said, _read(said))
    for name, another in NAMES:
        assert not Contrast.of(question.format(name=another)).agrees(text.format(one=name, rest="Selby"), _read(said))


@pytest.mark.parametrize("number", range(1, 13))
def test_a_roman_number_is_that_number(number: int) -> None:
    roman = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
    said = f"World War {roman[number - 1]} ended that year."
    for other in range(2, 13):  # `I` may be a word, `V` and `X` may be letters
        agrees = Contrast.of(f"When did World War {other} end?").agrees(said, _read(said))
        assert agrees == (number in (1, other) and number not in (5, 10)), other


CITIES = ("city", "town", "village", "county", "valley")


@pytest.mark.parametrize("kind", CITIES)
@pytest.mark.parametrize("by", ["in", "at", "near"])
def test_what_the_title_names_is_the_city_of_the_sentence(kind: str, by: str) -> None:
    said = f"In 2006, 304 firms were registered {by} the {kind}."
    asked = Contrast.of("How many firms were registered in Warsaw in 2006?")
    assert asked.agrees(said, _read(f"Warsaw. {said}"))
    assert not asked.agrees(said, _read(f"Poznan. {said}"))
    assert not asked.agrees(f"In 2006, 304 firms were registered {by} Poznan.", _read(f"Warsaw. {said}"))
    at_sea = Contrast.of("How many firms were registered by ship in 2006?")
    assert not at_sea.agrees("In 2006, 304 firms were registered by the railway.", _read(f"The ship. {said}"))


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


LABELS = ("1", "2", "3", "7", "12", "41", "A", "B", "IV", "4b")
LABELLED = [
    ("{Noun} {label} was painted in 1971, three days late.", "When was {noun} {label} painted?"),
    ("Count on {noun} {label}: nine in three days.", "What was the count on {noun} {label}?"),
    ("The keeper of {noun} {label} is Ida Holm, one of 7 keepers.", "Who is the keeper of {noun} {label}?"),
]


@pytest.mark.parametrize("noun", ["hive", "platform", "room", "version", "year", "section", "boat", "error"])
@pytest.mark.parametrize(("text", "question"), LABELLED)
def test_another_label_of_the_same_is_another(noun: str, text: str, question: str) -> None:
    for label in LABELS:
        said = text.format(Noun=noun.title(), noun=noun, label=label)
        item = an_item(f"{said} The office has moved.", 1)
        assert said in " ".join(ask(question.format(noun=noun, label=label), item)), label
        for other in LABELS:
            if other != label:
                assert ask(question.format(noun=noun, label=other), item) == NONE, (label, other)


@pytest.mark.parametrize("noun", ["hive", "platform", "room"])
@pytest.mark.parametrize(("text", "question"), LABELLED)
def test_a_draft_about_another_label_answers_nothing(noun: str, text: str, question: str) -> None:
    """A model that quotes the sentence beside the one that is asked for has answered another question."""
    for label in LABELS:
        said = text.format(Noun=noun.title(), noun=noun, label=label)
        for other in LABELS:
            asked = question.format(noun=noun, label=other)
            sources = Sources.of((an_item(said, 1),), Intent(), asked)
            assert check_sentence(Sentence(0, said, (1,)), sources).answers == (label == other), (label, other)


@pytest.mark.parametrize("kind", ASKED)
def test_a_draft_of_the_contrary_answers_nothing(kind: str) -> None:
    for of, word, contrary in CASES:
        text, question = ASKED[kind][0].format(word=word), ASKED[kind][1]
        if of == kind:
            for asked in (word, contrary):
                sources = Sources.of((an_item(text, 1),), Intent(), question.format(word=asked))
                assert check_sentence(Sentence(0, text, (1,)), sources).answers == (asked == word), (word, contrary)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Floors were added to hives 1 and 3 in 1971.", {"1", "3"}),
        ("Floors were added to hives 1, 2 and 4 in 1971.", {"1", "2", "4"}),
        ("Floors were added to hives 2 to 4 in 1971.", {"2", "3", "4"}),
        ("Floors were added to hives 2–4 in 1971.", {"2", "3", "4"}),
        ("Floors were added to hive no. 2 in 1971.", {"2"}),
    ],
)
def test_a_list_of_labels_tells_of_each(said: str, told: set[str]) -> None:
    item = an_item(f"{said} The office has moved.", 1)
    for label in "1234":
        answer = ask(f"When were floors added to hive {label}?", item)
        assert (said in " ".join(answer)) == (label in told), label


@pytest.mark.parametrize("deed", ["spoke", "voted", "argued", "decided", "testified"])
def test_who_spoke_against_did_not_speak_for(deed: str) -> None:
    sides = {"for": "for", "in favour of": "for", "against": "against"}
    for side, kind in sides.items():
        item = an_item(f"Four residents {deed} {side} the plan. The office has moved.", 1)
        for other, of in sides.items():
            told = " ".join(ask(f"How many residents {deed} {other} the plan?", item))
            assert ("Four residents" in told) <= (kind == of), (side, other)
            assert "Four residents" in told or side != other


@pytest.mark.parametrize(
    "said",
    [
        "The director, {one}, retires in March 2025; her successor is {other} of Moss.",
        "{other} succeeded {one} in March 2025, as everybody knows.",
    ],
)
def test_who_has_done_it_is_not_whom_it_was_done_to(said: str) -> None:
    people = ("Helen Obi", "Piers Langley", "Ida Holm")
    for one in people:
        for other in people:
            text = said.format(one=one, other=other)
            if one != other:
                item = an_item(f"{text} The office has moved.", 1)
                assert text in " ".join(ask(f"Who succeeded {one}?", item))
                assert ask(f"Who succeeded {other}?", item) == NONE, (one, other)


def test_another_clause_is_about_another() -> None:
    animals = ("Mo", "Suki", "Bertha")
    for one in animals:
        for other in animals:
            if one != other:
                text = f"Two pandas, {one} and {other}, arrived in 2022; {other} had three cubs in June."
                item = an_item(f"{text} The office has moved.", 1)
                assert text in " ".join(ask(f"How many cubs did {other} have?", item))
                assert ask(f"How many cubs did {one} have?", item) == NONE, (one, other)


@pytest.mark.parametrize("kind", ["castle", "fort", "lake", "mount"])
def test_what_is_at_a_place_is_not_the_place(kind: str) -> None:
    said = f"The museum at {kind.title()} Bray shows a spoon and opens on Thursdays only."
    item = an_item(f"{said} The {kind} is old. The office has moved.", 1)
    assert said in " ".join(ask("When does the museum open?", item))
    assert ask(f"When does the {kind} open?", item) == NONE


@pytest.mark.parametrize("where", ["outside the main gate", "at the mill", "near the school", "in the square"])
def test_what_is_elsewhere_is_not_here(where: str) -> None:
    said = f"The bus stops {where} every day."
    item = an_item(f"{said} The reserve is old. The office has moved.", 1)
    assert said in " ".join(ask(f"Which bus stops {where}?", item))
    assert ask("Which bus stops at the reserve?", item) == NONE


NEGATED = [
    ("opened", "unopened"),
    ("paid", "unpaid"),
    ("licensed", "unlicensed"),
    ("complete", "incomplete"),
    ("perfect", "imperfect"),
    ("regular", "irregular"),
    ("legal", "illegal"),
    ("connected", "disconnected"),
    ("smoking", "non-smoking"),
]


@pytest.mark.parametrize(("one", "other"), [*NEGATED, *((b, a) for a, b in NEGATED)])
def test_a_word_with_a_negating_syllable_is_another(one: str, other: str) -> None:
    said = f"The {one} carriage of the train was painted in 1971."
    item = an_item(f"{said} The office has moved.", 1)
    assert said in " ".join(ask(f"When was the {one} carriage of the train painted?", item))
    assert ask(f"When was the {other} carriage of the train painted?", item) == NONE


HEADS = [("journey", "by", "takes"), ("keeper", "of", "earns"), ("ticket", "for", "costs"), ("coat", "with", "costs")]
WHAT = ("ship", "railway", "old mill", "lorry", "children")


@pytest.mark.parametrize(("head", "by", "deed"), HEADS)
def test_what_is_said_of_another_is_not_told_of_this(head: str, by: str, deed: str) -> None:
    told, asked = {"takes": ("takes eight hours", "How long does the {} take?")}.get(
        deed, (f"{deed} 18 euros", f"How much does the {{}} {deed.removesuffix('s')}?")
    )
    for one in WHAT:
        said = f"The {head} {by} the {one} {told}."
        for other in WHAT:
            item = an_item(f"{said} The {other.split()[-1]} is old. The office has moved.", 1)
            answer = " ".join(ask(asked.format(f"{head} {by} the {other}"), item))
            assert (said in answer) == (one == other), (one, other)


@pytest.mark.parametrize("dear", ["Dear Florence", "My dear Florence", "Dearest Florence"])
def test_who_is_written_to_has_not_done_it(dear: str) -> None:
    said = f"{dear}, we arrived on 5 May after a long journey."
    item = an_item(f"{said} Harold shot a leopard.", 1, title="Letters")
    assert ask("When did Florence arrive?", item) == NONE
    assert "Florence arrived" in " ".join(
        ask("When did Florence arrive?", an_item("On 5 May 1911 Florence arrived after a long journey.", 1))
    )


SHIPS = ("Alma", "Birgit", "Cecilie", "Old Ferry Company")


@pytest.mark.parametrize("one", SHIPS)
def test_what_one_has_done_another_has_not(one: str) -> None:
    for other in SHIPS:
        own = f"The {one} has run on batteries since 2021, as everybody knows."
        item = an_item(f"The {other} is the largest of the ships. {own}", 1)
        told = " ".join(ask(f"Since when has the {other} run on batteries?", item))
        assert (own in told) == (one == other), (one, other)


def test_a_contrary_goes_both_ways_and_no_word_is_its_own() -> None:
    for word, contrary in pairs():
        assert root_of(contrary) in OPPOSITES[root_of(word)], (word, contrary)
        assert root_of(word) != root_of(contrary), word
