"""Markers, quotes and drafts: what a model writes, and what the system makes of it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.answer.draft.citations import best_quote, draft_sentences, parse_marked
from ai.model import AdmittedItem, Completion, Draft, ModelIdentity, TextSpan
from ai.text.catalogue import ABSTAIN, PHRASES
from ai.text.sentences import MARKER_PATTERN
from tests.fakes_ai import a_computed, a_record, an_evidence, an_item, an_observation, block_out, sourced

QUICK = settings(deadline=None, max_examples=50)
MODEL = ModelIdentity("m", "sha256:0")
SHOWN_MARKER = re.compile(MARKER_PATTERN, re.IGNORECASE)
SIGNS = [
    "[1]",
    "[2, 3]",
    "[1-3]",
    "[Source 4]",
    "【5†x】",
    "[",
    "]",
    "[[1]",
    "1]",
    "]]",
    "(1)",
    " ",
    ". ",
    "\n",
    "word",
    "Ü",
    "[99999]",
    "［2］",
    "[^3]",
    "†",
]
MESSY = st.lists(st.sampled_from(SIGNS), max_size=25).map("".join)


def draft(text: str, *items: AdmittedItem) -> Draft:
    return draft_sentences(Completion(text, MODEL, 0, 0), items, find=lambda _: ())


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It rained [1].", (1,)),
        ("It rained. [1]", (1,)),
        ("It rained [1, 2].", (1, 2)),
        ("It rained [1][2].", (1, 2)),
        ("It rained [1-3].", (1, 2, 3)),
        ("It rained [1–3, 7].", (1, 2, 3, 7)),
        ("It rained [Source 1].", (1,)),
        ("It rained [source 2, source 4].", (2, 4)),
        ("It rained [Sources 1 and 2].", (1, 2)),
        ("It rained 【1†county-population#row=3】.", (1,)),
        ("It rained [2, 2, 1].", (2, 1)),
        ("[3] It rained.", (3,)),
        ("It rained [^1].", (1,)),
        ("It rained (1).", ()),
        ("It rained [a].", ()),
        ("It rained [].", ()),
        ("It rained [3-1].", (3, 1)),
        ("It rained [[1]2].", (1, 2)),
        ("It rained [1-999999].", (1, 999999)),
    ],
)
def test_markers(text: str, numbers: tuple[int, ...]) -> None:
    (marked,) = parse_marked(text)
    assert marked.numbers == numbers
    assert marked.text.startswith("It rained")


def test_markers_after_the_stop_belong_to_the_sentence_before() -> None:
    assert [(m.text, m.numbers) for m in parse_marked("One. [1] Two. [2]")] == [("One.", (1,)), ("Two.", (2,))]


def test_markers_that_open_a_line_cover_the_line() -> None:
    found = [(m.text, m.numbers) for m in parse_marked("[1] One. Two [3].\nThree.")]
    assert found == [("One.", (1,)), ("Two.", (3,)), ("Three.", ())]


def test_markers_alone_belong_to_the_sentence_before() -> None:
    assert [(m.text, m.numbers) for m in parse_marked("One.\n\n[1] [2]")] == [("One.", (1, 2))]


@pytest.mark.parametrize("tail", ["[", "[1", "[Source", "[1, ", "【2†abc"])
def test_a_marker_that_was_cut_off_is_not_shown(tail: str) -> None:
    assert [m.text for m in parse_marked(f"It rained {tail}")] == ["It rained"]


@QUICK
@given(st.one_of(st.text(max_size=200), MESSY))
def test_no_marker_is_ever_shown(text: str) -> None:
    for marked in parse_marked(text):
        assert not SHOWN_MARKER.search(marked.text)
        assert any(c.isalnum() for c in marked.text)
        marked.text.encode("utf-8")


@QUICK
@given(MESSY)
def test_numbers_outside_the_items_are_unknown(text: str) -> None:
    items = [an_item("It rained.", 1), an_item("It snowed.", 2)]
    for sentence in draft(text, *items).sentences:
        assert set(sentence.markers) <= {1, 2}
        assert not set(sentence.unknown_markers) & {1, 2}
        assert tuple(q.index for q in sentence.quotes) == sentence.markers


def test_a_catalogue_phrase_is_known_word_for_word_only() -> None:
    phrase = PHRASES[ABSTAIN]
    assert [s.catalogue for s in draft(phrase).sentences] == [ABSTAIN]
    assert [s.catalogue for s in draft(phrase.replace("sources", "documents")).sentences] == [None]
    assert [s.catalogue for s in draft(f"{phrase} [1]", an_item("x")).sentences] == [None]


def test_the_quote_is_the_best_sentence_with_its_place() -> None:
    text = "Nothing here. Général Lane came to Lawrence in 1856 — with forty men. It rained."
    item = an_item(text)
    (sentence,) = draft("Lane came to Lawrence in 1856 with forty men [1].", item).sentences
    (quote,) = sentence.quotes
    assert quote.text == "Général Lane came to Lawrence in 1856 — with forty men."
    locator = quote.locator
    assert locator is not None
    assert text[locator.start_char - 100 : locator.end_char - 100] == quote.text
    assert text.encode()[locator.start_byte - 100 : locator.end_byte - 100].decode() == quote.text


@QUICK
@given(st.text(alphabet="abc é.–\n🌪A1 ", min_size=1, max_size=120), st.text(alphabet="abcA1 .", max_size=40))
def test_every_quote_is_an_exact_slice(text: str, sentence: str) -> None:
    item = an_item(text)
    quote = best_quote(sentence, item)
    assert quote.locator is not None
    start, end = quote.locator.start_char - 100, quote.locator.end_char - 100
    assert item.evidence.first.record.text[start:end] == quote.text
    assert text.encode()[quote.locator.start_byte - 100 : quote.locator.end_byte - 100].decode() == quote.text


def test_an_observation_is_quoted_whole() -> None:
    item = an_observation()
    (sentence,) = draft("Shawnee County had 85,200 inhabitants in 1930 [1].", item).sentences
    assert sentence.quotes[0].text == item.text
    assert sentence.quotes[0].locator == item.evidence.first.record.locator
    assert sentence.support_milli == 1000


def test_a_computed_item_is_quoted_by_its_statement() -> None:
    inputs = [sourced(a_record("1,2"))]
    computed = a_computed("Shawnee County grew by 12,000.", inputs)
    item = AdmittedItem(1, an_evidence(*inputs, computed=computed), "", computed.statement, label="public")
    (sentence,) = draft("Shawnee County grew by 12,000 [1].", item).sentences
    assert (sentence.quotes[0].text, sentence.quotes[0].locator) == (computed.statement, None)
    assert sentence.support_milli == 1000


def test_a_redacted_span_is_listed_inside_the_quote_and_bytes_are_the_stored_ones() -> None:
    text = "First one. Write to a@b.org in Topeka – soon. Then go."
    start = text.index("a@b.org")
    item = block_out(an_item(text), start, start + 7)
    quote = best_quote("Write to Topeka soon.", item)
    assert quote.text == "Write to ███████ in Topeka – soon."
    (span,) = quote.redacted
    assert quote.text[span.start : span.end] == "███████"
    assert quote.locator is not None
    stored = text.encode()[quote.locator.start_byte - 100 : quote.locator.end_byte - 100].decode()
    assert stored == "Write to a@b.org in Topeka – soon."


def test_bytes_are_the_stored_ones_after_a_redacted_span_too() -> None:
    text = "Ask a@b.org about it. The storm destroyed the barn."
    quote = best_quote("The storm destroyed the barn.", block_out(an_item(text), 4, 11))
    assert quote.text == "The storm destroyed the barn."
    assert quote.locator is not None
    assert (quote.locator.start_char, quote.locator.start_byte) == (122, 122)


def test_a_quote_of_a_redacted_item_never_holds_what_was_redacted() -> None:
    item = block_out(an_item("The code is 4711 today."), 12, 16)
    (sentence,) = draft("The code is 4711 today [1].", item).sentences
    assert "4711" not in sentence.quotes[0].text
    assert sentence.support_milli <= 100


def test_findings_are_kept() -> None:
    found = draft_sentences(
        Completion("Secret. [1]", MODEL, 0, 0), [an_item("x")], find=lambda t: [TextSpan(0, len(t), "canary.0")]
    )
    assert found.sentences[0].findings == (TextSpan(0, 7, "canary.0"),)


def test_lone_surrogates_do_not_break_a_draft() -> None:
    assert draft("Bad \ud800 sign [1].", an_item("Bad sign.")).sentences[0].text == "Bad ? sign."


def test_the_heading_counts_as_evidence_but_is_not_quoted() -> None:
    item = an_item("The storm came from the north.")
    record = replace(item.evidence.first.record, heading="Black Sunday, 1935")
    item = replace(item, evidence=an_evidence(sourced(record)))
    (sentence,) = draft("The storm came from the north in 1935 [1].", item).sentences
    assert sentence.support_milli > 500
    assert sentence.quotes[0].text == "The storm came from the north."
