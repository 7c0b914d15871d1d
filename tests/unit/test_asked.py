"""A question holds something that can be read: letters or digits of any writing. Signs alone and what is not shown ask
nothing, on every surface that takes a question."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from api.schemas.query import QueryRequest
from api.schemas.retrieval.more import ExpandRequest
from api.schemas.retrieval.retrieve import AgenticRequest, BasicRequest
from api.schemas.retrieval.search import RetrievalQuery

_SURFACES: list[tuple[type[BaseModel], str, dict[str, Any]]] = [
    (QueryRequest, "question", {}),
    (ExpandRequest, "query", {}),
    (RetrievalQuery, "query", {"top_k": 5}),
    (BasicRequest, "query", {"tenant_id": "default", "kb_id": "0" * 8 + "-0000-0000-0000-" + "0" * 12}),
    (AgenticRequest, "query", {"tenant_id": "default"}),
]
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u061c\u115f\u1160\u180e\u2800\u3164\uffa0\ufe0f\U000e0041"
_NOTHING = st.text(
    st.one_of(st.sampled_from(_UNSEEN), st.characters(categories=["P", "S", "Z", "Cf", "Mn"])), min_size=1, max_size=12
)
_READ = st.characters(categories=["L", "N"], exclude_characters=_UNSEEN)


def _asked(surface: tuple[type[BaseModel], str, dict[str, Any]], text: str) -> bool:
    model, field, beside = surface
    try:
        model.model_validate({field: text, **beside})
    except ValidationError as exc:
        assert {each["loc"] for each in exc.errors()} == {(field,)}
        return False
    return True


@pytest.mark.parametrize("surface", _SURFACES, ids=lambda each: each[0].__name__)
@given(nothing=_NOTHING)
def test_what_nobody_can_read_is_no_question(
    surface: tuple[type[BaseModel], str, dict[str, Any]], nothing: str
) -> None:
    assert not any(unicodedata.category(each)[0] in "LN" and each not in _UNSEEN for each in nothing)
    assert not _asked(surface, nothing)


@pytest.mark.parametrize("surface", _SURFACES, ids=lambda each: each[0].__name__)
@given(before=_NOTHING, read=_READ, after=_NOTHING)
def test_one_letter_or_digit_is_enough(
    surface: tuple[type[BaseModel], str, dict[str, Any]], before: str, read: str, after: str
) -> None:
    assert _asked(surface, before + read + after)


@pytest.mark.parametrize("question", ["1874?", "C++?", "¿Qué?", "何?", "\u200bWhy\u200b?", "٣", "Ⅷ", "½"])
def test_questions_of_any_writing(question: str) -> None:
    assert QueryRequest(question=question).question == question
