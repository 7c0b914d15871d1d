"""What a reader found to answer answers at the answer point too, in whatever words; and nothing else does by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ai.answer.draft.generate import read_draft
from ai.model import (
    AdmittedItem,
    Completion,
    ModelIdentity,
    RenderedPrompt,
    SentenceChance,
    SourceReading,
)
from ai.models.context import prompt_source
from retrieval.algebra.operations import Lookup
from retrieval.model import Intent, TimeRange
from tests.fakes_ai import an_item, an_observation

DENIED = "Servants were never let out after dark, for the squire was afraid of poachers."
BESIDE = "The cook had eleven hives."
ITEM = an_item(f"{DENIED} {BESIDE}", 1, title="Skerrow Hall")
OTHER = an_item(f"{DENIED} {BESIDE}", 2, title="Skerrow Lodge")
ASKED = "Why was nobody at the Hall free to walk home at night?"
LIKELY, LEAST = 700, 600
BY_READING = ModelIdentity("extractive", "sha256:0", {"reader": "sha256:reader"})
WRITER = ModelIdentity("writer", "sha256:0")


def reading(*starts: tuple[int, int], answered: int = LIKELY) -> SourceReading:
    """A reading of sentences by (source, start)."""
    chances = tuple(SentenceChance(index, start, answered) for index, start in starts)
    return SourceReading("sha256:reader", answered, LEAST, chances)


def answers(text: str, read: SourceReading | None, *, intent: Intent | None = None) -> bool:
    """Whether the only sentence of a draft answers."""
    return answered(text, (ITEM, OTHER), read, question=ASKED, intent=intent)


def answered(
    text: str,
    items: Sequence[AdmittedItem],
    read: SourceReading | None,
    *,
    question: str,
    intent: Intent | None = None,
    model: ModelIdentity = BY_READING,
) -> bool:
    """The same for any question over any items, of which it cites the first; `model` wrote the draft."""
    intent = intent or Intent()
    sources = tuple(prompt_source(item, intent) for item in items)
    prompt = RenderedPrompt("system", "prompt", "focus/v1", "sha256:0", sources, 10)
    said = Completion(f"{text} [1]", model, 0, 0, reading=read)
    draft = read_draft(said, prompt=prompt, items=items, canaries=(), intent=intent, question=question)
    return draft.sentences[-1].answers


def test_a_sentence_answers_where_the_reader_found_it_though_its_words_are_others() -> None:
    assert not answers(DENIED, None)
    assert answers(DENIED, reading((1, 0)))


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(reading((1, 0), answered=LEAST - 1), id="not likely enough"),
        pytest.param(reading((2, 0)), id="in another source"),
        pytest.param(reading((1, len(DENIED) + 1)), id="another sentence"),
        pytest.param(reading((1, 3)), id="no beginning of a sentence"),
        pytest.param(reading((7, 0)), id="no source"),
        pytest.param(reading(), id="nothing"),
    ],
)
def test_it_does_not_by_a_reading_of_something_else(read: SourceReading) -> None:
    assert not answers(DENIED, read)


@pytest.mark.parametrize(
    "text", [DENIED.replace("never ", ""), DENIED.replace("squire", "bishop"), f"{DENIED[:-1]} in 1790."]
)
def test_it_does_not_where_the_source_does_not_bear_it_out(text: str) -> None:
    assert not answers(text, reading((1, 0)))


def test_a_question_for_an_operation_is_answered_by_its_items_whatever_was_read() -> None:
    figure = Intent(operations=(Lookup("population", ("skerrow",), 1900),))
    assert not answers(DENIED, reading((1, 0)), intent=figure)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("From November to February the water is turned off.", "When is the water turned on?"),
        ("Membership of the choir costs £36 a year.", "How much does membership of the choir cost a month?"),
        ("Joan Abbott trained Eric Dale, who drives now.", "Who trained Joan Abbott?"),
        ("The largest pumpkin weighed 61 kg.", "How much did the smallest pumpkin weigh?"),
    ],
)
def test_a_contrary_another_rate_and_exchanged_persons_fall_whatever_was_read(said: str, question: str) -> None:
    items = (an_item(said, 1, title="Skerrow News"),)
    assert not answered(said, items, reading((1, 0)), question=question)


REWORDED = [
    ("The minimum weight of a cox is 55 kg.", "What is the lowest weight for a cox?"),
    ("The museum was set up by Ida Holm in 1911.", "In which year was the first museum set up?"),
    ("In 1793 he put up a mill on land lent to him.", "When was the earliest mill put up?"),
]


@pytest.mark.parametrize(("said", "question"), REWORDED)
def test_what_was_read_says_in_other_words_which_one_it_is(said: str, question: str) -> None:
    items = (an_item(said, 1, title="Skerrow News"),)
    assert answered(said, items, reading((1, 0)), question=question)


@pytest.mark.parametrize("asked", ["first", "last", "next"])
@pytest.mark.parametrize("said", ["first", "last", "next"])
def test_it_falls_where_it_says_another_order(asked: str, said: str) -> None:
    text = f"The {said} ferry leaves Selby at 9.30 pm."
    question = f"When does the {asked} ferry leave Selby?"
    assert answered(text, (an_item(text, 1),), reading((1, 0)), question=question) == (asked == said)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("The largest boat is owned by Ida Holm.", "Who owns the smallest boat?"),
        ("The second largest boat is owned by Ida Holm.", "Who owns the largest boat?"),
        ("The last keeper was Miriam Oakes.", "Who was the last but one keeper?"),
        ("The deputy mayor is Ida Holm.", "Who is the mayor?"),
        ("The red gate was made by Ida Holm.", "Who made the green gate?"),
    ],
)
def test_it_falls_where_it_says_that_it_is_another(said: str, question: str) -> None:
    assert not answered(said, (an_item(said, 1),), reading((1, 0)), question=question)


def chosen(*chances: int) -> SourceReading:
    """A reading of the sentences of `PLAINS`, one after the other."""
    starts = [0, len(GRASS) + 1]
    said = [SentenceChance(1, start, chance) for start, chance in zip(starts, chances, strict=False)]
    return SourceReading("sha256:reader", LIKELY, LEAST, tuple(said))


GRASS = "Grass held the soil of the plains before the drought."
SOIL = "The soil of the plains was grey before the drought."
PLAINS = (an_item(f"{GRASS} {SOIL}", 1),)
HELD = "What held the soil of the plains before the drought?"


@pytest.mark.parametrize(
    ("read", "stays"),
    [
        pytest.param(chosen(900, 900), True, id="as likely"),
        pytest.param(chosen(900, 720), True, id="nearly as likely"),
        pytest.param(chosen(900, 300), True, id="less likely: its words decide"),
        pytest.param(chosen(900, 113), True, id="an eighth"),
        pytest.param(chosen(900, 112), False, id="less than an eighth"),
        pytest.param(chosen(900), False, id="not worth reading"),
    ],
)
def test_a_true_sentence_of_another_model_falls_beside_one_that_answers(read: SourceReading, stays: bool) -> None:
    assert answered(SOIL, PLAINS, None, question=HELD, model=WRITER)
    assert answered(SOIL, PLAINS, read, question=HELD, model=WRITER) == stays
    assert answered(SOIL, PLAINS, read, question=HELD)  # who chose by the reading is not held against it


@pytest.mark.parametrize("likely", [LEAST, LEAST - 1, 420, 419, LEAST // 2, LEAST // 2 - 1, 0])
def test_a_part_of_the_chance_is_enough_for_another_model_and_less_is_no_answer(likely: int) -> None:
    read = replace(chosen(900, 900), answered_milli=likely)
    assert answered(SOIL, PLAINS, read, question=HELD, model=WRITER) == (10 * likely >= 7 * LEAST)
    assert answered(SOIL, PLAINS, read, question=HELD)  # by its words


GUARD = "In May 1793, the guard of the Long Wood near Skerrow was doubled (at the squire's cost) for fear of raids."
SHED = "The shed behind the wall was painted green by two boys from Hartfield."
YARD = (an_item(f"{GUARD} {SHED}", 1),)
SAFE = "What was done so that nobody stole deer?"
IN_OTHER_WORDS = [
    "According to the source, in May 1793, the guard of the Long Wood near Skerrow was doubled (at the squire's cost) for "
    "fear of raids.",
    "The guard of the Long Wood near Skerrow was doubled (at the squire's cost) for fear of raids in May 1793.",
    "In May 1793, the guard of the Long Wood close to Skerrow was doubled (at the squire's cost) for fear of raids.",
]
CUT = [
    "The guard of the Long Wood near Skerrow was doubled.",
    "In May 1793, the guard was doubled for fear of raids.",
    "The guard of the Long Wood near Skerrow was doubled (at the squire's cost) for fear of raids.",
]


def yard(guard: int, shed: int) -> SourceReading:
    said = (SentenceChance(1, 0, guard), SentenceChance(1, len(GUARD) + 1, shed))
    return SourceReading("sha256:reader", LIKELY, LEAST, said)


@pytest.mark.parametrize("model", [WRITER, BY_READING])
@pytest.mark.parametrize("said", IN_OTHER_WORDS)
def test_what_is_said_in_other_words_is_read_as_what_it_says(said: str, model: ModelIdentity) -> None:
    assert answered(GUARD, YARD, yard(900, 100), question=SAFE, model=model)
    assert answered(said, YARD, yard(900, 100), question=SAFE, model=model)
    assert not answered(said, YARD, None, question=SAFE, model=model)


@pytest.mark.parametrize("said", CUT)
def test_what_leaves_out_a_part_or_a_number_is_not(said: str) -> None:
    assert not answered(said, YARD, yard(900, 100), question=SAFE, model=WRITER)


@pytest.mark.parametrize(
    "said", ["According to the source, the shed behind the wall was painted green by two boys from Hartfield.", SHED]
)
def test_nor_does_it_answer_where_what_it_says_is_beside_the_point(said: str) -> None:
    question = "Who painted the shed?"
    assert answered(said, YARD, None, question=question, model=WRITER)
    assert answered(said, YARD, yard(900, 900), question=question, model=WRITER)
    assert not answered(said, YARD, yard(900, 100), question=question, model=WRITER)


DENIED_OR_NOT = [
    ("Which gate is not locked at night?", "The north gate is locked at night."),
    ("Where didn't the squire keep hives?", "The squire kept hives behind the wall."),
    ("When did nobody guard the Long Wood?", "The Long Wood was guarded in May 1793."),
    ("Who was on the ferry besides the squire?", "The squire was on the ferry."),
]


@pytest.mark.parametrize(("question", "granted"), DENIED_OR_NOT)
def test_who_asks_what_is_not_so_is_told_nothing_by_what_is(question: str, granted: str) -> None:
    items = (an_item(granted, 1),)
    for read in (None, reading((1, 0))):
        assert not answered(granted, items, read, question=question, model=WRITER)
    asked = question.replace(" not ", " ").replace("didn't", "did").replace("nobody guard", "they guard")
    if "besides" not in asked:
        assert answered(
            granted, items, reading((1, 0)), question=asked.replace("did the squire keep", "were the squire's")
        )


BESIDE_IT = [
    "What happens if the squire does not keep hives?",
    "If nobody was ill, who kept the hives?",
    "Who kept hives so that nobody was hungry?",
]


@pytest.mark.parametrize("question", BESIDE_IT)
def test_what_is_denied_beside_what_is_asked_for_is_no_matter(question: str) -> None:
    said = "The squire kept hives behind the wall."
    assert answered(said, (an_item(said, 1),), reading((1, 0)), question=question, model=WRITER)


YEARS = ["in {}", "in May {}", "on 4 May {}", "from {} to 1801", "since {}"]


@pytest.mark.parametrize("dated", YEARS)
@pytest.mark.parametrize(("year", "asked", "met"), [(1790, 1790, True), (1790, 1570, False), (1790, 1910, False)])
def test_what_is_told_of_another_year_answers_nothing(dated: str, year: int, asked: int, *, met: bool) -> None:
    text = f"The squire kept the hives behind the wall {dated.format(year)}."
    open_end = dated.startswith("since") and asked > year
    intent = Intent(times=(TimeRange.year(asked),))
    question = f"Where were the hives of the squire kept in {asked}?"
    for read in (None, reading((1, 0))):
        found = answered(text, (an_item(text, 1),), read, question=question, model=WRITER, intent=intent)
        assert found == (met or open_end)
    of_the_map = replace(intent, map_time=True)
    plain = "Where were the hives of the squire kept?"
    assert answered(text, (an_item(text, 1),), reading((1, 0)), question=plain, model=WRITER, intent=of_the_map)


def test_where_prose_hardly_answers_no_words_of_the_models_own_do() -> None:
    said = "Before the drought the soil of the plains was grey."
    unlikely = replace(chosen(900), answered_milli=LEAST // 2 - 1)
    assert answered(said, PLAINS, None, question=HELD, model=WRITER)
    assert not answered(said, PLAINS, unlikely, question=HELD, model=WRITER)


def test_a_row_answers_whatever_is_read_in_prose() -> None:
    row = an_observation()
    said = row.statement or ""
    for read in (None, replace(chosen(900), answered_milli=0)):
        assert answered(said, (row,), read, question="How many inhabitants had Shawnee County?", model=WRITER)


def test_of_another_model_only_what_comes_near_the_best_answers_in_other_words() -> None:
    for chance, answers_it in ((LIKELY, True), (8 * LIKELY // 10, True), (8 * LIKELY // 10 - 1, False)):
        both = (SentenceChance(1, 0, chance), SentenceChance(1, len(DENIED) + 1, LIKELY))
        read = SourceReading("sha256:reader", LIKELY, LEAST, both)
        assert answered(DENIED, (ITEM, OTHER), read, question=ASKED, model=WRITER) == answers_it
        assert answered(DENIED, (ITEM, OTHER), read, question=ASKED)


PLOVER = "Boat: Plover; From: Withy; To: Saltby; Departs: 16:40; Arrives: 17:35"


@pytest.mark.parametrize("text", [f"{PLOVER}.", "The Plover arrives at Withy at 17:35."])
def test_a_row_of_the_way_back_answers_by_no_draft(text: str) -> None:
    item = replace(an_item("Plover,Withy,Saltby,16:40,17:35", 1, title="Ferries"), statement=f"{PLOVER}.")
    asks, twin = "When does the Plover arrive at Withy?", "When does the Plover arrive at Saltby?"
    assert not answered(text, [item], None, question=asks, model=WRITER)
    assert answered(f"{PLOVER}.", [item], None, question=twin, model=WRITER)
