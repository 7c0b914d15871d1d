"""What a model writes in each mode, read as sentences: of a schema, the whole document or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.answer.draft.citations import MarkedSentence
from ai.answer.draft.written import MOST_SENTENCES, read_written, schema_for
from ai.model import Completion, DraftingMode, ModelIdentity, Offer
from ai.text.catalogue import ABSTAIN, PHRASES

QUICK = settings(deadline=None, max_examples=200)
OFFERS = tuple(Offer(n, 10 + n, f"Sentence {n} of a source.") for n in range(1, 5))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["sentences", "text", "sources", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


def read(text: str, mode: DraftingMode, *, truncated: bool = False) -> Any:
    completion = Completion(text, ModelIdentity("m", "sha256:0"), 1, 1, truncated)
    return read_written(completion, mode, OFFERS)


def test_what_is_picked_is_in_the_words_and_with_the_number_of_its_source() -> None:
    found = read('{"sentences": [3, 1, 3]}', "select")
    assert found.sentences == (MarkedSentence(OFFERS[2].text, (13,)), MarkedSentence(OFFERS[0].text, (11,)))
    assert not found.fault


def test_what_is_composed_keeps_its_sources_and_loses_markers_in_its_text() -> None:
    said = {"sentences": [{"text": "It rained [2]. It snowed.", "sources": [1]}, {"text": "[9]", "sources": [4]}]}
    found = read(json.dumps(said), "compose")
    assert found.sentences == (MarkedSentence("It rained.", (1, 2)), MarkedSentence("It snowed.", (1,)))


@pytest.mark.parametrize("mode", ["select", "compose"])
def test_an_empty_list_says_that_there_is_no_answer(mode: DraftingMode) -> None:
    assert read('{"sentences": []}', mode).sentences == (MarkedSentence(PHRASES[ABSTAIN], ()),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not one JSON document"),
        ("1, 2", "not one JSON document"),
        ('{"sentences": [1]', "not one JSON document"),
        ('{"sentences": [1]} and more', "not one JSON document"),
        ('{"sentences": [1], "sentences": [2]}', "not one JSON document"),
        ('{"sentences": [1], "answer": "It rained."}', "one list"),
        ("[1]", "one list"),
        ('{"sentences": 1}', "one list"),
        (json.dumps({"sentences": [1] * (MOST_SENTENCES + 1)}), "one list"),
        ('{"sentences": [5]}', "no sentence 5"),
        ('{"sentences": [1, 99]}', "no sentence 99"),
        ('{"sentences": [0]}', "is none"),
        ('{"sentences": [true]}', "is none"),
        ('{"sentences": [1.0]}', "is none"),
        ('{"sentences": ["1"]}', "is none"),
        ('{"sentences": [1e400]}', "is none"),
        ("[" * 100_000, "cut off"),
        ("[" * 15_000, "not one JSON document"),
    ],
)
def test_what_does_not_follow_the_schema_is_nothing(text: str, why: str) -> None:
    found = read(text, "select")
    assert found.sentences == () and why in found.fault


@pytest.mark.parametrize(
    "each",
    [
        1,
        "It rained.",
        {"text": "It rained."},
        {"text": "It rained.", "sources": [1], "why": "x"},
        {"text": ["It rained."], "sources": [1]},
        {"text": "It rained.", "sources": 1},
        {"text": "It rained.", "sources": ["1"]},
        {"text": "It rained.", "sources": [-1]},
        {"text": "x" * 601, "sources": [1]},
    ],
)
def test_one_bad_sentence_spoils_what_is_composed(each: Any) -> None:
    good = {"text": "It snowed.", "sources": [1]}
    found = read(json.dumps({"sentences": [good, each]}), "compose")
    assert found.sentences == () and found.fault


@pytest.mark.parametrize("mode", ["select", "compose"])
def test_a_document_that_was_cut_is_nothing_even_where_it_reads_whole(mode: DraftingMode) -> None:
    assert read('{"sentences": []}', mode, truncated=True).fault


@QUICK
@given(said=JSON)
def test_whatever_is_said_only_offers_are_picked(said: Any) -> None:
    found = read(json.dumps(said), "select")
    offered = {(offer.text, (offer.index,)) for offer in OFFERS}
    assert bool(found.sentences) != bool(found.fault)
    assert all((s.text, s.numbers) in offered or s.text == PHRASES[ABSTAIN] for s in found.sentences)


@QUICK
@given(said=JSON)
def test_whatever_is_said_composing_never_raises(said: Any) -> None:
    found = read(json.dumps({"sentences": [said]}), "compose")
    assert found.fault or found.sentences


def test_the_schema_of_a_pick_names_the_offers_and_nothing_else() -> None:
    schema: Any = schema_for("select", OFFERS)
    assert schema["properties"]["sentences"]["items"]["enum"] == [1, 2, 3, 4]
    assert schema["additionalProperties"] is False
