"""A sentence of a model that begins with a word for something named before it: its antecedent comes with it, or it
falls, as with the default model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ai.answer.claims.check import Sources
from ai.answer.draft.citations import draft_sentences
from ai.answer.draft.staying import filled, is_sound
from ai.model import AdmittedItem, Completion, Draft, ModelIdentity, Sentence
from ai.text.leaning import means_another
from ai.text.markdown import plain
from ai.text.sentences import split_sentences
from retrieval.algebra.operations import Lookup
from retrieval.model import EntityRef, Intent, Mention, TimeRange
from tests.fakes_ai import an_item, an_observation

REPOSITORY = Path(__file__).parents[2]
TEXTS = sorted(
    [
        *(REPOSITORY / "tests/golden/questions/handbooks").glob("*.*"),
        *(REPOSITORY / "tests/golden/questions/skerrow/corpus").glob("*.md"),
        REPOSITORY / "examples/kansas/dust-bowl-story.md",
    ]
)
BORN = "Anna Falk was born in Skerrow in 1839."
SOLD = "She sold the mill for eleven hundred crowns."
TAUGHT = "She taught the boys of Norby to sail in 1850."
SPANS = "The bridge spans the sound at Norby."
BUILT = "It was built in 1857."
MILL = "The mill at Sunde was built in 1859."
PASSAGE = an_item(" ".join((BORN, SOLD, TAUGHT, SPANS, BUILT, MILL)), 1, title="Memories")
ELSEWHERE = an_item("It was closed in 1901. The ferry was sold. There it lay for years.", 2, title="Ferries")


def drafted(*lines: str, question: str = "", items: tuple[AdmittedItem, ...] = (PASSAGE, ELSEWHERE)) -> Draft:
    said = Completion("\n".join(lines), ModelIdentity("scripted", "sha256:0"), 0, 0)
    sources = Sources.of(items, Intent(), question)
    return draft_sentences(said, items, find=lambda text: (), sources=sources, asked=question)


def kept(draft: Draft) -> list[str]:
    return [sentence.text for sentence in draft.sentences if is_sound(sentence)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((SOLD,), [BORN, SOLD]),
        ((BORN, SOLD), [BORN, SOLD]),
        ((BORN, SOLD, TAUGHT), [BORN, SOLD, TAUGHT]),
        ((TAUGHT,), [BORN, SOLD, TAUGHT]),  # the sentence before leans itself, and comes with the one before that
        ((BORN, TAUGHT), [BORN, SOLD, TAUGHT]),
        ((BORN, SOLD, MILL, TAUGHT), [BORN, SOLD, MILL, BORN, SOLD, TAUGHT]),
        ((SOLD, TAUGHT), [BORN, SOLD, TAUGHT]),
        ((BUILT,), [SPANS, BUILT]),
        ((BORN, BUILT), [BORN, SPANS, BUILT]),
        ((BORN, SPANS, BUILT), [BORN, SPANS, BUILT]),
        ((SPANS, "It was built in 1859."), [SPANS]),  # that was the mill
        ((SPANS, "The bridge was built of gold.", BUILT), [SPANS, BUILT]),
        ((MILL, BUILT), [MILL, SPANS, BUILT]),
        (("It was closed in 1901.",), []),  # nothing stands before it
        (("The bridge was built of gold.", "It was closed in 1901."), []),
        (("There it lay for years.",), ["There it lay for years."]),  # `there` leans, but means nothing named
    ],
)
def test_the_sentence_that_names_it_stands_before_or_it_falls(lines: tuple[str, ...], expected: list[str]) -> None:
    assert kept(drafted(*(f"{line} [1]" if "190" not in line else f"{line} [2]" for line in lines))) == expected


def test_what_the_system_sets_before_a_sentence_is_cited_and_its_doing() -> None:
    lead, sentence = drafted(f"{SOLD} [1]").sentences
    assert (lead.text, lead.markers, lead.attribution) == (BORN, (1,), "system")
    assert (sentence.i, sentence.markers, sentence.attribution) == (1, (1,), "model")
    assert lead.quotes and lead.support_milli >= 900


CLOSED = "It was closed in 1901."


def test_every_sentence_that_is_brought_is_cited_and_the_systems_doing() -> None:
    *brought, sentence = drafted(f"{TAUGHT} [1]").sentences
    assert [(each.text, each.markers, each.attribution) for each in brought] == [
        (BORN, (1,), "system"),
        (SOLD, (1,), "system"),
    ]
    assert [each.i for each in (*brought, sentence)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{BORN}\n\n{SOLD}", [BORN, SOLD]),  # a paragraph may lean on the one before it
        (f"{BORN} But {SOLD[:1].lower()}{SOLD[1:]} {TAUGHT}", [BORN, f"But {SOLD[:1].lower()}{SOLD[1:]}", TAUGHT]),
        (f"So the ferry was sold. {CLOSED}", ["So the ferry was sold.", CLOSED]),  # `so` joins, and means nothing
        (f"- {SPANS}\n\n- {CLOSED}", []),  # items of a list speak each for itself
        (f"{SPANS}\n\n# Ferries\n\n{CLOSED}", []),
        (f"Notes on the ferries\n\n{CLOSED}", []),
        (f"{SPANS} [3] says so\n\n{CLOSED}", []),  # what would be read as a marker is not brought
        (f"{BORN} {'It was long. ' * 4}{CLOSED}", []),  # further back than four sentences
        (f"{SPANS[:-1]}, {'and far on ' * 60}. {CLOSED}", []),  # too long to be brought
        (f"It was sold in 1870. {CLOSED}", []),
        (f"{CLOSED} {SPANS}", []),  # what names it comes behind it
    ],
)
def test_what_is_brought_is_the_text_back_to_a_sentence_that_leans_on_nothing(text: str, expected: list[str]) -> None:
    said = expected[-1] if expected else CLOSED
    assert kept(drafted(f"{said} [1]", items=(an_item(text, 1, title="Memories"),))) == expected


def test_the_reason_is_in_words() -> None:
    [sentence] = drafted(f"{CLOSED} [2]").sentences
    assert [claim.reason for claim in sentence.claims or ()][-1] == "no sentence before it says who or what “it” is"
    assert not sentence.answers and not sentence.support_milli


@pytest.mark.parametrize(
    ("question", "stays"),
    [
        ("When was the mill at Sunde built?", True),
        ("When was the bridge built?", False),
        ("When was the mill built?", False),  # which mill is not said
    ],
)
def test_a_noun_that_it_stands_for_may_be_that_of_the_question(question: str, stays: bool) -> None:
    assert (kept(drafted("It was built in 1859. [1]", question=question)) != []) == stays


def test_what_a_row_states_means_what_was_asked() -> None:
    ness = EntityRef("county:20135", "Ness County", "county")
    asked = Intent(
        mentions=(Mention("Ness County", 0, 11, (ness,)),),
        times=(TimeRange.year(1910),),
        operations=(Lookup("population", (ness.entity_id,), 1910),),
    )
    items = (an_observation(1, value="5883", year=1910, place=ness),)
    said = Completion("It had a population of 5,883 in 1910. [1]", ModelIdentity("scripted", "sha256:0"), 0, 0)
    draft = draft_sentences(said, items, find=lambda text: (), sources=Sources.of(items, asked, "How many?"))
    assert kept(draft) == ["It had a population of 5,883 in 1910."]


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_no_sentence_of_any_text_stays_without_the_one_before_it(file: Path) -> None:
    """Each sentence that leans, picked alone: behind the text before it back to a sentence that leans on nothing, or not at
    all; but for one that opens its section with a noun (`This story is ...`)."""
    text = file.read_text("utf-8")[:8000]
    sentences = [" ".join(text[span.start : span.end].split()) for span in split_sentences(text)]
    item = an_item(text, 1, title=file.stem)
    for at, sentence in enumerate(sentences):
        if means_another(sentence) and "[" not in sentence and len(sentence.split()) < 60:
            found = kept(drafted(f"{sentence} [1]", items=(item,)))
            run = sentences[at + 1 - len(found) : at + 1]
            whole = len(found) > 1 and list(map(plain, found)) == list(map(plain, run)) and not means_another(found[0])
            opens = sentence.startswith(("This ", "These ")) and sentences[at - 1].startswith("#")
            assert not found or whole or opens or sentences.count(sentence) > 1, (sentence, found)


@pytest.mark.parametrize(("question", "text", "stays"), [
    ("What did the boat carry?", "This open boat carried customs officers.", True),
    ("How long may they stay?", "These guests may stay for two nights.", True),
    ("When did he marry Ida Lund?", "He married Ida Lund in 1965.", True),
    ("When was Ida Lund married?", "He married Ida Lund in 1965.", False),
    ("What did it carry?", "This carried customs officers.", False),
    ("What does it mean?", "This means that nobody came.", False),
    ("What was done?", "These were sold in 1911.", False),
])  # fmt: skip
def test_a_first_sentence_stays_that_its_heading_or_the_question_completes(
    question: str, text: str, stays: bool
) -> None:
    item = an_item(f"{text} It rained.", 1, title="Object 12")
    assert kept(drafted(f"{text} [1]", items=(item,), question=question)) == ([text] if stays else [])


def sound(text: str, *, answers: bool = True) -> Sentence:
    [sentence] = [each for each in drafted(f"{text} [1]").sentences if each.text == text]
    assert is_sound(sentence), text
    from dataclasses import replace

    return replace(sentence, answers=answers)


def joined(own: Sequence[Sentence], default: Sequence[Sentence]) -> list[str]:
    said = Completion("", ModelIdentity("scripted", "sha256:0"), 0, 0)
    done = filled(Draft(tuple(own), said), Draft(tuple(default), said), question="", every=False)
    assert [each.i for each in done.sentences] == list(range(len(done.sentences))) or not done.filled
    return [each.text for each in done.sentences]


def test_what_is_filled_in_keeps_the_sentence_that_it_leans_on() -> None:
    born, sold = sound(BORN, answers=False), sound(SOLD)
    assert joined([sound(MILL)], [born, sold]) == [BORN, SOLD, MILL]
    assert joined([born, sold], [born, sold]) == [BORN, SOLD]


def test_what_goes_on_in_the_draft_goes_on_behind_what_is_filled_in() -> None:
    born, sold, spans, built = sound(BORN), sound(SOLD), sound(SPANS), sound(BUILT)
    assert joined([spans, built, born, sold], [born]) == [BORN, SOLD, SPANS, BUILT]
