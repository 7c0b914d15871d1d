"""Sentences: exact offsets, abbreviations, markers, and no exception on anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.text.sentences import split_sentences, trimmed

SAMPLE = Path(__file__).parents[2] / "examples" / "kansas"
QUICK = settings(deadline=None, max_examples=50)
SIGNS = [
    "Mr. Lane",
    "U.S. Army",
    ". ",
    "! ",
    "? ",
    "\n\n",
    "\n- ",
    "1850",
    "No. 5",
    " [1]",
    "[2, 3].",
    " he ",
    " The ",
    '" ',
    "# H\n",
    "…",
    "3.5",
    "é",
]
PIECES = st.lists(st.sampled_from(SIGNS), max_size=25).map("".join)


def cut(text: str) -> list[str]:
    return [text[s.start : s.end].strip() for s in split_sentences(text)]


@QUICK
@given(st.one_of(st.text(max_size=300), PIECES))
def test_slices_concatenate(text: str) -> None:
    spans = split_sentences(text)
    assert "".join(text[s.start : s.end] for s in spans) == (text if text.strip() else "")
    for span in spans:
        inner = trimmed(text, span)
        assert text[inner.start : inner.end] == text[span.start : span.end].strip() != ""


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Smith met Gen. Lane at Lecompton.",
        "The U.S. Army left the post in 1861.",
        "It is printed in 9 Stat. 987 and again.",
        "See No. 5 of the list.",
        "J. H. Lane came to Lawrence.",
        "It cost 3.5 dollars at St. Louis.",
        "He came on Sept. 4 with Dr. Robinson.",
        "The treaty (10 Stat. 1013, pp. 3-4) was signed.",
        "They waited... and then left.",
        "He cried Stop! and fell.",
        "Born near Mercersburg, Pa., April 23, 1791.",
    ],
)
def test_one_sentence_stays_one(text: str) -> None:
    assert cut(text) == [text]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("He came. He saw.", ["He came.", "He saw."]),
        ('"Stop." He ran! Why? So.', ['"Stop."', "He ran!", "Why?", "So."]),
        ("He lived in the U.S. The end.", ["He lived in the U.S.", "The end."]),
        ("In Washington, D.C. The city grew.", ["In Washington, D.C.", "The city grew."]),
        ("One. [1] Two. [2][3] Three.", ["One. [1]", "Two. [2][3]", "Three."]),
        ("One.[^note] Two.", ["One.[^note]", "Two."]),
        ("A heading\n\nText here.", ["A heading", "Text here."]),
        ("# Title\nText here.", ["# Title", "Text here."]),
        ("Items:\n- one\n- two", ["Items:", "- one", "- two"]),
        ("First line\n[2] Second line", ["First line", "[2] Second line"]),
        ("It was 1861. 200 men left.", ["It was 1861.", "200 men left."]),
        ("Lines that\nrun on. Next.", ["Lines that\nrun on.", "Next."]),
    ],
)
def test_cuts(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


@pytest.mark.parametrize("text", ["", " ", "\n\n \t"])
def test_nothing_has_no_sentence(text: str) -> None:
    assert split_sentences(text) == ()


def test_long_text_without_a_stop_is_one_sentence() -> None:
    assert len(split_sentences("word " * 20_000)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Minutes, 3 May 2021\nThe board decided to mend the roof. It ended.",
            ["Minutes, 3 May 2021", "The board decided to mend the roof.", "It ended."],
        ),
        (
            "The governor of the whole state went to\nTopeka to see the roof and the house.",
            ["The governor of the whole state went to\nTopeka to see the roof and the house."],
        ),
    ],
)
def test_a_title_is_cut_off_and_a_wrapped_line_is_not(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@pytest.mark.parametrize(
    ("title", "rest"),
    [
        ("The kitchen", "Pots are under the sink, and the big ones hang by the door of the larder."),
        ("Our staff", "Mary Lund runs the office from Monday to Thursday and on the first Saturday."),
        ("How to book", "Call the warden the day before, and not later than six in the evening."),
        ("Opening hours", "Monday to Friday we open at nine and close at five, except on holidays."),
        ("In the event of fire", "The alarm rings twice, and all of us meet on the lawn behind the hall."),
    ],
)
def test_a_title_that_opens_a_text_is_cut_off(title: str, rest: str) -> None:
    assert cut(f"{title}\n{rest}") == [title, rest]


@pytest.mark.parametrize(
    "text",
    [
        "As Chief Executive\nMagistrate I was bound to restore the supremacy of the Constitution and",
        "For this reason\nLieutenant-General Scott was dispatched, on the 17th of September last,",
        "On this question\nI have differed in several instances from the courts of inquiry.",
        "My instructions to Governor\nCumming have therefore been framed in strict accordance with these",
        "The Army, the\nNavy, the judiciary, in short, every department of the Government,",
        'Under the law it has power "to declare war,"\n"to raise and support armies," and much else besides',
    ],
)
def test_a_text_that_was_cut_out_of_the_middle_of_a_line_opens_with_no_title(text: str) -> None:
    assert cut(text) == [text]


def test_where_a_passage_begins_in_a_line_hardly_changes_its_first_sentence() -> None:
    text = (SAMPLE / "buchanan-messages.txt").read_text(encoding="utf-8")
    spans = [s for s in split_sentences(text) if s.start and text[s.start - 1] != "\n" and s.end - s.start < 800]
    other = [s for s in spans if split_sentences(text[s.start : s.start + 900])[0].end != s.end - s.start]
    assert len(spans) > 2000
    assert len(other) <= len(spans) // 100
