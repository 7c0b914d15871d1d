"""Every operation can be said, and every plan over facts has a form: a new one that lacks either fails here."""

from __future__ import annotations

from typing import get_args

from ai.intent.wording import reading_of
from retrieval.algebra.operations import Operation
from retrieval.algebra.plan import Figures, Plan, Stated
from retrieval.gazetteer import Gazetteer
from retrieval.spatial.computing.forms import NAMES, OWN
from tests.plans import plans


def test_an_operation_is_a_short_form_or_a_plan() -> None:
    assert set(get_args(Plan)) < set(get_args(Operation))


def test_every_plan_over_facts_has_a_form_by_its_name() -> None:
    assert {kind.__name__.lower() for kind in get_args(Plan)} - {*NAMES} == {Stated.__name__.lower()}
    assert set(OWN) <= set(get_args(Plan))


def test_every_plan_has_a_reading_in_words() -> None:
    made = plans(7, 500)
    kinds = set()
    for plan in made:
        assert reading_of([plan], Gazetteer())
        kinds.add(type(plan))
    assert kinds == set(get_args(Plan)) - {Stated, Figures}, "a kind of plan that the generator does not make"
