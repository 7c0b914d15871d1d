"""A bare `how many`, or `count` as a verb, is a question of texts unless the corpus has figures or names for it."""

from __future__ import annotations

import pytest

from ai.intent.lexicon import Lexicon
from ai.intent.reader import read_intent
from ai.model import MapContext
from retrieval.algebra.domain import Domain, FigureKind
from retrieval.gazetteer import Gazetteer
from retrieval.index import GazetteerEntry
from retrieval.model import EntityRef

DEEDS = ("wounded", "expelled", "repaired", "badly scalded", "left unsold")
THINGS = ("swifts", "ballots", "beads", "sheep")
ARDEN = GazetteerEntry(EntityRef("arden", "Arden", "station"), ("Arden",), "c", "d")


def lexicon(*measures: str, named: bool = False) -> Lexicon:
    figures = tuple(FigureKind(measure, "", "station") for measure in measures)
    return Lexicon.of(Gazetteer([ARDEN] if named else []), Domain(figures))


def unread(question: str, held: Lexicon) -> tuple[str, ...]:
    intent = read_intent(question, MapContext(), lexicon=held).intent
    assert intent.operations == ()
    return intent.unread


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("form", ["How many were {}?", "How many of them were {}?", "How many of the crew were {}?"])
def test_how_many_of_a_deed_is_a_question_of_texts(form: str, deed: str) -> None:
    question = form.format(deed)
    assert unread(question, lexicon()) == ()
    assert unread(question, lexicon("rainfall", named=True)) == ()


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize(
    "form", ["Do I need a licence to count {}?", "Who may count the {}?", "When did she count her {}?"]
)
def test_count_may_be_what_somebody_does(form: str, thing: str) -> None:
    question = form.format(thing)
    assert unread(question, lexicon()) == ()
    assert unread(question, lexicon("rainfall", named=True)) == ()


@pytest.mark.parametrize("deed", DEEDS[:3])
def test_a_corpus_with_such_figures_or_names_is_not_answered_by_texts(deed: str) -> None:
    assert unread(f"How many were {deed} beyond the stations?", lexicon(deed)) != ()
    assert unread(f"How many were {deed} strangely in Arden?", lexicon("rainfall", named=True)) != ()


def test_a_count_of_nothing_is_not_understood() -> None:
    assert unread("How many?", lexicon()) != ()
