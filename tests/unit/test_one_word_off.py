"""Questions that a sentence all but answers: another month, rate, direction, holder, tense or count. Each sentence is asked
for what it says and for what it does not, with the words of the wrong question elsewhere in the text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ai.text.meaning.meant import Meant
from ai.text.question_type import excludes_reason
from ai.text.support import WORD, fold
from retrieval.english.lists import MONTHS
from tests.unit.test_extractive import an_item, ask

NONE = ["The sources do not answer this question."]
ELSEWHERE = "The office has moved."
WORDS = frozenset[str]()


def roots(said: str) -> frozenset[str]:
    """The words of a sentence as the rules of meaning are given them."""
    return frozenset(fold(word) for word in WORD.findall(said))


def answered(said: str, question: str, elsewhere: str = "") -> bool:
    """Whether the sentence is told to who asks the question of a text that holds it."""
    told = ask(question, an_item(f"{said} {elsewhere} {ELSEWHERE}", 1))
    assert told == NONE or said in " ".join(told), (said, question, told)
    return told != NONE


MONTHLY = [
    ("In {} there were 31 names on the waiting list.", "How many names were on the waiting list in {}?"),
    ("The library of Tarn was painted in {} by Ida Holm.", "Who painted the library of Tarn in {}?"),
    ("On 5 {} the ferry carried 40 passengers.", "How many passengers did the ferry carry on 5 {}?"),
    ("The last {} meeting was held at the Old Mill.", "Where was the last {} meeting held?"),
]


@pytest.mark.parametrize(("said", "question"), MONTHLY)
def test_what_is_said_of_a_month_is_said_of_no_other(said: str, question: str) -> None:
    names = [month.title() for month in MONTHS]
    for one in names:
        assert answered(said.format(one), question.format(one)), one
        for other in names:
            if other != one:
                assert not answered(said.format(one), question.format(other), f"The shop closes in {other}."), (
                    one,
                    other,
                )


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("From March to October the pool opens at 9.30.", "When does the pool open in July?"),
        ("Between March and October the pool opens at 9.30.", "When does the pool open in April?"),
        ("From November to February the pool opens at 9.30.", "When does the pool open in January?"),
        ("Since March the pool opens at 9.30.", "When does the pool open in May?"),
        ("Until 5 June the pool opens at 9.30.", "When does the pool open in April?"),
        ("The pool opens at 9.30 every month, in March too.", "When does the pool open in April?"),
        ("You may swim in May from 9.30.", "When may I swim in May?"),
    ],
)
def test_a_span_of_months_tells_of_those_within(said: str, question: str) -> None:
    assert answered(said, question)


def test_months_outside_a_span_are_not_told_of() -> None:
    said = "From March to October the pool opens at 9.30."
    for month in ("November", "December", "January", "February"):
        assert not answered(said, f"When does the pool open in {month}?", f"In {month} it snows.")


@pytest.mark.parametrize("day", [1, 3, 12, 30])
def test_another_day_of_the_month_is_another(day: int) -> None:
    for said in (
        f"On {day} May the ferry carried forty passengers.",
        f"On May {day} the ferry carried forty passengers.",
    ):
        for other in (1, 3, 12, 30):
            asked = f"How many passengers did the ferry carry on {other} May?"
            assert answered(said, asked, f"On {other} May it rained.") == (other == day), (said, other)


UNITS = ("hour", "day", "night", "week", "month", "year")


@pytest.mark.parametrize("per", ["a", "per", "each", "every"])
def test_what_it_costs_for_one_time_is_not_what_it_costs_for_another(per: str) -> None:
    for one in UNITS:
        said = f"A berth for a boat costs 12 euros {'an' if per == 'a' and one == 'hour' else per} {one}."
        for other in UNITS:
            asked = f"How much does a berth for a boat cost a {other}?".replace("a hour", "an hour")
            assert answered(said, asked, f"The {other} was cold.") == (one == other), (one, other)
        assert answered(said, "How much does a berth for a boat cost?")


def test_a_rate_may_be_said_in_one_word() -> None:
    for word, unit in {
        "hourly": "hour",
        "daily": "day",
        "weekly": "week",
        "monthly": "month",
        "yearly": "year",
    }.items():
        said = f"The {word} fee for a berth is 12 euros."
        assert answered(said, f"What is the fee for a berth per {unit}?"), word
        others = [other for other in UNITS if other not in (unit, "night")]
        assert not any(answered(said, f"What is the fee for a berth per {other}?", f"One {other}.") for other in others)


COUNTS = [
    ("A full plot costs 42 pounds and a half plot costs 23 pounds.", "How many plots are there?"),
    ("The three-storey building stands by the river.", "How many buildings are there?"),
    ("A two-person tent is to be had.", "How many tents are there?"),
    ("The five-star hotel stands by the lake.", "How many hotels are there?"),
    ("The 1911 edition of the guide is rare.", "How many editions of the guide are there?"),
    ("The 3rd boat of the club is old.", "How many boats does the club have?"),
    ("At 9 the boats leave the harbour.", "How many boats leave the harbour?"),
    ("They sat three in a boat.", "How many boats are there?"),
    ("Two men and a boat are lost.", "How many boats are lost?"),
    ("On day 4 the boats came home.", "How many boats came home?"),
]


@pytest.mark.parametrize(("said", "question"), COUNTS)
def test_a_number_of_something_else_counts_nothing(said: str, question: str) -> None:
    assert not answered(said, question)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("There are 42 plots on the hill.", "How many plots are there?"),
        ("Half of the plots on the hill are taken.", "How many plots on the hill are taken?"),
        ("Twenty-five boats leave the harbour.", "How many boats leave the harbour?"),
        ("Three of the boats of the club are old.", "How many boats of the club are old?"),
        ("Two men and three boats are lost.", "How many boats are lost?"),
        ("The club has five old boats.", "How many boats does the club have?"),
        ("The building has three storeys.", "How many storeys does the building have?"),
        ("The three-storey building stands by the river.", "How many storeys does the building by the river have?"),
        ("In the year 1200 people lived there and 1,500 sheep grazed there.", "How many sheep grazed there?"),
    ],
)
def test_a_number_counts_its_own(said: str, question: str) -> None:
    assert answered(said, question)


HOLDERS = ("", "former ", "deputy ", "vice-", "assistant ", "acting ", "honorary ")
OFFICES = ("mayor", "president", "harbour master", "treasurer")


@pytest.mark.parametrize("office", OFFICES)
def test_a_deputy_is_another(office: str) -> None:
    for one in HOLDERS:
        said = f"The {one}{office} of Tarn is Ida Holm."
        for other in HOLDERS:
            asked = f"Who is the {other}{office} of Tarn?"
            assert answered(said, asked, f"The {other}{office} has a dog.") == (one == other), (one, other)


@pytest.mark.parametrize(
    "group", [("red", "green", "white"), ("wooden", "stone", "iron"), ("Danish", "Norwegian", "Italian")]
)
@pytest.mark.parametrize("noun", ["gate", "ferry", "bridge"])
def test_another_colour_material_or_people_is_another(group: tuple[str, ...], noun: str) -> None:
    for one in group:
        said = f"The {one} {noun} of Tarn was bought in 1971."
        for other in group:
            asked = f"When was the {other} {noun} of Tarn bought?"
            assert answered(said, asked, f"The {other} door was sold.") == (one == other), (one, other)
        assert answered(said, f"When was the {noun} of Tarn bought?")


SUPERLATIVES = ("largest", "oldest", "tallest", "most famous", "second largest", "third oldest", "smallest")


def test_another_superlative_or_rank_is_another() -> None:
    for one in SUPERLATIVES:
        said = f"The {one} house of Tarn was built in 1971."
        for other in SUPERLATIVES:
            asked = f"When was the {other} house of Tarn built?"
            assert answered(said, asked, f"The {other} boat was sold.") == (one == other), (one, other)


UNDONE = [
    "The bridge of Tarn will be {} in 2030.",
    "The bridge of Tarn is to be {} in 2030.",
    "The bridge of Tarn was almost {} in 1971.",
    "The bridge of Tarn was never {} in 1971.",
    "The council planned to have the bridge of Tarn {} in 1971.",
    "The council hoped to see the bridge of Tarn {} in 1971.",
]
DEEDS = ("built", "painted", "closed", "sold")


@pytest.mark.parametrize("said", UNDONE)
@pytest.mark.parametrize("deed", DEEDS)
def test_what_was_not_done_was_not_done_then(said: str, deed: str) -> None:
    assert not answered(said.format(deed), f"When was the bridge of Tarn {deed}?")
    assert answered(f"The bridge of Tarn was {deed} in 1971.", f"When was the bridge of Tarn {deed}?")


@pytest.mark.parametrize("deed", DEEDS)
def test_what_was_done_will_not_be_done_then(deed: str) -> None:
    assert not answered(f"The bridge of Tarn was {deed} in 1971.", f"When will the bridge of Tarn be {deed}?")
    for said in ("The bridge of Tarn will be {} in 2030.", "The bridge of Tarn is to be {} in 2030."):
        assert answered(said.format(deed), f"When will the bridge of Tarn be {deed}?")


def test_what_used_to_be_is_not_so_now() -> None:
    assert not answered("The ferry used to leave at 9.30.", "When does the ferry leave?")
    assert answered("The ferry used to leave at 9.30.", "When did the ferry use to leave?")
    assert answered("The ferry leaves at 9.30.", "When does the ferry leave?")


BESIDE = ("wife", "brother", "daughter", "assistant", "portrait", "model", "statue")


@pytest.mark.parametrize("owner", ["miller", "Ida Holm", "harbour master", "Alma"])
def test_what_is_somebodys_is_not_that_one(owner: str) -> None:
    name = owner if owner[0].isupper() else f"the {owner}"
    for what in BESIDE:
        for said in (
            f"{name[0].upper()}{name[1:]}'s {what} was moved in 1840.",
            f"The {what} of {name} was moved in 1840.",
        ):
            assert not answered(said, f"When was {name} moved?"), said
            assert answered(said, f"When was the {what} of {name} moved?"), said


WAYS = [("from", "to"), ("under", "over")]
GOING = [
    ("The bus {} the harbour leaves at 9.30.", "When does the bus {} the harbour leave?"),
    ("Swimmers {} sixty pay 4 euros for a card.", "How much do swimmers {} sixty pay for a card?"),
]


@pytest.mark.parametrize(("pair", "case"), [*zip(WAYS, GOING, strict=True)])
def test_the_other_way_is_another(pair: tuple[str, str], case: tuple[str, str]) -> None:
    said, question = case
    for one, other in (pair, pair[::-1]):
        assert answered(said.format(one), question.format(one))
        assert not answered(said.format(one), question.format(other), f"It goes {other} the mill."), (one, other)


def parties() -> Iterator[tuple[str, str, str]]:
    """Sentences, with who did it and to whom."""
    people = ("Ann Berg", "Ben Holt", "the club", "the miller")
    for one in people:
        for other in people:
            if one != other:
                for deed, done in (("taught", "taught"), ("painted", "painted"), ("chose", "chosen")):
                    yield f"{one} {deed} {other} in 1904, it is known.", one, other
                    yield f"{other} was {done} by {one} in 1904, it is known.", one, other


@pytest.mark.parametrize(("said", "one", "other"), [*parties()])
def test_who_did_it_is_not_to_whom_it_was_done(said: str, one: str, other: str) -> None:
    said = said[0].upper() + said[1:]
    base, past, done = next(
        d
        for d in (("teach", "taught", "taught"), ("paint", "painted", "painted"), ("choose", "chose", "chosen"))
        if d[1] in said or d[2] in said
    )
    elsewhere = f"Next came {one} and {other}."
    assert answered(said, f"Who {past} {other}?", elsewhere)
    assert not answered(said, f"Who {past} {one}?", elsewhere)
    assert answered(said, f"Whom did {one} {base}?", elsewhere)
    assert not answered(said, f"Whom did {other} {base}?", elsewhere)
    assert answered(said, f"Who was {done} by {one}?", elsewhere)
    assert not answered(said, f"Who was {done} by {other}?", elsewhere)


PARTICLES = [("turned on", "turned off"), ("let in", "let out"), ("taken up", "taken down")]


@pytest.mark.parametrize("pair", [*PARTICLES, *(pair[::-1] for pair in PARTICLES)])
def test_what_turns_a_verb_turns_its_meaning(pair: tuple[str, str]) -> None:
    one, other = pair
    said = f"In March the water of the mill is {one}."
    assert answered(said, f"When is the water of the mill {one}?")
    assert not answered(said, f"When is the water of the mill {other}?", f"It went {other.split()[1]}.")


THINGS = ("chapel", "house in Castle Street", "old mill")


@pytest.mark.parametrize("one", THINGS)
@pytest.mark.parametrize("other", THINGS)
def test_what_was_bought_was_not_sold(one: str, other: str) -> None:
    said = f"The society bought the {one} in 2003 and sold the {other} in 2005."
    if one != other:
        assert answered(said, f"When did the society buy the {one}?")
        assert answered(said, f"When did the society sell the {other}?")
        assert not answered(said, f"When did the society buy the {other}?")
        assert not answered(said, f"When did the society sell the {one}?")


@pytest.mark.parametrize("kin", ["husband", "eldest son", "assistant", "model"])
def test_what_hers_has_done_she_has_not(kin: str) -> None:
    said = f"Her {kin} built the mill in 1919."
    item = an_item(f"The first keeper was Edith Marsh. {said} {ELSEWHERE}", 1)
    assert ask("When did Edith Marsh build the mill?", item) == NONE


@pytest.mark.parametrize("relation", ["widow", "brother", "assistant"])
def test_who_is_somebodys_is_not_that_one(relation: str) -> None:
    said = f"Ida Holm was taught in 1904 by Ilse Kramer, the {relation} of the composer Hugo Kramer."
    assert answered(said, "Who taught Ida Holm?")
    assert not answered(said, "When did Hugo Kramer teach?")
    assert not answered(said, "When was Ilse Kramer taught?")


@pytest.mark.parametrize("head", ["keeper", "captain", "first master"])
def test_who_is_of_one_place_is_not_of_the_other(head: str) -> None:
    said = f"It was drawn by Fred Stott, the {head} of Moss."
    item = an_item(f"The line to Tarn was opened in 1904. {said} {ELSEWHERE}", 1)
    assert ask(f"Who was the {head} of Tarn?", item) == NONE
    assert said in " ".join(ask(f"Who was the {head} of Moss?", item))


DENIED = [
    (
        "allowed to speak to strangers",
        "Prisoners were never allowed to speak to strangers, as the warden feared a plot.",
    ),
    ("paid for the night shift", "Prisoners were never paid for the night shift, as the mill had no money."),
    ("taught to read", "Prisoners were never taught to read, because the governor forbade it."),
    ("buried in the churchyard", "Prisoners were never buried in the churchyard, as the vicar refused."),
]


@pytest.mark.parametrize(("deed", "said"), DENIED)
@pytest.mark.parametrize(
    "asks", ["Why were prisoners not {}?", "Why were prisoners never {}?", "Why weren't prisoners {}?"]
)
def test_who_asks_why_something_was_not_done_is_told(deed: str, said: str, asks: str) -> None:
    question = asks.format(deed)
    assert Meant.of(question, WORDS).agrees(said, roots(said))


@pytest.mark.parametrize("deed", ["end", "close", "sink", "fail", "spread", "burn"])
@pytest.mark.parametrize("subject", ["The drought", "The ferry", "The old mill"])
@pytest.mark.parametrize("how", ["did not", "didn't"])
def test_a_reason_that_is_denied_is_none(deed: str, subject: str, how: str) -> None:
    question = f"Why did {subject.lower()} {deed}?"
    denied = f"{subject} {how} {deed} because people grew careless."
    for said, told in ((denied, False), (denied[:-1] + " but because of the wind.", True)):
        assert Meant.of(question, WORDS).agrees(said, roots(said)) is told, said
        assert excludes_reason(said) is not told
    asked = f"Why did {subject.lower()} not {deed}?"
    assert Meant.of(asked, WORDS).agrees(denied, roots(denied)), asked


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How deep did they bury the dead?", "When anyone died, they used to bury the body six feet under the ground."),
        ("Where did they bring the wounded?", "When a man was wounded they used to bring him to the barn."),
    ],
)
def test_the_dead_are_not_who_died(question: str, said: str) -> None:
    assert Meant.of(question, WORDS).agrees(said, roots(said))


@pytest.mark.parametrize("verb", ["became", "turned into", "brought", "meant", "grew into"])
def test_what_became_of_it_tells_what_made_it(verb: str) -> None:
    said = f"High winds blew for years, and storms {verb} part of life."
    assert Meant.of("What made storms part of life?", WORDS).agrees(said, roots(said))
    assert not Meant.of("What made storms part of life?", WORDS).agrees("Storms are a part of life.", roots(said))
