"""Folding repeats: what is folded, what never is, and that nothing of where it came from is lost."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.model import ChannelName, ChannelRank, Computation, EntityRef, Locator, RecordKind, SourcedRecord
from retrieval.ranking.dedupe import Candidate, DedupeRules, dedupe
from tests.corpora import HIDDEN, corpus, prose_document, visibility

LONG = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(100))


def sourced(
    record_id: str, text: str, *, start: int = 0, document_id: str | None = None, **facts: object
) -> SourcedRecord:
    base = next(
        iter(prose_document(document_id or f"of-{record_id}", visibility(), random.Random(0)).sourced().values())
    )
    locator = Locator(start, start + len(text), start, start + len(text))
    record = replace(base.record, record_id=record_id, text=text, locator=locator, heading=None)
    return replace(base, record=replace(record, **facts))  # type: ignore[arg-type]


def item(sourced_record: SourcedRecord, *, rank: int = 1, computed: Computation | None = None) -> Candidate:
    ranks = (ChannelRank(ChannelName.FULLTEXT, "s", rank, 1.0 / rank),)
    record_id = sourced_record.record.record_id if computed is None else computed.record_id
    return Candidate(record_id, (sourced_record,), ranks, 1000 - rank, computed)


def ids(candidates: tuple[Candidate, ...]) -> list[str]:
    return [c.record_id for c in candidates]


def test_an_equal_passage_folds_into_the_first_and_keeps_its_provenance() -> None:
    kept = dedupe([item(sourced("a", LONG)), item(sourced("b", LONG.upper() + "!"), rank=2)], DedupeRules())
    assert ids(kept) == ["a"]
    assert [d.record.record_id for d in kept[0].duplicates] == ["b"]
    assert [r.rank for r in kept[0].ranks] == [1, 2]
    assert kept[0].score_nano == 999


def test_a_nearly_equal_passage_folds_and_a_rather_different_one_does_not() -> None:
    words = LONG.split()
    near, far = " ".join([*words[:50], "else", *words[51:]]), " ".join([*words[:50], *["else"] * 12, *words[62:]])
    assert ids(dedupe([item(sourced("a", LONG)), item(sourced("b", near))], DedupeRules())) == ["a"]
    assert ids(dedupe([item(sourced("a", LONG)), item(sourced("b", far))], DedupeRules())) == ["a", "b"]


def test_the_threshold_is_met_exactly() -> None:
    words = LONG.split()
    one, other = " ".join(words[:20]), " ".join([*words[:19], "else"])  # single words: 19 shared of 21
    at, above = (DedupeRules(jaccard_milli=m, shingle_words=1) for m in (904, 905))
    assert ids(dedupe([item(sourced("a", one)), item(sourced("b", other))], at)) == ["a"]
    assert ids(dedupe([item(sourced("a", one)), item(sourced("b", other))], above)) == ["a", "b"]


def test_texts_that_differ_in_a_number_stay_apart() -> None:
    one, other = f"{LONG} in 1870", f"{LONG} in 1880"
    assert ids(dedupe([item(sourced("a", one)), item(sourced("b", other))], DedupeRules(jaccard_milli=500))) == [
        "a",
        "b",
    ]


def test_overlapping_slices_of_one_document_fold_and_touching_ones_do_not() -> None:
    first = sourced("a", LONG[:400], document_id="one")
    half, little = (sourced(r, LONG[s:][:400], start=s, document_id="one") for r, s in (("b", 200), ("c", 201)))
    after = sourced("d", LONG[400:700], start=400, document_id="one")
    assert ids(dedupe([item(first), item(half)], DedupeRules())) == ["a"]
    assert ids(dedupe([item(first), item(little)], DedupeRules())) == ["a", "c"]
    assert ids(dedupe([item(first), item(after)], DedupeRules())) == ["a", "d"]


def test_slices_of_two_documents_do_not_overlap() -> None:
    one = sourced("a", LONG[:400], document_id="one")
    other = sourced("b", LONG[200:600], start=200, document_id="two")
    assert ids(dedupe([item(one), item(other)], DedupeRules())) == ["a", "b"]


def test_observations_are_never_folded() -> None:
    cells = [item(sourced(r, "85,200", kind=RecordKind.OBSERVATION, statement="S had 85,200.")) for r in "ab"]
    prose = item(sourced("c", "85,200"))
    assert ids(dedupe([*cells, prose], DedupeRules())) == ["a", "b", "c"]


def test_a_computed_item_is_neither_folded_nor_folded_into() -> None:
    made = Computation("sum", {}, ("a",), "sha256:0", {}, LONG)
    items = [item(sourced("a", LONG)), item(sourced("a", LONG), computed=made), item(sourced("b", LONG))]
    assert ids(dedupe(items, DedupeRules())) == ["a", made.record_id]


def test_rows_and_features_fold_only_when_they_say_exactly_the_same_of_the_same() -> None:
    springfield, other = EntityRef("city:1", "Springfield", "city"), EntityRef("city:2", "Springfield", "city")
    said = f"{LONG}. Springfield: 100."
    stated: dict[str, Any] = {"kind": RecordKind.FEATURE, "statement": said, "entities": (springfield,)}
    first = item(sourced("a", "x", **stated))
    same, elsewhere = sourced("b", "y", **stated), sourced("c", "z", **{**stated, "entities": (other,)})
    changed = sourced("d", "x", **{**stated, "statement": said.replace("100", "-100")})
    assert ids(dedupe([first, item(same)], DedupeRules())) == ["a"]
    assert ids(dedupe([first, item(elsewhere)], DedupeRules())) == ["a", "c"]
    assert ids(dedupe([first, item(changed)], DedupeRules())) == ["a", "d"]


def test_what_is_shown_is_the_first_record_under_its_own_access_facts() -> None:
    open_one, closed = sourced("a", LONG), sourced("b", LONG)
    closed = replace(closed, source=replace(closed.source, visibility=HIDDEN[0]))
    kept = dedupe([item(open_one), item(closed)], DedupeRules())[0]
    assert kept.records == (open_one,)
    assert kept.duplicates == (closed,)


@pytest.mark.parametrize(
    ("other", "kept"),
    [
        (f"“{LONG.replace(' ', ' – ', 3)}” in 1870", ["a"]),
        (LONG.replace(" ", "\x1c", 3) + " in 1870", ["a"]),
        (f"{LONG}\u00a0in 1870", ["a"]),
        (f"{LONG} – in \u0661870", ["a", "b"]),
        (f"{LONG} – in 1871", ["a", "b"]),
    ],
    ids=["typographic marks", "a separator", "a hard space", "digits of another script", "another year"],
)
def test_words_and_numbers_are_the_same_in_every_coding(other: str, kept: list[str]) -> None:
    found = dedupe([item(sourced("a", f"{LONG} in 1870")), item(sourced("b", other))], DedupeRules())
    assert ids(found) == kept


@pytest.mark.parametrize(
    "bad", [{"jaccard_milli": 0}, {"jaccard_milli": 1001}, {"overlap_milli": 0}, {"shingle_words": 0}]
)
def test_impossible_rules_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="thousandths"):
        DedupeRules(**bad)


def reference(texts: list[str], rules: DedupeRules) -> list[int]:
    """The places kept, by comparing every pair."""

    def shingles(text: str) -> set[tuple[str, ...]]:
        words, size = text.split(), rules.shingle_words
        return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)} or {tuple(words)}

    kept: list[int] = []
    for place, text in enumerate(texts):
        pairs = [(shingles(text), shingles(texts[k])) for k in kept]
        if not any(len(a & b) * 1000 >= rules.jaccard_milli * len(a | b) for a, b in pairs):
            kept.append(place)
    return kept


@st.composite
def edited_texts(draw: st.DrawFn) -> list[str]:
    words = [f"w{chr(97 + n % 26)}" for n in range(draw(st.integers(0, 40)))]
    texts = []
    for _ in range(draw(st.integers(1, 7))):
        edited = list(words)
        for at in draw(st.lists(st.integers(0, 39), max_size=5)):
            if at < len(edited):
                edited[at] = draw(st.sampled_from(["new", "else", "other"]))
        texts.append(" ".join(edited))
    return texts


@given(edited_texts(), st.sampled_from([300, 500, 700, 850, 1000]), st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_the_sampled_search_finds_exactly_what_comparing_every_pair_finds(
    texts: list[str], jaccard_milli: int, shingle_words: int
) -> None:
    rules = DedupeRules(jaccard_milli=jaccard_milli, shingle_words=shingle_words)
    found = dedupe([item(sourced(str(n), text), rank=n + 1) for n, text in enumerate(texts)], rules)
    assert ids(found) == [str(n) for n in reference(texts, rules)]


@given(st.integers(0, 2**16))
@settings(max_examples=25, deadline=None)
def test_every_record_and_every_rank_is_still_somewhere(seed: int) -> None:
    records = [*corpus(seed).sourced().values(), *corpus(seed, prefix="copy").sourced().values()]
    items = [item(s, rank=n) for n, s in enumerate(records, start=1)]
    kept = dedupe(items, DedupeRules())
    assert sorted(s.record.record_id for c in kept for s in (*c.records, *c.duplicates)) == sorted(ids(tuple(items)))
    assert sorted(r.rank for c in kept for r in c.ranks) == list(range(1, len(items) + 1))
    assert dedupe(kept, DedupeRules()) == kept
