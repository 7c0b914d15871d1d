"""Whom `he` and `she` mean from sentence to sentence: the one who was named once, and never another."""

from __future__ import annotations

from itertools import product

import pytest

from retrieval.english.persons import Pronoun
from retrieval.english.pronouns import Meaning, Person, Told, meanings, parted

WOMEN = ("Elspeth Quayle", "Dr Maren Oduya", "Ana de Souza", "Zofia Lind-Berg")
MEN = ("Jabez Orchard", "Captain Tomas Brand", "Ugo van Rees")
DEEDS = (
    "taught at a school in Ripon for six years",
    "was offered a post at the University of Leeds",
    "sold the other pictures to pay for a field station",
    "died in Sheringham on 4 February 2018",
)
THINGS = (
    "The marriage ended in divorce in 1979.",
    "A second book, on badgers, was announced but never finished.",
    "The prize went to nobody that year.",
    "There was rain for eleven days.",
)


def bare(name: str) -> str:
    return name.removeprefix("Dr ").removeprefix("Captain ")


def read(*paragraphs: str, known: Person | None = None, whole: bool = True) -> list[Meaning]:
    """The meanings of sentences, each paragraph divided by ` | `."""
    told = [Told(each, place == 0) for text in paragraphs for place, each in enumerate(text.split(" | "))]
    return meanings(told, known, whole=whole)


def last(*paragraphs: str, known: Person | None = None, whole: bool = True) -> tuple[str, ...]:
    """Whom the pronouns of the last sentence mean."""
    return tuple(each.name for each in read(*paragraphs, known=known, whole=whole)[-1].pronouns)


def each_of_either() -> list[tuple[str, Pronoun]]:
    return [*((name, "she") for name in WOMEN), *((name, "he") for name in MEN)]


@pytest.mark.parametrize(("name", "pronoun"), each_of_either())
@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("between", THINGS)
def test_who_is_named_once_is_meant_in_the_next_paragraphs(
    name: str, pronoun: Pronoun, deed: str, between: str
) -> None:
    said = pronoun.title()
    assert last(f"{name} was born in Peel. | {said} hated school.", between, f"{said} {deed}.") == (bare(name),)
    assert last(f"{name} was born in Peel. | {said} hated school.", f"In 1971 {pronoun} {deed}.") == (bare(name),)


@pytest.mark.parametrize(("name", "pronoun"), each_of_either())
def test_whom_a_heading_names_is_meant(name: str, pronoun: Pronoun) -> None:
    known = Person(bare(name), pronoun)
    assert parted(f"biography — {known.said}") == ("biography", known)
    assert last(f"{pronoun.title()} died in Peel.", known=known, whole=False) == (known.name,)
    assert last(f"{pronoun.title()} died in Peel.", whole=False) == ()


@pytest.mark.parametrize(("name", "pronoun"), each_of_either())
@pytest.mark.parametrize("deed", DEEDS)
def test_one_of_the_other_pronoun_does_not_end_it(name: str, pronoun: Pronoun, deed: str) -> None:
    said, other = pronoun.title(), ("he" if pronoun == "she" else "she")
    relative = "brother" if pronoun == "she" else "sister"
    owner = "Her" if pronoun == "she" else "His"
    told = f"{name} was born in Peel. | {said} hated school."
    by_relative = f"{owner} {relative} Robin Vale moved to Cork. | {other.title()} kept an inn. | {said} {deed}."
    assert last(told, by_relative) == (bare(name),)


ANOTHER = (
    "{owner} {relative}, Robin Vale, moved to Cork.",
    "{owner} {relative} Robin Vale moved to Cork.",
    "Robin Vale, {owner_small} {relative}, moved to Cork.",
    "Robin Vale moved to Cork in 1950.",
    "Then Robin Vale came to Peel and bought the mill.",
    "{first} and Robin Vale moved to Cork.",
    "{title} Vale moved to Cork.",
)


@pytest.mark.parametrize(("name", "pronoun"), each_of_either())
@pytest.mark.parametrize(("another", "deed"), [*product(ANOTHER, DEEDS)])
def test_what_may_be_the_deed_of_another_is_nobodys(name: str, pronoun: Pronoun, another: str, deed: str) -> None:
    woman = pronoun == "she"
    said = another.format(
        owner="Her" if woman else "His",
        owner_small="her" if woman else "his",
        relative="sister" if woman else "brother",
        first=bare(name).split()[0],
        title="Mrs" if woman else "Mr",
    )
    begun = f"{name} was born in Peel. | {pronoun.title()} hated school."
    assert bare(name) not in last(begun, f"{pronoun.title()} left home. | {said} | {pronoun.title()} {deed}.")
    if "and Robin" not in said:  # and it is not known in the next paragraph
        assert bare(name) not in last(begun, f"{said} | {pronoun.title()} {deed}.", f"{pronoun.title()} kept bees.")


@pytest.mark.parametrize(("name", "pronoun"), each_of_either())
@pytest.mark.parametrize("deed", DEEDS)
def test_the_name_that_recurs_is_meant_again(name: str, pronoun: Pronoun, deed: str) -> None:
    relative, owner = ("mother", "Her") if pronoun == "she" else ("father", "His")
    begun = f"{name} was born in Peel. | {owner} {relative}, Robin Vale, kept an inn. | {pronoun.title()} left."
    surname = bare(name).split()[-1]
    assert last(begun, f"In 1950 {surname} came back. | {pronoun.title()} {deed}.") == (bare(name),)


@pytest.mark.parametrize(
    "text",
    [
        (
            "Ann Lee and her daughter Clara Lee kept the inn.",
            "Ann ran the kitchen; Clara the stables. | She died in 1740.",
        ),
        ("Ann Lee met Ida Roe in Rome. | She was a painter.",),
        ("Ann Lee was born in Peel. | She had one daughter, Ida. | She died at ten.",),
        ("Ann Lee was born in Peel. | She gave birth to a daughter. | She died at ten.",),
        ("Dr Lee treated the girl. | She recovered.",),
        ("Ann Lee bought the packet. | She went to sea. | The Lady Jane was lost in 1830. | She was built at Fowey.",),
        ("Ann Lee was born in Peel. | She went to sea. | The old ship leaked. | She sank in 1830.",),
        ("Ann Lee was born in Peel. | She met Robin Vale in Rome. | She died in 1900.",),
        ("Ann Lee was born in Peel. | The vicar taught her to read. | She had a stern face.",),
        ("Two sisters, Ann and Mary Lee, kept the inn. | She locked the door.",),
        ("Ann Lee was born in Peel. | She wrote plays.", "Another Ann Lee kept an inn. | She died in 1900."),
        ("Ann Lee the younger was born in Peel. | She wrote plays.",),
        ("“Ann Lee was here,” said the porter. | She left.",),
    ],
)
def test_where_it_is_not_certain_nobody_is_meant(text: tuple[str, ...]) -> None:
    assert last(*text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Tom Roe was born in Peel. | He met Mrs Lee in Rome. | He died in 1900.",
        "Tom Roe was born in Peel. | He nursed his mother for years. | He died in 1900.",
        "Tom Roe was born in Peel. | He became a doctor and married a nurse. | He died in 1900.",
        "Tom Roe was born in Peel. | He wrote The Small Hours and a book called Dear Madam. | He died in 1900.",
        "Tom Roe was born in Peel. | “He was mad,” said Mr Vale's clerk in print. | Roe left. | He died in 1900.",
        "Tom Roe was born in Peel. | He went to New York. | He died in 1900.",
    ],
)
def test_who_or_what_is_only_named_does_not_end_it(text: str) -> None:
    assert last(text) == ("Tom Roe",)


@pytest.mark.parametrize(("name", "pronoun"), each_of_either())
def test_a_text_is_about_whom_it_begins_with(name: str, pronoun: Pronoun) -> None:
    told = f"{name} was born in Peel. | {pronoun.title()} kept bees."
    assert last("A life in letters", told, f"{pronoun.title()} died in Ayr.") == (bare(name),)
    things = " | ".join(THINGS)
    assert last(things, told, f"{pronoun.title()} died in Ayr.") == ()


@pytest.mark.parametrize(("name", "pronoun"), each_of_either())
def test_who_has_a_title_of_the_other_kind_is_another(name: str, pronoun: Pronoun) -> None:
    surname = bare(name).split()[-1]
    title, other = ("Mr", "He") if pronoun == "she" else ("Mrs", "She")
    told = read(f"{name} was born in Peel. | {pronoun.title()} kept bees.", f"{title} {surname} sang. | {other} left.")
    assert all(bare(name) != each.name for each in told[-1].persons)


@pytest.mark.parametrize("word", ["Coal", "Money", "Water", "Snow"])
def test_a_word_that_only_opens_a_sentence_ends_it_for_the_paragraph_alone(word: str) -> None:
    begun = "Ann Lee was born in Peel. | She kept bees."
    assert last(begun, f"She sang. | {word} came by the second lock.", "She died in Ayr.") == ("Ann Lee",)
    assert last(begun, f"She sang. | {word} came by the second lock. | She died in Ayr.") == ()


def test_the_pronoun_is_spelt_out() -> None:
    spelt = [each.spelt for each in read("Ann Lee was born in Peel. | She left. | Her book sold, as she was known.")]
    assert spelt[1:] == ["Ann Lee left.", "Ann Lee's book sold, as she was known."]
