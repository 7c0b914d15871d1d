"""Claims of a sentence against the items that it cites: what follows is kept, what was turned is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.answer.claims.check import Sources, check_sentence
from ai.answer.claims.numbers import read_numbers
from ai.model import AdmittedItem, Sentence
from retrieval.algebra.operations import Lookup
from retrieval.model import EntityRef, Intent, Mention, TimeRange
from tests.fakes_ai import an_item, an_observation

NESS = EntityRef("county:20135", "Ness County", "county")
ROOKS = EntityRef("county:20163", "Rooks County", "county")
ASKED = Intent(
    mentions=(Mention("Ness County", 0, 11, (NESS,)),),
    times=(TimeRange.year(1910),),
    measures=("population",),
    operations=(Lookup("population", (NESS.entity_id,), 1910),),
)
ITEMS = (
    an_observation(1, value="5883", year=1910, place=NESS),
    an_observation(2, value="4535", year=1900, place=NESS),
    an_observation(3, value="11282", year=1910, place=ROOKS),
)
PASSAGE = an_item(
    "In 1867 Cody killed 4,280 buffalo for the railroad. He later led a show from Omaha to Chicago. Some settlers did "
    "not stay.",
    4,
    title="The Life of Cody",
)


def checked(
    text: str, *markers: int, items: tuple[AdmittedItem, ...] = (*ITEMS, PASSAGE), intent: Intent = ASKED
) -> Sentence:
    return check_sentence(Sentence(0, text, markers), Sources.of(items, intent, "What was it?"))


def verdicts(text: str, *markers: int) -> set[str]:
    return {claim.verdict for claim in checked(text, *markers).claims or ()}


@pytest.mark.parametrize(
    "text",
    [
        "Ness County had 5,883 inhabitants in 1910.",
        "The population of Ness County in 1910 was 5,883.",
        "In 1910, about 5,900 people lived in Ness County.",
        "Ness County counted 5.9 thousand residents in 1910.",
        "According to the source, Ness County had just over 5,800 inhabitants in 1910.",
        "The population was 5,883.",
    ],
)
def test_a_figure_of_the_cited_item_is_borne_out(text: str) -> None:
    assert verdicts(text, 1) == {"borne_out"}


@pytest.mark.parametrize(
    "text",
    [
        "Ness County had 4,535 inhabitants in 1910.",
        "Ness County had 11,282 inhabitants in 1910.",
        "Ness County had 5,838 inhabitants in 1910.",
        "Ness County had 5,883 inhabitants in 1900.",
        "Rooks County had 5,883 inhabitants in 1910.",
        "Ness County had 5,883 thousand inhabitants in 1910.",
        "There were 5,883 oil wells in Ness County in 1910.",
        "Ness County had more than 6,000 inhabitants in 1910.",
        "Ness County had about 5,000 inhabitants in 1910.",
        "Ness County did not have 5,883 inhabitants in 1910.",
        "Ness County had 5,883 inhabitants in 1910, the most of all counties.",
        "Ness County had 5,883 inhabitants in 1910, twice as many as in 1900.",
        "Ness County had 5,883 inhabitants in 1910 and 4,353 in 1900.",
        "Ness County had 5,883 inhabitants in 1910, most of them farmers.",
        "The population of Ness County fell from 4,535 in 1900 to 5,883 in 1910.",
        "Ness County had 11,282 and Rooks County had 5,883 inhabitants in 1910.",
        "The population was 4,535.",
    ],
)
@pytest.mark.parametrize("markers", [(1,), (2,), (1, 2), (1, 3), (1, 2, 3), ()])
def test_a_figure_of_another_item_is_refused_whatever_is_cited(text: str, markers: tuple[int, ...]) -> None:
    assert verdicts(text, *markers) - {"borne_out"}


def test_the_reason_names_the_right_figure_and_what_the_wrong_one_is() -> None:
    reasons = " ".join(c.reason for c in checked("Ness County had 4,535 inhabitants in 1910.", 1).claims or ())
    assert "[1] gives 5,883 for 1910" in reasons
    assert "4,535 is Ness County, 1900" in reasons


@pytest.mark.parametrize("markers", [(), (2,), (3,), (4,)])
def test_the_system_sets_the_number_of_the_item_that_bears_it_out(markers: tuple[int, ...]) -> None:
    found = checked("The population of Ness County in 1910 was 5,883.", *markers)
    assert (found.markers, found.attribution) == ((1,), "system")


def test_what_changed_is_computed_again() -> None:
    grew = "The population of Ness County grew from 4,535 in 1900 to 5,883 in 1910, an increase of 1,348."
    assert verdicts(grew, 1, 2) == {"borne_out"}
    assert "contradicted" in verdicts(grew.replace("1,348", "1,438"), 1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "In 1867 Cody killed 4,280 buffalo for the railroad.",
        "Cody killed 4,280 buffalo for the railroad in 1867.",
        "According to the source, Cody slew 4,280 buffalo in 1867.",
        "He led a show from Omaha to Chicago.",
    ],
)
def test_prose_that_says_the_same_is_borne_out(text: str) -> None:
    assert verdicts(text, 4) == {"borne_out"}


@pytest.mark.parametrize(
    "text",
    [
        "In 1867 Cody saved 4,280 buffalo for the railroad.",
        "In 1868 Cody killed 4,280 buffalo for the railroad.",
        "In 1867 Hickok killed 4,280 buffalo for the railroad.",
        "In 1867 Cody killed 4,208 buffalo for the railroad.",
        "In 1867 Cody did not kill 4,280 buffalo for the railroad.",
        "In 4280 Cody killed 1,867 buffalo for the railroad.",
        "He later led a show from Chicago to Omaha.",
        "All settlers did not stay.",
        "Some settlers did stay.",
        "Settlers did not stay.",
        "In 1867 Cody killed 4,280 buffalo for the railroad, to the joy of the army.",
        "Cody led a show for the railroad in 1867.",
    ],
)
@pytest.mark.parametrize("markers", [(4,), (), (1, 4)])
def test_prose_in_which_one_thing_was_turned_is_refused(text: str, markers: tuple[int, ...]) -> None:
    assert verdicts(text, *markers) - {"borne_out"}


def test_a_passage_does_not_bear_out_what_a_direct_row_contradicts() -> None:
    story = an_item("Ness County had 7,000 inhabitants in 1910.", 4)
    found = checked("Ness County had some 7,000 people in 1910.", 4, items=(*ITEMS, story))
    assert {c.verdict for c in found.claims or ()} == {"contradicted"}


GARDEN = "In 1927 a garden was laid out in the park, and in 1952 a bear run, still open today."
TAKEN = "Warsaw was occupied by Germany, as proposed by Haber, until 1918, and she refused to sign."


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (GARDEN, "In 1952 a garden was laid out in the park, and in 1927 a bear run, still open today."),
        (GARDEN, "In 1952 a garden was laid out in the park."),
        (GARDEN, "A garden was laid out in the park in 1952."),
        (TAKEN, "Warsaw occupied Germany, as proposed by Haber."),
        (TAKEN, "Germany was occupied by Warsaw, as proposed by Haber."),
        (TAKEN, "Warsaw was occupied by Germany, as by Haber, until 1918."),
        (TAKEN, "Warsaw was occupied by Germany until 1918, and he refused to sign."),
        (TAKEN, "She signed, and Warsaw was occupied by Germany."),
        ("The town was compelled to pay the railroad.", "The town was compelled from pay the railroad."),
        ("Cody led the show, while Hickok was killed at cards.", "Cody was killed at cards."),
        (
            "He sent the reports of the Secretaries of War and the Navy.",
            "He sent the reports of War of the Secretaries.",
        ),
        ("The output is no. The objective is to decide the cost of the war.", "The output is to decide the cost."),
    ],
)
def test_what_belongs_to_another_clause_or_person_is_refused(source: str, text: str) -> None:
    assert {c.verdict for c in checked(text, 1, items=(an_item(source, 1),)).claims or ()} - {"borne_out"}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (GARDEN, "In 1927 a garden was laid out in the park."),
        (GARDEN, "A garden was laid out in the park in 1927."),
        (TAKEN, "Warsaw was occupied by Germany until 1918."),
        ("Cody, a scout of the army, killed buffalo.", "Cody killed buffalo."),
        ("The war began in 1861 and ended in 1865.", "It began in 1861."),
        ("He led the army and quickly won the battle of Omaha.", "He won the battle of Omaha."),
    ],
)
def test_what_a_sentence_may_leave_out(source: str, text: str) -> None:
    assert {c.verdict for c in checked(text, 1, items=(an_item(source, 1),)).claims or ()} == {"borne_out"}


@pytest.mark.parametrize(
    ("written", "fact", "agrees"),
    [
        ("just over 5,800", 5883, True),
        ("just over 5,000", 5883, False),
        ("almost 6,000", 5883, True),
        ("nearly 7,000", 6070, False),
        ("slightly less than 6,000", 5883, True),
        ("a little more than 6,000", 5883, False),
        ("more than 5,000", 5883, True),
    ],
)
def test_how_far_a_rounded_figure_may_be_off(written: str, fact: int, agrees: bool) -> None:
    [number] = read_numbers(written)
    assert number.agrees(Decimal(fact)) is agrees


@given(
    fact=st.decimals(min_value=1, max_value=10**9, places=1),
    written=st.integers(1, 9999),
    scale=st.sampled_from(("", "hundred", "thousand", "million")),
    word=st.sampled_from(("", "about ", "close to ", "nearly ", "just over ", "almost ")),
)
def test_a_figure_in_thousands_is_that_of_the_source_rounded(
    fact: Decimal, written: int, scale: str, word: str
) -> None:
    [number] = read_numbers(f"{word}{written} {scale}")
    if number.agrees(fact) and number.value != fact:
        assert abs(number.value - fact) <= Decimal(1).scaleb(fact.adjusted()) / 2


@pytest.mark.parametrize(
    ("written", "fact", "agrees"),
    [
        ("close to 1 thousand", "900.9", False),
        ("1 thousand", "600", False),
        ("about 1 thousand", "961", True),
        ("2 million", "1600000", True),
        ("1 million", "501000", False),
        ("10 thousand", "9600", True),
        ("some 1000 thousand", "910197", False),
        ("about 1,000", "1090", True),
        ("nearly 1,000", "923.7", False),
        ("nearly 1,000", "955", True),
        ("almost 100,000", "86467", False),
        ("just over 1,000", "1400", False),
    ],
)
def test_thousands_are_no_coarser_than_the_first_digit(written: str, fact: str, agrees: bool) -> None:
    [number] = read_numbers(written)
    assert number.agrees(Decimal(fact)) is agrees


def test_a_year_before_the_name_of_a_place_is_a_year() -> None:
    row = an_item("Population of Ness County by census: 1900 4,535, 1910 5,883.", 1, title="Counts")
    found = checked("In 1910 Ness County had 5,883 inhabitants.", 2, items=(row, an_observation(2, value="5883",
                    year=1910, place=NESS)))  # fmt: skip
    assert {c.verdict for c in found.claims or ()} == {"borne_out"}


@given(
    value=st.integers(2, 9_999_999),
    other=st.integers(2, 9_999_999),
    form=st.sampled_from(
        (
            "The population of Ness County in 1910 was {}.",
            "In 1910 Ness County had {} inhabitants.",
            "{} people lived in Ness County in 1910.",
        )
    ),
)
@settings(max_examples=150, deadline=None)
def test_of_any_two_figures_only_the_one_of_the_row_is_borne_out(value: int, other: int, form: str) -> None:
    row = an_observation(1, value=str(value), year=1910, place=NESS)
    for written in (value, other):
        found = checked(form.format(f"{written:,}"), 1, items=(row,))
        assert (
            {c.verdict for c in found.claims or ()} == {"borne_out"}
            if written == value
            else ({c.verdict for c in found.claims or ()} != {"borne_out"})
        )


@given(st.decimals(min_value=1, max_value=10**9, places=0))
def test_a_number_is_read_as_it_was_written(value: Decimal) -> None:
    assert [n.value for n in read_numbers(f"There are {value:,} of them.")] == [value]


@given(st.text(max_size=300))
def test_any_text_is_checked_without_a_fault(text: str) -> None:
    checked(text, 1, 4)


def test_a_fixed_phrase_claims_nothing() -> None:
    found = check_sentence(Sentence(0, "x", (), catalogue="ABSTAIN_NO_EVIDENCE"), Sources.of(ITEMS, ASKED, ""))
    assert found.claims == ()


def a_change(index: int) -> AdmittedItem:
    """A row of all years, which holds the figure that was asked for and is not the answer."""
    text = "Ness County: 1900 4,535, 1910 5,883."
    return an_item(text, index, title="Counties", statement=text, entities=(NESS,))


def test_the_number_of_an_item_that_answers_is_set_for_that_of_another_with_the_same_figure() -> None:
    items = (*ITEMS, a_change(5))
    found = checked("Ness County had a population of 5,883 in 1910.", 5, items=items)
    assert (found.markers, found.attribution, found.answers) == ((1,), "system", True)
    kept = checked("Ness County had a population of 5,883 in 1910.", 1, 5, items=items)
    assert (kept.markers, kept.attribution) == ((1, 5), "model")


@pytest.mark.parametrize(
    ("text", "years", "holds"),
    [
        ("Ness County had 5,883 and Rooks County 11,282 inhabitants in 1910.", (1910,), True),
        ("The population was 5,883.", (1910,), False),
        ("The population in 1910 was 11,282.", (1910,), False),
        ("The populations were 5,883 and 11,282.", (1910,), False),
        ("Ness County had a population of 5,883.", (1900, 1910), False),
        ("Ness County had a population of 5,883 in 1910.", (1900, 1910), True),
        ("It grew from 4,535 to 5,883.", (1900, 1910), True),
    ],
)
def test_a_figure_that_may_be_that_of_two_things_asked_falls(text: str, years: tuple[int, ...], holds: bool) -> None:
    places = (NESS,) if len(years) == 2 else (NESS, ROOKS)
    asked = Intent(
        mentions=tuple(Mention(place.name, 0, 11, (place,)) for place in places),
        times=tuple(map(TimeRange.year, years)),
        measures=("population",),
        operations=tuple(Lookup("population", (place.entity_id,), year) for place in places for year in years),
    )
    found = checked(text, *((1, 2) if len(years) == 2 else (1, 3)), items=ITEMS, intent=asked)
    assert all(claim.verdict == "borne_out" for claim in found.claims or ()) == holds, found.claims


TAKEN_IN = "The town was held by the army, and these men were paid by the governor of Norby."
DEFENDED = "The mayor defended the vote against the strictures of the council, and this was read at Norby."
CRANES = "A row of cranes was built by skilled smiths at the harbour in 1902."
FIRST = "The harbour board first met at Port Annick on 4 May 1952."


@pytest.mark.parametrize(
    ("source", "text", "holds"),
    [
        # the word that opens the sentence is the subject of another clause
        (
            "We are bound to guard the farms of Norby, and these are now without a wall.",
            "We are now without a wall.",
            False,
        ),
        ("It was a quiet harbour for years, and that is now closed to ships.", "It is now closed to ships.", False),
        ("He led the army and Grant quickly won the battle.", "He quickly won the battle.", False),
        ("He led the army and quickly won the battle.", "He quickly won the battle.", True),
        ("He later led a show of horses.", "He led a show of horses.", True),
        (
            "Proceedings were begun to learn their sum, and this was fixed in May.",
            "Proceedings was fixed in May.",
            False,
        ),
        # who did it, and what it was done to
        (CRANES, "A row of cranes was built at the harbour in 1902.", True),
        (CRANES, "A row of cranes built skilled smiths at the harbour in 1902.", False),
        (
            "This act was followed by later acts of that kind.",
            "Later acts of that kind was followed by this act.",
            False,
        ),
        # the word before what it governs
        (DEFENDED, "The mayor defended the vote for the strictures of the council.", False),
        (DEFENDED, "The mayor defended the vote against the strictures of the council.", True),
        (DEFENDED, "The mayor defended the vote.", True),
        # a word that takes something back
        (
            "These proteins are used by nearly all organisms of the sea.",
            "These proteins are used by all organisms.",
            False,
        ),
        ("The bank holds former terraces of the river.", "The bank holds terraces of the river.", False),
        # words in quotation marks are those of the source
        (FIRST, '"The harbour board which met at Port Annick on 4 May 1952."', False),
        (FIRST, 'The text says "the harbour board first met at Port Annick" on 4 May 1952.', True),
        (FIRST, "The harbour board met at Port Annick on 4 May 1952.", True),
    ],
)
def test_who_is_spoken_of_and_what_is_quoted_is_that_of_the_source(source: str, text: str, holds: bool) -> None:
    found = checked(text, 1, items=(an_item(source, 1, title="Notes"),), intent=Intent()).claims or ()
    assert all(claim.verdict == "borne_out" for claim in found) == holds, found


@pytest.mark.parametrize("word", ["halved", "doubled", "trebled", "grew tenfold", "quadrupled"])
def test_a_word_that_multiplies_is_no_direction(word: str) -> None:
    assert verdicts(f"The population of Ness County {word} from 4,535 in 1900 to 5,883 in 1910.", 1, 2) - {"borne_out"}


@pytest.mark.parametrize(
    ("written", "fact", "agrees"),
    [("about 1,000", 1450, False), ("about 1000 thousand", 1_320_000, False), ("about 1 million", 960_000, True)],
)
def test_about_is_within_a_tenth(written: str, fact: int, agrees: bool) -> None:
    [number] = read_numbers(written)
    assert number.agrees(Decimal(fact)) == agrees


@pytest.mark.parametrize(
    ("source", "turned", "kept"),
    [
        (
            "The winter of hardship saw the fall of Norby Hall after the great flood.",
            "The winter of hardship saw Norby Hall of the fall after the great flood.",
            "After the great flood the winter of hardship saw the fall of Norby Hall.",
        ),
        (
            "The council feared the loss of Skerrow in the long winter.",
            "The council feared Skerrow of the loss in the long winter.",
            "In the long winter the council feared the loss of Skerrow.",
        ),
        (
            "Since the end of the last council the mayor has read the bill.",
            "Since the last of the end council the mayor has read the bill.",
            "According to the text, since the end of the last council the mayor has read the bill.",
        ),
        (
            "The monks kept a mill above the bridge.",
            "The bridge kept a mill above the monks.",
            "Above the bridge the monks kept a mill.",
        ),
    ],
)
def test_a_word_that_compares_moves_only_where_it_opens_a_phrase(source: str, turned: str, kept: str) -> None:
    items = (an_item(source, 1, title="Annals"),)

    def verdict(text: str) -> set[str]:
        return {claim.verdict for claim in checked(text, 1, items=items).claims or ()}

    assert verdict(source) == verdict(kept) == {"borne_out"}
    assert verdict(turned) != {"borne_out"}
