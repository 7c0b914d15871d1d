"""A draft that is a part of its source sentence answers where the part holds what was asked for; beside each, the part
that holds something else."""

from __future__ import annotations

import pytest

from ai.answer.claims.check import Sources, check_sentence
from ai.answer.claims.shortened import is_cut_short, is_one_of_several, part_of
from ai.model import Sentence
from retrieval.model import Intent
from tests.fakes_ai import an_item

TEXT = (
    "The drill weighs 64 kg and needs 900 watts. The Morning Star was built in 1998 and has been operated by Varra Lines "
    "since. The survey was financed by the Halden Fund and supported by the Geographical Institute. Elvira Voss was born "
    "on 3 November 1884 in Hallenburg. The mill was rebuilt in 1828 to a design by Cornelius Vane. The furnace was shut "
    "down from March until June because the lining had cracked. The beach is guarded in July. The old hostel has no "
    "heating. The new hostel has central heating."
)
ASKED = (
    ("How much does the drill weigh?", "The drill weighs 64 kg.", "The drill needs 900 watts."),
    ("Who operates the Morning Star?", "The Morning Star has been operated by Varra Lines.", "The Morning Star was built in 1998."),
    ("Who supported the survey?", "The survey was supported by the Geographical Institute.", "The survey was financed by the Halden Fund."),
    ("Who financed the survey?", "The survey was financed by the Halden Fund.", "The survey was supported by the Geographical Institute."),
    ("Where was Elvira Voss born?", "Elvira Voss was born in Hallenburg.", "Elvira Voss was born on 3 November 1884."),
    ("Who designed the rebuilt mill?", "The mill was rebuilt to a design by Cornelius Vane.", "The mill was rebuilt in 1828."),
    ("Why was the furnace shut down?", "The furnace was shut down from March until June because the lining had cracked.", "The furnace was shut down from March until June."),
    ("Is the beach guarded?", "The beach is guarded in July.", "The beach is guarded."),
    ("Does the hostel have heating?", "The old hostel has no heating.", "The hostel has no heating."),
)  # fmt: skip


@pytest.mark.parametrize(("question", "right", "other"), ASKED)
def test_a_part_answers_with_what_was_asked_for(question: str, right: str, other: str) -> None:
    sources = Sources.of((an_item(TEXT, 1, title="Notes"),), Intent(), question)
    assert check_sentence(Sentence(0, right, (1,)), sources).answers
    assert not check_sentence(Sentence(0, other, (1,)), sources).answers


def test_parts() -> None:
    sentences = ["The old hostel has no heating in winter.", "The new hostel has heating."]
    assert part_of("The hostel has no heating.", sentences) == sentences[0]
    assert part_of(sentences[1], sentences) is None
    assert part_of("The bridge has no heating.", sentences) is None
    assert is_cut_short("The old hostel has no heating.", sentences[0])
    assert not is_cut_short("The hostel has no heating in winter.", sentences[0])
    assert is_one_of_several("The hostel has no heating.", sentences[0], sentences)
    assert not is_one_of_several("The hostel has no heating.", sentences[0], sentences[:1])


def test_a_sentence_without_its_marks_is_no_part_of_itself() -> None:
    text = "Photographs by Arthur Rothstein show soil in **large drifts near Liberal, Kansas**.[^loc] Others show wind."
    sources = Sources.of((an_item(text, 1, title="Notes"),), Intent(), "Who photographed the drifts near Liberal?")
    said = "Photographs by Arthur Rothstein show soil in large drifts near Liberal, Kansas."
    assert check_sentence(Sentence(0, said, (1,)), sources).answers
