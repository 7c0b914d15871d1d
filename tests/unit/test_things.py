"""The thing, place or person that is asked for, and another one in its place (rules of meaning 8): generated cases, each
beside its true twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import pytest

from ai.text.meaning.meant import Meant

Case = tuple[str, str, Sequence[str], Sequence[str], bool]
"""Question, sentence, those before and behind it, and whether it may answer."""


def follows(case: Case, *, title: str = "") -> bool:
    question, text, before, after, _ = case
    meant = Meant.of(question, frozenset())
    return meant.follows(text, before, after, frozenset(title.casefold().split()))


def counted() -> Iterator[Case]:
    for one, other in permutations(("sailors", "tourists", "porters", "nurses"), 2):
        text = f"Of the 80 {other} and six {one} aboard, eleven people were rescued."
        yield f"How many {one} were rescued?", text, (), (), False
        yield "How many people were rescued?", text, (), (), True
        yield f"How many {one} were rescued?", f"Of the 80 {other}, eleven {one} were rescued.", (), (), True
    for beast, other in permutations(("foxes", "herons", "lambs", "ducks"), 2):
        before, behind = (f"Nine ringed {other} were seen.",), (f"Cameras showed {beast} on two nights.",)
        text = "Four were caught by dogs, and two drowned."
        yield f"How many {beast} were caught by dogs?", text, before, behind, False
        yield f"How many {other} were caught by dogs?", text, before, behind, True


def bound() -> Iterator[Case]:
    for one, other in permutations(("old quarry", "mill pond", "boat house", "upper gate"), 2):
        text, behind = f"At the {other} twelve berths remain.", (f"Visitors may camp at the {one} for a night.",)
        yield f"How many berths remain at the {one}?", text, (), behind, False
        yield f"How many berths remain at the {other}?", text, (), behind, True
        yield f"How many berths remain at the {one}?", "Twelve berths remain there.", (behind[0],), (), True
    for town, other in permutations(("Dunmore", "Keld", "Arlen"), 2):
        text, behind = "Ida Holm will hold the raffle.", (f"The rest goes to the hospital in {town}.",)
        yield f"Who will hold the raffle in {town}?", text, (), behind, False
        yield (
            f"Who will hold the raffle in {town}?",
            text,
            (),
            (f"The fair in {town}, a raffle, is old. In {town} it rains.",),
            True,
        )
        yield f"Who will hold the raffle in {other}?", f"In {other} Ida Holm will hold the raffle.", (), behind, True
    for one, other in permutations(("organ", "tower", "kitchen", "bell"), 2):
        text, before = f"The bazaar raised £420 for the {other}.", (f"The {one} was mended in March.",)
        yield f"How much did the bazaar raise for the {one}?", text, before, (), False
        yield f"How much did the bazaar raise for the {other}?", text, before, (), True


def subjects() -> Iterator[Case]:
    for one, other in permutations(("drivers", "cooks", "guards", "clerks"), 2):
        text, behind = (
            f"{other.capitalize()} should be examined twice a year.",
            (f"The port asks that {one} report losses.",),
        )
        yield f"How often must {one} pass the examination?", text, (), behind, False
        yield f"How often must {other} pass the examination?", text, (), behind, True
        yield f"How often must {one} pass the examination?", text, (), (), True
    for one, other in permutations(("lid", "grille", "blade", "hopper"), 2):
        text, behind = f"The {other} is safe in boiling water.", (f"Wipe the {one} with a cloth.",)
        yield f"How safe is the {one} in boiling water?", text, (), behind, False
        yield f"How safe is the {other} in boiling water?", text, (), behind, True
    for one, other in permutations(("dough", "yeast", "syrup"), 2):
        before, behind = (f"The {other} keeps for a week.",), (f"The {one} keeps for ten days.",)
        yield f"How long can the {one} be frozen?", "It can be frozen for three months.", before, behind, False
        yield f"How long can the {other} be frozen?", "It can be frozen for three months.", before, behind, True
    for one, other, third in permutations(("violins", "flutes", "horns", "drums"), 3):
        text = f"The {other} rehearsed on Monday and the {third} on Friday."
        yield f"When did the {one} rehearse?", text, (), (), False
        yield f"When did the {other} rehearse?", text, (), (), True


def objects() -> Iterator[Case]:
    for one, other in permutations(("jams", "pickles", "scones", "onions"), 2):
        text, before = f"Miss Reed judges the {other}.", (f"There is no prize for the {one}.",)
        yield f"Who judges the {one}?", text, before, (), False
        yield f"Who judges the {other}?", text, before, (), True
        yield f"Who judges the {one}?", text, (), (), True  # by another word, for all that is known
    for name, other in permutations(("Sarn", "Lusk", "Tarn"), 2):
        text = f"On 4 May the ship struck the mole at {name}."
        yield f"When did the ship leave {name}?", text, (), (f"The ship left {other} at nine.",), False
        yield (
            f"When did the ship leave {name}?",
            f"The ship left {name} on 4 May.",
            (),
            (f"It left {other} at nine.",),
            True,
        )


def measured() -> Iterator[Case]:
    for one, other in permutations(("beam", "pipe", "rail", "post"), 2):
        text = f"The {other} was replaced in May; it was 30 cm too long and scraped against a {one}."
        yield f"How long was the {one}?", text, (), (), False
        yield f"How long was the {other}?", text, (), (), True
    for one, other in permutations(("bucket", "flask", "churn", "basin"), 2):
        text = f"The set consists of a {other} (2 litres), a {one}, a lid and a tap."
        yield f"How much water fits in the {one}?", text, (), (), False
        yield f"How much water fits in the {other}?", text, (), (), True


def clauses() -> Iterator[Case]:
    for one, other in permutations(("Ash Lodge", "Keld House", "Tarn Hall"), 2):
        text = f"The chapel was built in 1820 by Ida Holm; {one} is much older."
        yield f"Who built {one}?", text, (), (), False
        yield "Who built the chapel?", text, (), (), True
        yield f"Who built {one}?", f"{one} is old; it was built by Ida Holm.", (), (), True
        yield f"Who built {other}?", f"{one} is older; {other} was built by Ida Holm.", (), (), True
    for one, other in permutations(("drill", "ladder", "spade"), 2):
        text = f"A {one} and a {other} were stolen; the {other} was later found in a ditch."
        yield f"Where was the {one} found?", text, (), (), False
        yield f"Where was the {other} found?", text, (), (), True


def sorts() -> Iterator[Case]:
    for one, other in permutations(("sailing", "pottery", "evening"), 2):
        text, behind = "Courses that last a week cost £90.", (f"{one.capitalize()} courses are held in May.",)
        yield f"How much do {one} courses cost?", text, (), behind, False
        yield "How much do courses cost?", text, (), behind, True
        yield f"How much do {other} courses cost?", f"{other.capitalize()} courses cost £90.", (), behind, True
    for street, other in permutations(("Mill Close", "Dock Row", "Long Lane"), 2):
        before = (f"Two tenants of {other} complained.", f"A pump stands in {street}.")
        text = "Mrs Holm has apologised to the tenants."
        yield f"Who has apologised to the tenants of {street}?", text, before, (), False
        yield f"Who has apologised to the tenants of {other}?", text, before, (), True


def people() -> Iterator[Case]:
    for one, other in permutations(("Mrs Udall", "Mr Crouch", "Ida Holm", "Emil Roth"), 2):
        last = other.split()[-1]
        yield f"Where does {one} teach now?", f"Her predecessor, {other}, now teaches at Sarn.", (), (), False
        yield f"Where does {other} teach now?", f"Her predecessor, {other}, now teaches at Sarn.", (), (), True
        yield f"Where does {one} run a shop?", f"My cousin {other}, who runs a shop in Sarn, sings.", (), (), False
        yield f"Where does {last} run a shop?", f"My cousin {other}, who runs a shop in Sarn, sings.", (), (), True
        yield f"Who defended {one}?", f"{other} was defended by a young lawyer.", (), (), False
        yield f"Who defended {other}?", f"{other} was defended by a young lawyer.", (), (), True
    for one, other in permutations(("Alba", "Greta", "Nina"), 2):
        before = (f"{other} Holm was born in 1839.",)
        yield f"Who taught {one} to read?", "Her mother taught her to read from an almanac.", before, (), False
        yield f"Who taught {other} to read?", "Her mother taught her to read from an almanac.", before, (), True
        yield f"How many children did {one} have?", f"They had one daughter, {one}.", (), (), False
        yield f"How many children did {one} have?", f"{one} had one daughter, {other}.", (), (), True
        yield f"Where did {one} Holm's aunt study?", f"{one} Holm was born in Sarn.", (), (), False
        yield f"Where did {one} Holm's aunt study?", f"{one} Holm's aunt studied in Sarn.", (), (), True
    for one, other in permutations(("sailor", "porter", "baker"), 2):
        yield f"Who rescued the {one}?", f"He was rescued by a passing {one}, Emil Roth.", (), (), False
        yield f"Who rescued the {one}?", f"The {one} was rescued by a passing {other}.", (), (), True
    for fund, other in permutations(("Harley Trust", "Ryder Fund", "National Lottery"), 2):
        text = f"The club received a grant of £800 from the {other} for a boat."
        yield f"How much did the {fund} grant to the club?", text, (), (), False
        yield f"How much did the {other} grant to the club?", text, (), (), True
    for deed in ("apologised", "resigned", "objected"):
        bare = deed.removesuffix("d") if deed != "objected" else "object"
        yield f"Who {deed} to the tenants?", f"Mrs Holm will write to the tenants to {bare}.", (), (), False
        yield f"Who {deed} to the tenants?", f"Mrs Holm {deed} to the tenants in writing.", (), (), True


KINDS = (counted, bound, subjects, objects, measured, clauses, sorts, people)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_another_is_told_from_the_one_that_is_asked_for(kind: object) -> None:
    assert callable(kind)
    wrong = [case for case in kind() if follows(case) != case[-1]]
    assert not wrong, wrong[:3]


def test_what_a_passage_is_about_needs_no_mention() -> None:
    """A title or every third sentence names it: all that is said is said of it."""
    for thing in ("ferry", "kiln", "orchard"):
        question, text = f"How often must the {thing} be inspected?", "The surveyor has to come twice a year."
        behind = (f"The {thing} was sold.", f"The {thing} is old.", f"Nobody saw the {thing}.")
        assert follows((question, text, (), behind, True))
        assert follows(
            (question, text, (), (f"The {thing} of Sarn is old.", *["It rained."] * 4), True), title=f"The {thing}"
        )


def test_what_is_said_in_other_words_is_left_alone() -> None:
    """Where the passage has no word of the question's for it, the sentence may tell of it by another one."""
    assert follows(("How often must skippers train?", "Masters should train twice a year.", (), ("It rained.",), True))
    assert follows(("Where did the vessel sink?", "The ship sank off Sarn.", (), ("It was old.",), True))


@pytest.mark.parametrize("thing", ["search", "kiln", "editor"])
def test_a_heading_in_the_line_names_the_thing(thing: str) -> None:
    """`Search. The index has been rewritten by Ann Lee.`"""
    behind = (f"The {thing} is faster now.",)
    text = "The index has been rewritten by Ann Lee."
    assert follows((f"Who rewrote the {thing}?", text, (f"{thing.title()}.",), behind, True))
    assert not follows((f"Who rewrote the {thing}?", text, ("It rained for weeks in May.",), behind, False))


def test_a_preposition_is_no_deed() -> None:
    text = "The shelter at the pass has no warden; it sleeps six."
    assert follows(("How many people can sleep in the shelter at the pass?", text, (), (), True))
