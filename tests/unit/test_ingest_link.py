"""Link: times and names that the words carry, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.index import surface_key
from retrieval.ingest.records.events import with_events
from retrieval.ingest.records.link import mentions_of, names_in, times_in
from retrieval.model import Locator, Record, RecordKind

TIMES = {
    "On July 1, 1852 at Santa Fe": ["1852-07-01"],
    "on the 30th of May, 1854": ["1854-05"],
    "Sept. 3, 1839; Dec 31 1860": ["1839-09-03", "1860-12-31"],
    "1854-05-30 and 1935‑04‑14": ["1854-05-30", "1935-04-14"],
    "March 1935, 1934, and 1930–31, 1939–1940": ["1935-03", "1934", "1930/1931", "1939/1940"],
    "in the 1930s and the 1800s": ["1930s", "1800s"],
    "(1933–1940)": ["1933/1940"],
    "1940-1933": ["1940"],
    "1850.": ["1850"],
}
NO_TIMES = [
    "$1,850", "1,850 people", "1850.5", "1850,000", "18501", "11850", "vol1852", "1850/2", "1850%", "1499", "2100",
    "February 30, 1850", "1854-13-01", "٢٠٠٠", "$1850", "No 12",
]  # fmt: skip


@pytest.mark.parametrize("text", TIMES)
def test_times(text: str) -> None:
    assert [key for key, _ in times_in(text)] == TIMES[text]


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_is_no_time(text: str) -> None:
    assert list(times_in(text)) == []


def test_a_time_is_its_days() -> None:
    spans = {
        key: (time.start.isoformat(), time.end.isoformat())
        for key, time in times_in("1850; December 1850; 1930s; 1930–31")
    }
    assert spans == {
        "1850": ("1850-01-01", "1850-12-31"),
        "1850-12": ("1850-12-01", "1850-12-31"),
        "1930s": ("1930-01-01", "1939-12-31"),
        "1930/1931": ("1930-01-01", "1931-12-31"),
    }


@given(st.text(st.sampled_from("Jan 1850-–5,.s/$Mayé²٣ "), max_size=40))
@settings(max_examples=150)
def test_any_text_has_times_or_none(text: str) -> None:
    for key, time in times_in(text):
        assert key[:4].isascii()
        assert time.start <= time.end


def test_names() -> None:
    found = names_in(
        "Old Shawnee County Court met at Ft. Leavenworth. The Sac and Fox crossed Pope’s land.\nIn Fort of\nOsage K."
    )
    assert {
        "shawnee county",
        "old shawnee county court",
        "fort leavenworth",
        "sac",
        "fox",
        "pope",
        "fort of osage",
    } <= found
    assert not {"the", "in", "met", "the sac", "in fort", "leavenworth the", "sac and fox", "of"} & found


def test_a_name_does_not_run_over_the_end_of_a_sentence() -> None:
    assert "topeka lawrence" not in names_in("He left Topeka. Lawrence burned.")
    assert "james k polk" in names_in("James K. Polk spoke.")


@given(
    st.lists(
        st.sampled_from(["Topeka", "Ft.", "Shawnee", "Co.", "of", "the", "O’Brien's", "rode", "É.", "1850", "St."]),
        max_size=9,
    )
)
@settings(max_examples=100)
def test_a_key_is_the_key_of_some_words_of_the_text(words: list[str]) -> None:
    text = " ".join(words)
    keys = {surface_key(" ".join(words[i:j])) for i in range(len(words)) for j in range(i + 1, len(words) + 1)}
    assert names_in(text) <= keys


def test_keys_meet() -> None:
    assert surface_key("Shawnee Co.") == surface_key("SHAWNEE  county") == "shawnee county"
    assert surface_key("Ft. Leavenworth's") == surface_key("Fort Leavenworth") == "fort leavenworth"
    assert surface_key("Ｔｏｐｅｋａ") == "topeka"
    assert surface_key("…") == ""


@given(st.text(alphabet="aB9 ,.-_'\tCo.St", max_size=12))
@settings(max_examples=30)
def test_a_key_of_plain_characters_is_that_of_the_general_way(text: str) -> None:
    assert surface_key(text) == surface_key(
        f"{text} …"
    )  # one other character, itself no word, and all rules are applied


def passage(text: str, *, heading: str | None = None, statement: str | None = None, number: int = 0) -> Record:
    at = Locator(0, len(text), 0, len(text.encode()))
    return Record(f"d#c{number}", RecordKind.PASSAGE, "d", "s", "class", number, text, at, heading, statement)


def test_mentions_come_from_prose_only() -> None:
    row = passage("Wichita,1870", statement="Wichita, 1870.", number=1)
    row = replace(row, locator=replace(row.locator, row=1))
    found = mentions_of([passage("Topeka in 1854."), row])
    assert [(m.record_id, m.key, m.time is None) for m in found] == [("d#c0", "topeka", True), ("d#c0", "1854", False)]
    assert {(m.class_id, m.document_id) for m in found} == {("class", "d")}


def test_the_row_of_a_table_in_a_text_mentions_what_it_names() -> None:
    found = mentions_of([passage("Topeka 1854", statement="Town: Topeka; Founded: 1854.")])
    assert [m.key for m in found] == ["topeka", "1854"]


def test_dated_headings_are_events() -> None:
    parts = with_events(
        [
            passage("A wall of dust.", heading="Dust Bowl > Black Sunday (April 14, 1935)"),
            passage("More in 1936.", heading="Dust Bowl > Black Sunday (April 14, 1935)", number=1),
            passage("No event.", heading="Recovery (a note)", number=2),
            passage("No heading.", number=3),
        ]
    )
    (edge,) = parts.relationships
    assert (edge.subject.entity_id, edge.predicate, edge.object.entity_id) == (
        "event:black-sunday",
        "occurred_on",
        "date:1935-04-14",
    )
    assert (edge.object.name, edge.record_id) == ("April 14, 1935", "d#c0")
    assert [len(r.entities) for r in parts.records] == [1, 1, 0, 0]
    times = [r.time.start.isoformat() if r.time else None for r in parts.records]
    assert times == ["1935-04-14", "1935-04-14", None, None]
    assert [e.names for e in parts.entries] == [("Black Sunday",)]
