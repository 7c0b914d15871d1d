"""The extractive model: it answers with whole sentences that stand in the sources, or not at all."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.errors import ModelTimeout
from ai.model import AdmittedItem, MapContext
from ai.models.candidates import Parameters
from ai.models.chat_model import ChatRequest
from ai.models.context import ContextBudgets, render_prompt, template_named
from ai.models.extractive import VERSION, ExtractiveModel
from ai.models.reading.versions import RELEASED
from ai.text.catalogue import ABSTAIN, PARTIAL, PHRASES
from ai.text.question_type import WantedKind, offers, wanted_of
from retrieval.algebra.operations import Lookup
from retrieval.model import EntityRef, Intent, Mention, TimeRange
from tests.fakes_ai import SHAWNEE, an_item, an_observation, sourced

NO_INTENT = Intent()
ABSTAINS = PHRASES[ABSTAIN]
KANSAS = EntityRef("state:20", "Kansas", "state")
LOOKUP = Lookup("population", ("county:20177",), 1930)
BUCHANAN = (
    "JAMES BUCHANAN\n\nJames Buchanan was born near Mercersburg, Pa., April 23, 1791. His father came from the county of\n"
    "Donegal, Ireland, in 1783. Was elected to the House of Representatives in 1820 and served ten years."
)


def request(
    question: str, items: Sequence[AdmittedItem], intent: Intent = NO_INTENT, *, max_tokens: int = 700
) -> ChatRequest:
    template = template_named("focus_mode/v1")
    prompt = render_prompt(
        question, items, MapContext(), intent=intent, template=template, budgets=ContextBudgets(), canary=None
    )
    return ChatRequest(prompt, question, intent, max_tokens, 0, None, 10.0)


def ask(question: str, *items: AdmittedItem, intent: Intent = NO_INTENT) -> list[str]:
    completion = asyncio.run(ExtractiveModel().complete(request(question, items, intent)))
    return completion.text.split("\n")


def year(value: int, *entities: EntityRef) -> Intent:
    return Intent(mentions=tuple(Mention(e.name, 0, 1, (e,)) for e in entities), times=(TimeRange.year(value),))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where was James Buchanan not born?", "not"),
        ("Where wasn't James Buchanan born?", "n't"),
        ("Where wasn\u2019t James Buchanan born?", "n't with a curly mark"),
        ("Where was James Buchanan never born?", "never"),
        ("Where was James Buchanan born, except near Mercersburg?", "except"),
        ("Where was James Buchanan born apart from Mercersburg?", "apart from"),
        ("Where was James Buchanan born other than Mercersburg?", "other than"),
        ("Excluding Mercersburg, where was James Buchanan born?", "excluding"),
        ("Where was neither James Buchanan nor his father born?", "neither"),
    ],
)
def test_a_sentence_that_denies_nothing_answers_no_question_that_does(question: str, words: str) -> None:
    assert ask(question, an_item(BUCHANAN)) == [ABSTAINS], words


def test_a_sentence_that_denies_answers_a_question_that_does() -> None:
    said = "James Buchanan was never married, and was not born in Ireland as his father was."
    assert ask("Where was James Buchanan not born?", an_item(said)) == [f"{said} [1]"]


def test_it_answers_with_the_sentence_that_answers() -> None:
    assert ask("Where was James Buchanan born?", an_item("It rained."), an_item(BUCHANAN, 2)) == [
        "James Buchanan was born near Mercersburg, Pa., April 23, 1791. [2]"
    ]


def test_a_direct_fact_comes_first_and_alone() -> None:
    items = [an_item("Shawnee County had a large population in 1930."), an_observation(2)]
    lines = ask("What was the population of Shawnee County in 1930?", *items, intent=Intent(operations=(LOOKUP,)))
    assert lines == ["Shawnee County had 85,200 inhabitants in 1930. [2]"]


@pytest.mark.parametrize(
    "item",
    [
        an_observation(year=1920),
        an_observation(place=EntityRef("city:ks-topeka", "Topeka", "city")),
        an_item("The population of Shawnee County in 1930 was 85,200."),
    ],
)
def test_an_operation_without_a_direct_source_abstains(item: AdmittedItem) -> None:
    question = "What was the population of Shawnee County in 1930?"
    intent = Intent(
        operations=(LOOKUP,), times=(TimeRange.year(1930),), mentions=(Mention("Shawnee County", 0, 1, (SHAWNEE,)),)
    )
    assert ask(question, item, intent=intent) == [ABSTAINS]


def test_every_place_whose_figure_is_asked_for_is_told() -> None:
    places = [EntityRef(f"county:{i}", f"County {i}", "county") for i in range(5)]
    items = [an_observation(i + 1, place=place) for i, place in enumerate(places)]
    for ids in (tuple(p.entity_id for p in places), ()):
        intent = Intent(operations=(Lookup("population", ids, 1930),), times=(TimeRange.year(1930),))
        assert len(ask("What was the population in 1930?", *items, intent=intent)) == 5


def test_every_figure_of_a_span_of_years_is_told() -> None:
    items = [an_observation(i + 1, year=1900 + 10 * i) for i in range(5)]
    asked = Intent(operations=(Lookup("population", ("county:20177",), None),))
    assert len(ask("What is the population of Shawnee County?", *items, intent=asked)) == 3
    span = replace(asked, times=(TimeRange.year(1900, 1940),))
    assert len(ask("population of Shawnee County from 1900 to 1940", *items, intent=span)) == 5


def test_a_part_that_is_missing_is_said() -> None:
    intent = Intent(operations=(LOOKUP, Lookup("population", ("county:20177",), 1870)))
    assert ask("In 1930 and 1870?", an_observation(), intent=intent)[-1] == PHRASES[PARTIAL]


def test_an_unknown_name_must_stand_in_a_source() -> None:
    intent = Intent(mentions=(Mention("Gotham", 0, 6, ()),))
    item = an_item("The storm came to the city from the north.")
    assert ask("When was the storm of Gotham?", item, intent=intent) == [ABSTAINS]
    named = an_item("The storm came to\nGotham in 1931.")
    assert ask("When was the storm of Gotham?", item, replace(named, index=2), intent=intent) == [
        "The storm came to Gotham in 1931. [2]"
    ]


def test_an_unknown_name_stops_a_direct_fact_too() -> None:
    intent = Intent(operations=(LOOKUP,), mentions=(Mention("Gotham", 0, 6, ()),))
    assert ask("Had Shawnee County more people than Gotham in 1930?", an_observation(), intent=intent) == [ABSTAINS]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the capital of France?", BUCHANAN),
        ("Who invented the telephone?", BUCHANAN),
        ("When did the storm come?", "The storm came from the north over the hills."),
        ("How many men came to Lawrence?", "The men came to Lawrence over the hills."),
        ("Who came to Lawrence with the guns?", "They came to Lawrence with the guns."),
        ("What did the storm destroy?", "The storm destroyed"),
        ("What did the storm destroy?", "the storm destroyed the barn."),
        ("What happened?", "The storm destroyed the barn in the night."),
        ("", "The storm destroyed the barn in the night."),
        ("What is it?", "It is a very good thing indeed."),
    ],
)
def test_what_is_not_answered_abstains(question: str, text: str) -> None:
    assert ask(question, an_item(text)) == [ABSTAINS]


def test_no_source_abstains() -> None:
    assert ask("What did the storm destroy?") == [ABSTAINS]


def test_what_happened_in_a_year_takes_what_is_dated_to_it() -> None:
    treaty = an_item(
        "Wyandot", 1, title="Treaties of Kansas", statement="The Wyandot signed a treaty at Washington on 1 April 1850."
    )
    other = an_item("In 1861 the army left Kansas for ever. The barn of the fort burned down.", 2)
    prose = an_item("The first train came to Kansas in 1850 with forty men. It stayed there.", 3)
    figure = an_item("x", 4, title="Towns of Kansas", statement="Kansas City had a population of 700 in 1850.")
    lines = ask("What happened in Kansas in 1850?", treaty, other, prose, figure, intent=year(1850, KANSAS))
    assert set(lines) == {
        "The Wyandot signed a treaty at Washington on 1 April 1850. [1]",
        "The first train came to Kansas in 1850 with forty men. [3]",
    }


def test_another_years_sentence_is_not_selected() -> None:
    item = an_item(
        "In 1861 the governor of Kansas was Charles Robinson. In 1857 the governor of Kansas was Robert Walker."
    )
    assert ask("Who was the governor of Kansas in 1857?", item, intent=year(1857, KANSAS)) == [
        "In 1857 the governor of Kansas was Robert Walker. [1]"
    ]
    assert ask("Who was the governor of Kansas in 1870?", item, intent=year(1870, KANSAS)) == [ABSTAINS]


MAY = [
    an_item("x", 1, title="Treaties", statement="The Delaware signed a treaty at Washington on May 6, 1854."),
    an_item("x", 2, title="Treaties", statement="The Shawnee signed a treaty at Washington on May 10, 1854."),
    an_item("x", 3, title="Treaties", statement="The Omaha signed a treaty at Washington in 1854."),
]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (TimeRange(date(1854, 5, 10), date(1854, 5, 10)), [2, 3]),
        (TimeRange(date(1854, 5, 11), date(1854, 5, 11)), [3]),
        (TimeRange(date(1854, 5, 1), date(1854, 5, 31)), [1, 2, 3]),
        (TimeRange(date(1854, 6, 1), date(1854, 6, 30)), [3]),
        (TimeRange(date.min, date(1854, 5, 9)), [1, 3]),
        (TimeRange.year(1854), [1, 2, 3]),
        (TimeRange.year(1855), []),
    ],
)
def test_a_day_that_is_asked_for_is_no_other_day_of_its_year(asked: TimeRange, said: list[int]) -> None:
    lines = ask("Which treaties were signed?", *MAY, intent=Intent(times=(asked,)))
    assert sorted(line[-2] for line in lines if line != ABSTAINS) == [str(n) for n in said]


def test_an_undated_sentence_stands_under_the_year_before_it() -> None:
    item = an_item(
        "It was 1857. The governor of Kansas was Robert Walker. Then came 1858. The governor was James Denver."
    )
    assert ask("Who was governor of Kansas in 1858?", item, intent=year(1858, KANSAS)) == [
        "The governor was James Denver. [1]"
    ]


def test_a_source_about_another_place_is_not_selected() -> None:
    intent = Intent(mentions=(Mention("Shawnee County", 0, 1, (SHAWNEE,)),))
    assert ask(
        "When was the court house of Shawnee County built?",
        an_item("The court house was built in 1867."),
        intent=intent,
    ) == [ABSTAINS]


def test_a_name_must_stand_near_the_sentence() -> None:
    intent = Intent(mentions=(Mention("France", 0, 6, ()),))
    near = "Our relations with France are friendly. Peace reigns. Roads are long. The capital of the banks has grown."
    assert ask("What is the capital of France?", an_item(near), intent=intent) == [ABSTAINS]
    right = an_item("We came to France in May. Its capital is the city of Paris.")
    assert ask("What is the capital of France?", right, intent=intent) == [
        "We came to France in May. [1]",
        "Its capital is the city of Paris. [1]",
    ]


def test_a_question_that_is_only_a_name_takes_sentences_that_name_it() -> None:
    storm = EntityRef("event:black-sunday", "Black Sunday", "event")
    intent = Intent(mentions=(Mention("Black Sunday", 9, 21, (storm,)),))
    item = an_item("The day was clear. A wall of dust came, a storm remembered as **Black Sunday**.[^pbs] It went on.")
    assert ask("What was Black Sunday?", item, intent=intent) == [
        "A wall of dust came, a storm remembered as Black Sunday. [1]"
    ]


def test_a_heading_counts_half_and_never_alone() -> None:
    other = an_item("It rained in May. It snowed in June. It was a good year. All was well.", 2)
    apart = an_item("The rain stayed away from 1930 on.", title="Kansas", heading="The drought begins")
    assert ask("When did the drought begin?", apart, other) == [ABSTAINS]
    under = an_item("The long drought came in 1930 to all farms.", title="Kansas", heading="The drought begins")
    assert ask("When did the drought begin?", under, other) == ["The long drought came in 1930 to all farms. [1]"]
    plain = an_item("The long drought came in 1930 to all farms.", title="Kansas")
    assert ask("When did the drought begin?", plain, other) == [ABSTAINS]


def test_at_most_three_sentences_and_no_repetition() -> None:
    items = [
        an_item(f"The storm destroyed the {thing} of the farm in the night.", i)
        for i, thing in enumerate(("barn", "mill", "well", "gate", "barn"), start=1)
    ]
    lines = ask("What did the storm destroy?", *items)
    assert 1 <= len(lines) <= 3
    assert len(set(lines)) == len(lines)


def test_a_date_in_the_sentence_before_is_said_with_it() -> None:
    item = an_item("The ferry opened in May 1861. Crowds watched the ferry race. It rained all day there.")
    assert ask("When was the ferry race?", item) == [
        "The ferry opened in May 1861. [1]",
        "Crowds watched the ferry race. [1]",
    ]
    apart = an_item("The bridge opened in May 1861.\n\nCrowds watched the ferry race.")
    assert ask("When was the ferry race?", apart) == [ABSTAINS]


def test_the_text_is_quoted_as_it_stands() -> None:
    item = an_item('The scout shot "Old Jules," a trader.')
    assert ask("What trader did the scout shoot?", item) == ['The scout shot "Old Jules," a trader. [1]']


@pytest.mark.parametrize("mark", ["[2]", "[1]", "【2†x】", "[Source 2]"])
def test_a_sentence_with_a_marker_of_its_own_is_not_selected(mark: str) -> None:
    item = an_item(f"The storm {mark} destroyed the barn.")
    assert ask("What did the storm destroy?", item, an_item("It rained.", 2)) == [ABSTAINS]
    direct = replace(an_observation(1), statement=f"Shawnee County had 85,200 {mark} inhabitants in 1930.")
    assert ask("How many?", direct, intent=Intent(operations=(LOOKUP,))) == [ABSTAINS]


def test_a_list_of_rows_is_met_by_the_type_of_what_they_are_about() -> None:
    people = [f"Osag{chr(97 + i)}x" for i in range(10)]
    rows = [
        an_item(
            "x",
            i,
            title="Pacts",
            statement=f"The {name} signed a treaty at Washington on May {i}, 1854.",
            entities=(EntityRef(f"nation:{name}", name, "nation"),),
        )
        for i, name in enumerate(people, start=1)
    ]
    lines = ask("Which nations signed treaties in 1854?", *rows, intent=year(1854))
    assert len(lines) == 8
    untyped = [
        replace(
            row, evidence=replace(row.evidence, records=(sourced(replace(row.evidence.first.record, entities=())),))
        )
        for row in rows
    ]
    assert ask("Which nations signed in 1854?", *untyped, intent=year(1854)) == [ABSTAINS]


def test_what_says_what_it_is_comes_first() -> None:
    item = an_item("Many men feared the old stockade near there. The stockade was a fort of logs.")
    assert ask("What was the stockade?", item)[0] == "The stockade was a fort of logs. [1]"


def test_max_tokens_cuts_whole_sentences() -> None:
    items = [
        an_item("The storm destroyed the old barn.", 1),
        an_item("A second storm destroyed forty other mills there.", 2),
    ]
    completion = asyncio.run(ExtractiveModel().complete(request("What did the storm destroy?", items, max_tokens=12)))
    assert completion.truncated
    assert completion.text in {
        "The storm destroyed the old barn. [1]",
        "A second storm destroyed forty other mills there. [2]",
    }


def test_a_passed_deadline_is_a_timeout() -> None:
    late = replace(request("What did the storm destroy?", [an_item("The storm destroyed the barn.")]), deadline_s=-1.0)
    with pytest.raises(ModelTimeout):
        asyncio.run(ExtractiveModel().complete(late))


def test_its_identity_pins_its_parameters() -> None:
    one, same, other = ExtractiveModel(), ExtractiveModel(), ExtractiveModel(Parameters(min_coverage=1))
    digests = [asyncio.run(model.identity()).digest for model in (one, same, other)]
    assert digests[0] == digests[1] != digests[2]
    assert re.fullmatch("sha256:[0-9a-f]{64}", digests[0])


WORDS = st.lists(
    st.sampled_from(
        ["storm", "barn", "destroyed", "Kansas", "1850", "the.", "Lane", "He", "[1]", "</source>", ".", "came"]
    ),
    max_size=30,
).map(" ".join)


@settings(deadline=None, max_examples=50)
@given(st.lists(WORDS, max_size=4), WORDS)
def test_every_line_is_a_cited_sentence_of_its_source_or_a_phrase(texts: list[str], question: str) -> None:
    items = [an_item(text, i) for i, text in enumerate(texts, start=1)]
    asked = request(question, items)
    sources = {s.index: " ".join(s.text.split()) for s in asked.prompt.sources}
    for line in asyncio.run(ExtractiveModel().complete(asked)).text.split("\n"):
        if line != ABSTAINS:
            found = re.fullmatch(r"(.+) \[(\d+)\]", line)
            assert found and found[1] in sources[int(found[2])]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When did it happen?", WantedKind.TIME),
        ("In what year did it happen?", WantedKind.TIME),
        ("How many men came?", WantedKind.NUMBER),
        ("Who came?", WantedKind.PERSON),
        ("Where is it?", WantedKind.PLACE),
        ("In which county is it?", WantedKind.PLACE),
        ("What is it?", WantedKind.ANY),
        ("Did the man who came stay when asked?", WantedKind.ANY),
    ],
)
def test_the_question_word_says_what_is_wanted(question: str, wanted: WantedKind) -> None:
    assert wanted_of(question) is wanted


def test_what_the_question_says_itself_is_no_offer() -> None:
    assert not offers("Lane came to Lawrence.", WantedKind.PERSON, "Who was Lane, who came to Lawrence?")
    assert offers("Robinson came to Lawrence.", WantedKind.PERSON, "Who came to Lawrence?")
    assert not offers("He came to Lawrence.", WantedKind.PLACE, "Where is Lawrence?")


BOARD = "The harbour board first met in 1952. {} first chairman was Ansel Thorne, a net maker."


@pytest.mark.parametrize("word", ["Its", "Their", "This", "Such a", "Her", "These"])
def test_a_pronoun_brings_the_sentence_that_it_means(word: str) -> None:
    lead, said = BOARD.format(word).split(". ")
    told = ask(
        "Who was the first chairman of the harbour board?", an_item(BOARD.format(word), title="The harbour board")
    )
    assert told == [f"{lead}. [1]", f"{said} [1]"]


@pytest.mark.parametrize("word", ["Its", "Their", "This", "Such a", "Her", "These"])
@pytest.mark.parametrize(
    "before",
    [
        "",
        "The harbour board met in 1952.\n\n",
        "It met in 1952. ",
        "of the harbour board in 1952. ",
        "HARBOUR BOARD\n\n",
    ],
)
def test_a_pronoun_without_it_is_not_chosen(word: str, before: str) -> None:
    text = f"{before}{word} first chairman was Ansel Thorne, a net maker of the harbour board."
    assert ask("Who was the first chairman of the harbour board?", an_item(text)) == [ABSTAINS]


@pytest.mark.parametrize("opening", ["It is known that", "Those who", "It was reported that"])
def test_a_word_that_means_nothing_before_it_needs_nothing(opening: str) -> None:
    text = f"{opening} met the first chairman of the harbour board praised Ansel Thorne."
    assert ask("Who was the first chairman of the harbour board?", an_item(text)) == [f"{text} [1]"]


def model_of(version: int) -> ExtractiveModel:
    """The model by the rules of an earlier version, as an entry names it."""
    now = ExtractiveModel().document
    found = ExtractiveModel.of(now.replace(f'"code":"{VERSION}"'.encode(), f'"code":"{version}"'.encode()))
    assert found is not None
    return found


def test_an_earlier_version_still_runs_for_what_names_it() -> None:
    earlier = model_of(RELEASED)
    text = "Its first chairman was Ansel Thorne, a net maker of the harbour board."
    question = "Who was the first chairman of the harbour board?"
    told = asyncio.run(earlier.complete(request(question, [an_item(text)])))
    assert told.text == f"{text} [1]"
    assert told.model.details["version"] == "3"


@pytest.mark.parametrize("role", ["keeper", "second chairman", "treasurer"])
def test_who_had_a_role_is_told_by_what_says_it(role: str) -> None:
    text = "The harbour board first met in 1952, when Ansel Thorne spoke for the board of the harbour."
    assert ask(f"Who was the {role} of the harbour board?", an_item(text, title="The harbour board")) == [ABSTAINS]


LIKE = [
    ("What does a day ticket cost?", "The price of a day ticket is 12 euros."),
    ("When did the dam explode?", "The explosion of the dam was on 3 May 1952."),
    ("When did the ferry arrive in Lomen?", "The ferry reached Lomen at 8.40 in the morning."),
    ("How long is the guarantee of the stove?", "The warranty of the stove runs for 30 months."),
]


@pytest.mark.parametrize(("question", "text"), LIKE)
def test_a_sentence_that_says_it_in_a_word_of_like_meaning_answers(question: str, text: str) -> None:
    assert ask(question, an_item(text)) == [f"{text} [1]"]
    told = asyncio.run(model_of(RELEASED).complete(request(question, [an_item(text)])))
    assert told.text == ABSTAINS


UNLIKE = [
    ("How much is the yearly fee for water?", "The yearly rent of the plot with water is 95 euros, paid in January."),
    ("Who bought the mill?", "The seller of the mill was Ansel Thorne."),
    ("When did the ferry arrive in Lomen?", "The ferry departed from Lomen at 8.40 in the morning."),
    ("Who mended the mill?", "Ansel Thorne painted the mill."),
    ("Why was the permit approved?", "The permit was declined because the plan had no stairs."),
    ("When did the shop open?", "The shop shut in May 1952."),
]


@pytest.mark.parametrize(("question", "text"), UNLIKE)
def test_a_word_of_another_meaning_does_not(question: str, text: str) -> None:
    assert ask(question, an_item(text)) == [ABSTAINS]


SAID = [
    ("Who built the lift?", "The lift was built by the brothers Hamre."),
    ("Who built the lift?", "The lift was built in 1971 by the brothers Hamre."),
    ("Who built the lift?", "The brothers Hamre built the lift, which was painted in 1971."),
    ("When does the bus to Lomen leave on Sundays?", "On Sundays the bus to Lomen leaves at 9.15."),
    ("When may first class be booked?", "First class may be booked if the journey takes longer than four hours."),
    ("What happens to a claim without receipts?", "A claim without receipts is returned."),
    ("How much did the new hut cost?", "The new hut was put up at a cost of 48,000 crowns."),
]
UNSAID = [
    ("Who built the lift?", "Supplies are brought to the hut of Hamre by a lift that was built in 1971."),
    ("Who painted the boat of Ansel Thorne?", "The boat of Ansel Thorne is painted every spring."),
    ("When does the bus to Lomen leave on Sundays?", "On Saturdays the bus to Lomen leaves at 9.15."),
    ("When does the bus to Lomen leave on Fridays?", "From Monday to Wednesday the bus to Lomen leaves at 9.15."),
    ("When may first class be booked?", "Second class may be booked at any time, unlike what is first."),
    ("When was the first bridge opened?", "The second bridge was opened in 1952, ten years after the first one."),
    ("When was the diary begun?", "The diary was printed in 2003."),
]


@pytest.mark.parametrize(("question", "text"), SAID)
def test_a_sentence_that_says_doer_day_rank_or_condition_answers(question: str, text: str) -> None:
    assert ask(question, an_item(text)) == [f"{text} [1]"]


@pytest.mark.parametrize(("question", "text"), UNSAID)
def test_a_sentence_that_leaves_out_the_doer_or_speaks_of_another_day_or_rank_does_not(
    question: str, text: str
) -> None:
    assert ask(question, an_item(text)) == [ABSTAINS]


@pytest.mark.parametrize("day", ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])
@pytest.mark.parametrize("other", ["Monday", "Thursday", "Sunday"])
def test_what_holds_on_one_day_is_not_said_of_another(day: str, other: str) -> None:
    text = f"On {other}s the reading room of the library closes at noon."
    told = ask(f"When does the reading room close on {day}s?", an_item(text))
    assert told == ([f"{text} [1]"] if day == other else [ABSTAINS])


def test_release_0_1_weighs_a_deed_like_any_word() -> None:
    earlier = model_of(RELEASED)
    items = [an_item("Wheat loaves bake for 40 minutes.", 1), an_item("Rye bread must cool, cool and cool again.", 2)]
    question = "How long do wheat loaves cool?"
    told = asyncio.run(earlier.complete(request(question, items)))
    assert told.text == "Wheat loaves bake for 40 minutes. [1]"
    assert ask(question, *items) == ["The sources do not answer this question."]


EVENTS = (
    "the first run",
    "arrival",
    "the last day of term",
    "delivery",
    "its completion",
    "request",
    "the first request",
)


@pytest.mark.parametrize("event", EVENTS)
def test_a_time_may_be_an_event(event: str) -> None:
    said = f"The encryption key is created on {event}."
    assert said in " ".join(ask("When is the encryption key created?", an_item(said, 1)))
    assert ask("When is the signing key created?", an_item(said, 1)) == [ABSTAINS]
    aside = "The encryption key is created on a machine of its own."
    assert ask("When is the encryption key created?", an_item(aside, 1)) == [ABSTAINS]


@pytest.mark.parametrize(
    "path", ["/etc/keeper.conf", "~/.keeper/conf", "C:\\Keeper\\conf", "$HOME/keeper", "file://srv/a"]
)
def test_a_place_may_be_a_path(path: str) -> None:
    said = f"The installer writes the settings to {path} and starts the service."
    assert said in " ".join(ask("Where are the settings written?", an_item(said, 1)))
    assert ask("Where are the passwords written?", an_item(said, 1)) == [ABSTAINS]


@pytest.mark.parametrize("kind", ["agreement", "lease", "contract"])
def test_a_document_speaks_of_itself(kind: str) -> None:
    said = f"This {kind} is made between Hollins Estates (the landlord) and Petra Lund (the tenant)."
    began = "It begins on 1 March 2023 and runs for two years."
    item = an_item(f"{said} {began}", 1, title=f"Tenancy {kind}")
    assert said in " ".join(ask("Who is the landlord?", item))
    assert ask(f"When does the {kind} begin?", item)[-1].startswith(began)
    other = an_item(f"The parties met in May. This {kind} was signed by Hollins Estates, the landlord.", 1)
    assert not " ".join(ask("Who is the landlord?", other)).startswith("This")


@pytest.mark.parametrize("writer", ["school", "museum", "library", "clinic"])
def test_who_writes_we_speaks_of_itself(writer: str) -> None:
    said = "We have 212 cupboards this term, eleven more than last year."
    item = an_item(f"The {writer} is open again. {said}", 1, title=f"Fernhill {writer}")
    assert said in " ".join(ask(f"How many cupboards does the {writer} have?", item))
    assert ask(f"How many tables does the {writer} have?", item) == [ABSTAINS]
    assert ask("How many cupboards does the bishop have?", item) == [ABSTAINS]


REPLIES = {
    "How far does a full charge take me?": "Between 60 and 90 km, depending on the wind.",
    "How long does charging take?": "A flat battery is full after four and a half hours.",
    "Can I wash the bike with a hose?": "Yes, but never with a pressure washer.",
    "Where is the serial number?": "It is stamped under the bottom bracket.",
    "How old must riders be?": "Riders must be at least fourteen.",
    "Who repairs my motor?": "Only the factory in Moss does.",
}
OTHERS = (
    "How far is the nearest dealer?",
    "How long does the guarantee last?",
    "Can I wash the bike with petrol?",
    "Can't I wash the bike with a hose?",
    "Where is the serial port?",
    "How old must the battery be?",
    "Who repairs my saddle?",
    "Who sells the motor?",
)


@pytest.mark.parametrize("form", ["**{}**\n{}\n\n", "{}\n{}\n\n", "{} {}\n\n", "*{}* {}\n"])
def test_questions_and_answers_answer_their_questions(form: str) -> None:
    item = an_item("".join(form.format(question, reply) for question, reply in REPLIES.items()), 1, title="Questions")
    for question, reply in REPLIES.items():
        leans = reply.startswith("It ")
        said = [question, reply] if leans else [reply]
        assert [line.removesuffix(" [1]") for line in ask(question, item)] == said
    for question in OTHERS:
        assert not any(reply in " ".join(ask(question, item)) for reply in REPLIES.values()), question


def test_a_heading_may_ask() -> None:
    for question, reply in REPLIES.items():
        item = an_item(f"{reply} The office has moved.", 1, title=f"Questions — Questions > {question}")
        assert reply in " ".join(ask(question, item)), question


@pytest.mark.parametrize(("version", "said"), [(VERSION, ["Chair: Ms Orr. [1]"]), (str(RELEASED), [ABSTAINS])])
def test_a_line_that_stands_alone_answers_unless_by_release_0_1(version: str, said: list[str]) -> None:
    item = an_item("Date: 3 May 2021\nChair: Ms Orr\nPresent: Mr Pell", 1, title="Minutes of the Larch Trust")
    asked = request("Who chaired the meeting of the Larch Trust?", (item,), NO_INTENT)
    completion = asyncio.run(ExtractiveModel(version=version).complete(asked))
    assert completion.text.split("\n") == said


@pytest.mark.parametrize("question", REPLIES)
def test_a_question_is_no_answer(question: str) -> None:
    assert ask(question, an_item(f"The visitors asked us this. {question}", 1)) == [ABSTAINS]


@pytest.mark.parametrize("mark", ["-", "*", "+", "\u2022", "\u2013"])
def test_an_item_of_a_list_is_a_sentence(mark: str) -> None:
    said = ("Passwords must have at least twelve characters.", "The default theme is dark.", "It is chosen under View.")
    item = an_item("".join(f"{mark} {each}\n" for each in said), 1, title="Changes")
    assert ask("How many characters must passwords have?", item) == [f"{said[0]} [1]"]
    assert ask("What is the default theme?", item) == [f"{said[1]} [1]"]
    assert ask("How many characters must names have?", item) == [ABSTAINS]
    assert ask("What is the default language?", item) == [ABSTAINS]
