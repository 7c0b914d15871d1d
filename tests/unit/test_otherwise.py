"""The sentence beside it says otherwise (rules of meaning 8): of the thing itself, of what is only believed, of another
subject, or of what an ellipsis leaves out. Beside each wrong sentence stands its true twin."""

from __future__ import annotations

from itertools import product

import pytest

from ai.text.meaning.meant import Meant
from ai.text.meaning.otherwise.asked import Asked
from ai.text.meaning.otherwise.ellipsis import is_elliptical
from ai.text.meaning.otherwise.hearsay import answer_behind
from ai.text.meaning.otherwise.verdicts import denies_it

Around = tuple[str, ...]


def follows(question: str, text: str, before: Around = (), after: Around = ()) -> bool:
    return Meant.of(question, frozenset()).follows(text, before, after)


SISTERS = (
    ("hand", "saw", "sharpened on the wheel"),
    ("winter", "gate", "locked at night"),
    ("night", "bus", "free for pupils"),
    ("paper", "filter", "rinsed after use"),
    ("guest", "room", "heated in winter"),
    ("feral", "cat", "vaccinated by the ward"),
    ("digital", "ticket", "valid on Sundays"),
)
DENIALS = (
    "The {} is not.",
    "The {} isn't, since it is too old.",
    "However, the {} must be looked after by its owner.",
    "The {} is never {}.",
)


@pytest.mark.parametrize(("which", "noun", "state"), SISTERS)
def test_the_sentence_on_the_thing_itself_goes_before_that_on_its_sister(which: str, noun: str, state: str) -> None:
    question, general = f"Is the {which} {noun} {state}?", f"The {noun} is {state}."
    for denial in DENIALS[:2] + DENIALS[3:]:
        after = (denial.format(f"{which} {noun}", state),)
        assert not follows(question, general, (), after), after
        assert follows(f"Is the {noun} {state}?", general, (), after), "asked about at large"
        assert follows(question, general.replace(noun, f"{which} {noun}"), (), after), "it says which one"
    assert follows(question, general), "nothing tells them apart"
    assert follows(question, general, (f"There is a {which} {noun} in the yard.",)), "it may be the one before"
    assert follows(question, general, (), (f"The {which} {noun} was bought in 2009.",)), "which says nothing of it"


@pytest.mark.parametrize(("which", "noun"), [each[:2] for each in SISTERS])
@pytest.mark.parametrize("other", ["Chains", "The old oars", "The tools of the club"])
def test_the_sentence_that_has_the_deed_of_the_thing_itself_goes_before(which: str, noun: str, other: str) -> None:
    question = f"How often is the {which} {noun} oiled?"
    text, own = f"{other} are oiled every month.", f"The {which} {noun} is {{}}oiled{{}}."
    assert not follows(question, text, (), (own.format("never ", ""),)), own
    assert not follows(question, text, (own.format("", " every year"),))
    assert follows(question, text, (own.format("", " by the foreman"),)), "which does not tell how often"
    assert follows(question, own.format("", " every year"), (text,))
    assert follows(f"How often are {other.lower()} oiled?", text, (own.format("never ", ""),))


GROUPS = (
    ("Pensioners", "travel", "The ride is free for pensioners", "{} pay two euros"),
    ("Apprentices", "eat", "Apprentices eat free of charge", "The price for {} is six pounds"),
    ("Members", "enter", "Members get in for nothing", "{} pay nine francs at the door"),
)
OTHERS = ("all others", "everyone else", "everybody else", "the others", "the rest")


@pytest.mark.parametrize(("group", "deed", "named", "said"), GROUPS)
@pytest.mark.parametrize("others", OTHERS)
def test_what_holds_for_all_others_does_not_for_those_named_before(
    group: str, deed: str, named: str, said: str, others: str
) -> None:
    text = said.format(others)
    text, before = f"{text[0].upper()}{text[1:]}.", (f"{named}.",)
    question = f"How much do {group.lower()} pay?"
    assert not follows(question, text, before)
    assert follows("How much do adults pay?", text, before)
    assert follows("How much do all others pay?", text, before)
    assert follows(question, f"{named}; {text}"), "it says both"
    assert follows(f"Who does not {deed} for nothing?", text, before)


@pytest.mark.parametrize("save", ["except", "except for", "apart from", "other than", "with the exception of"])
@pytest.mark.parametrize(("thing", "things"), [("forge", "shops"), ("chapel", "buildings"), ("ferry", "boats")])
def test_an_exception_is_no_example(save: str, thing: str, things: str) -> None:
    text = f"All {things} were repaired in 1931 {save} the {thing}."
    assert not follows(f"When was the {thing} repaired?", text)
    assert follows(f"Was the {thing} repaired?", text), "it tells whether"
    assert follows(f"When were the {things} repaired?", text)
    followed = f"All {things} were repaired in 1931 {save} the {thing}, which was repaired in 1940."
    assert follows(f"When was the {thing} repaired?", followed)


@pytest.mark.parametrize("plain", ["ordinary", "normal", "standard", "conventional"])
@pytest.mark.parametrize(("special", "noun"), [("Waxed", "ropes"), ("Cold-drawn", "wires"), ("Toughened", "panes")])
def test_the_ordinary_ones_are_not_the_special_ones(plain: str, special: str, noun: str) -> None:
    question = f"How long do {plain} {noun} last?"
    assert not follows(question, f"{special} {noun} last for five years.")
    assert follows(question, f"{plain.title()} {noun} last for five years.")
    assert follows(question, f"{noun.title()} last for five years.")
    assert follows(f"How long do the {noun} last?", f"{special} {noun} last for five years.")


HELD = (
    "Some {} believe that {}.",
    "Many {} say that {}.",
    "Several {} had feared that {}.",
    "Most {} thought that {}.",
    "It was rumoured that {1}.",
    "It is widely believed that {1}.",
    "According to local legend, {1}.",
    "Legend has it that {1}.",
    "There were rumours that {1}.",
    "There had been fears that {1}.",
    "Mrs Quist hopes that {1}.",
    "The police suspected that {1}.",
    "The landlord claims that {1}.",
)
FACTS = (
    ("shepherds", "the wolf killed the lambs", "Did the wolf kill the lambs?"),
    ("tenants", "the rent will be raised", "Will the rent be raised?"),
    ("nurses", "the syrup helps against coughs", "Does the syrup help against coughs?"),
    ("players", "the captain was paid for the match", "Was the captain paid for the match?"),
    ("sailors", "the wreck holds silver coins", "Does the wreck hold silver coins?"),
)
DENIED = (
    "There is no evidence for it.",
    "The board has denied this.",
    "Tests showed no difference.",
    "This was not true.",
    "In fact, nothing of the kind happened.",
    "The rumour was unfounded.",
)


@pytest.mark.parametrize(("held", "fact"), [*product(HELD, FACTS)])
def test_what_is_held_is_no_fact(held: str, fact: tuple[str, str, str]) -> None:
    holders, said, question = fact
    text = held.format(holders, said)
    assert not follows(question, text), text
    assert follows(question, f"{said[0].upper()}{said[1:]}."), "the fact"
    assert follows(f"What did people believe about {said.split()[1]}?", text)
    assert follows("Who said so?", text)
    assert follows(question, f"{text.removesuffix('.')}, but there was nothing in it."), "it says what came of it"
    for denied in DENIED:
        asked = Asked.of(question)
        assert answer_behind(text, (denied,), asked) == denied
        assert not answer_behind(text, ("The hall was painted on Monday.",), asked)
        assert not answer_behind(text, ("No ladders may be left in the hall.",), asked), "of something else"
        assert not answer_behind(f"{said.capitalize()}.", (denied,), asked)


@pytest.mark.parametrize(
    "told",
    [
        "The report says that {}.",
        "The inspector found that {}.",
        "The court said that {}.",
        "We think that {}.",
        "The researchers believe that {}.",
        "Dr Amsel said that {}.",
    ],
)
@pytest.mark.parametrize("fact", FACTS)
def test_a_report_by_who_knows_is_a_fact(told: str, fact: tuple[str, str, str]) -> None:
    assert follows(fact[2], told.format(fact[1]))


@pytest.mark.parametrize("verb", ["believe", "think", "know"])
def test_scholars_may_date_a_thing(verb: str) -> None:
    text = f"Historians {verb} that the crypt was dug in 1190."
    assert follows("When was the crypt dug?", text)
    assert follows("When was the crypt dug?", "The crypt is thought to have been dug in 1190.")
    assert not follows("When was the crypt dug?", "Some villagers believe that the crypt was dug in 1190.")


PLANS = ("planned to", "intended to", "hoped to", "offered to", "had promised to", "threatened to")
DEEDS = (("sell", "sold", "the mill"), ("build", "built", "a second pier"), ("paint", "painted", "the ceiling"))


@pytest.mark.parametrize(("plan", "deed"), [*product(PLANS, DEEDS)])
def test_a_plan_is_no_deed(plan: str, deed: tuple[str, str, str]) -> None:
    verb, done, thing = deed
    text = f"The guild {plan} {verb} {thing} in 1962."
    assert not follows(f"Did the guild {verb} {thing}?", text)
    assert not follows(f"When did the guild {verb} {thing}?", text)
    assert follows(f"Will the guild {verb} {thing}?", text)
    assert follows(f"What did the guild plan to {verb}?", text)
    assert follows(f"When did the guild {verb} {thing}?", f"The guild {done} {thing} in 1962.")
    assert follows(f"Did the guild {verb} {thing}?", f"{text.removesuffix('.')}, but the money ran out.")


CARRIED = (
    ("kettle", "lanterns", "sold", "found", "in the cellar"),
    ("cow", "sheep", "stolen", "slaughtered", "behind the barn"),
    ("pump", "valves", "inspected", "replaced", "in June"),
    ("novel", "letters", "written in Riga", "printed", "in Turin"),
)


@pytest.mark.parametrize(("one", "many", "both", "deed", "how"), CARRIED)
@pytest.mark.parametrize("join", ["; ", ", and ", ", but ", ", while "])
def test_a_clause_keeps_its_subject(one: str, many: str, both: str, deed: str, how: str, join: str) -> None:
    text = f"The {one} and two {many} were {both}{join}the {many} were later {deed} {how}."
    asks = "When" if how == "in June" else "Where"
    assert not follows(f"{asks} was the {one} {deed}?", text)
    assert follows(f"{asks} were the {many} {deed}?", text)
    assert not follows(f"Who {deed} the {one}?", f"{text.removesuffix('.')} by Mr Ash.")
    assert follows(f"Who {deed} the {many}?", f"{text.removesuffix('.')} by Mr Ash.")
    assert follows(f"{asks} was the {one} {deed}?", text.replace(f"the {many} were later", "both were later"))
    assert follows(f"{asks} was the {one} {deed}?", text.replace(f"the {many} were later", f"the {one} was later"))
    assert follows(f"{asks} was the {one} {deed}?", f"The {one} was {both}{join}it was later {deed} {how}.")
    assert follows(f"{asks} was the {one} {deed}?", f"The {one} was {both}, and later {deed} {how}.")
    assert follows(f"{asks} was the {one} {deed}?", f"The {many} were {deed} {how}, the {one} in Ulm.")
    assert follows(f"Was the {one} {deed}?", f"The {many} were {deed} {how}; the {one} was not.")


@pytest.mark.parametrize("noun", ["chapel", "smaller pump", "quarry", "mayor of Hale"])
def test_an_ellipsis_stays_with_what_it_completes(noun: str) -> None:
    cut = (
        f"The {noun} is not; ask at the desk.",
        f"The {noun} did not.",
        f"So was the {noun}.",
        f"Neither does the {noun}.",
    )
    for text in cut:
        assert is_elliptical(text), text
        assert follows(f"Is the {noun} insured?", text), "what it completes may be the heading"
        assert not follows(f"Is the {noun} insured?", text, ("The tower has 90 steps.",))
        assert follows(f"Is the {noun} insured?", text, ("The tower has been insured for years.",))
    for text in (
        f"The {noun} is not insured.",
        f"The {noun} did what it could.",
        "That is all there is.",
        "It was not until May.",
    ):
        assert not is_elliptical(text), text


@pytest.mark.parametrize("thing", ["library", "north gate", "farm shop", "swimming bath"])
def test_opening_is_not_told_by_closing(thing: str) -> None:
    when, closed = f"When does the {thing} open?", f"The {thing} is closed on Mondays."
    assert not follows(when, closed)
    assert not follows(f"When does the {thing} close?", f"The {thing} opens at seven.")
    for told in (f"The {thing} opens at nine.", f"The {thing} is closed until 4 May.", f"The {thing} is open daily."):
        assert follows(when, told), told
    assert follows(f"When does the {thing} close?", f"The {thing} is open from nine to five.")
    assert follows(f"Until when is the {thing} open?", f"The {thing} closes at six.")
    assert follows(f"Is the {thing} open on Mondays?", closed)
    assert follows(f"When is the {thing} closed?", closed)
    museum, hall = "The museum opens at ten.", f"The {thing} is closed on Mondays."
    assert not follows(when, museum, (), (hall,)), "another tells of the one asked about"
    assert follows(when, "The doors open at ten.", (f"The {thing} has three floors.",))
    assert not follows("On which day is the nurse closed?", "The nurse comes on Fridays."), "nothing of closing"


def test_a_denial_of_what_stands_before_leans_on_it() -> None:
    for text in ("The county has denied this.", "There is no evidence for it.", "Nobody could confirm that."):
        assert denies_it(text), text
    for text in (
        "The county denied the request.",
        "He was heard, but Dr Ito found no trace of them.",
        "There is no lift.",
    ):
        assert not denies_it(text), text
