"""Lines that stand alone: entries and numbered headings, and what only looks like one."""

from __future__ import annotations

import pytest

from ai.text.entries import gives_words_of, roles_in
from ai.text.lines import Entry, Heading, lines_of
from ai.text.sentences import bare_sentences, split_sentences

LABELS = {
    "Chair": "Ms Orr",
    "Apologies for absence": "Mrs Tate",
    "RFID": "radio-frequency identification",
    "Weight": "14 kg",
}
FORMS = (
    "{}: {}\n",
    "- {}: {}\n",
    "**{}:** {}\n",
    "- **{}**: {}\n",
    "{} — {}\n",
    "{} = {}\n",
    "{} - {}\n",
    "\n{}: {}\n",
)
HEADINGS = ("4.2 {}", "Section 3 {}", "5. {}", "12) {}")
SECTION = "The fee is 12 pounds."


def said(text: str, *, lined: bool) -> list[str]:
    return [" ".join(text[span.start : span.end].split()) for span in bare_sentences(text, lined=lined)]


@pytest.mark.parametrize("form", FORMS)
def test_entries_are_read_and_are_sentences(form: str) -> None:
    text = "".join(form.format(*each) for each in LABELS.items()) + "\nThe board met at noon.\n"
    found = [each for each in lines_of(text) if isinstance(each, Entry)]
    assert {each.label: each.value for each in found} == LABELS
    sentences = said(text, lined=True)
    assert len(sentences) == len(LABELS) + 1 and sentences[-1] == "The board met at noon."
    assert all(label in each and value in each for (label, value), each in zip(LABELS.items(), sentences, strict=False))


@pytest.mark.parametrize("form", HEADINGS)
def test_headings_do_not_stick_to_the_sentence_below(form: str) -> None:
    text = f"{form.format('Fees')}\n{SECTION}\n{form.format('Repairs')}\nThe roof is kept in repair.\n"
    assert [each.name for each in lines_of(text) if isinstance(each, Heading)] == ["Fees", "Repairs"]
    assert SECTION in said(text, lined=True)


@pytest.mark.parametrize("text", [
    "The siege began on a wet morning in the spring of the year\n1645 Roundhead troops came down the valley with guns and\nset up camp.",
    "The castle was held by a few men of the garrison in the west and by the\ngovernor: a man who had no more than sixty soldiers with him and\nsent for help.",
    "Parliament had one aim which it never gave up while it lasted: to take the\ncastle before the harvest.",
    "The train leaves at 10:30 and arrives at 12:45.",
])  # fmt: skip
def test_lines_of_wrapped_paragraphs_are_neither(text: str) -> None:
    assert lines_of(text) == ()
    assert split_sentences(text, lined=True) == split_sentences(text)


@pytest.mark.parametrize("text", ["", "\n", "a: b", "1 A\n", ":", "- : -", "Chair: \n", "1.1 Fees"])
def test_sentences_still_adjoin(text: str) -> None:
    spans = split_sentences(text, lined=True)
    assert "".join(text[each.start : each.end] for each in spans) == (text if text.strip() else "")


def test_before_the_version_lines_were_no_sentences() -> None:
    assert said(f"4.2 Fees\n{SECTION}", lined=False) == [f"4.2 Fees {SECTION}"]


SHORT = {
    "LOTO": "lockout-tagout",
    "RFID": "radio-frequency identification",
    "NATO": "North Atlantic Treaty Organisation",
    "ECO": "energy cut-off",
}


@pytest.mark.parametrize("abbreviation", SHORT)
@pytest.mark.parametrize(
    "form", ["a tag ({0}, {1}) hangs", "a tag ({0}: {1})", "the {1} ({0}) tag", "the {0} ({1}) tag"]
)
def test_an_abbreviation_and_its_words_stand_in_either_order(form: str, abbreviation: str) -> None:
    assert gives_words_of(form.format(abbreviation, SHORT[abbreviation]), abbreviation)
    for other, words in SHORT.items():
        if other != abbreviation:
            assert not gives_words_of(form.format(abbreviation, words), abbreviation)
            assert not gives_words_of(form.format(other, words), abbreviation)
    assert not gives_words_of(form.format(abbreviation, "red"), abbreviation)


@pytest.mark.parametrize("label", ["Present", "Attendance", "Committee"])
def test_roles_stand_behind_names(label: str) -> None:
    entries = [
        each
        for each in lines_of(f"{label}: Ann Orr (chair), Max Pell (vice-chair), Una Dale\n")
        if isinstance(each, Entry)
    ]
    assert {each.label: each.value for each in roles_in(entries)} == {"chair": "Ann Orr", "vice-chair": "Max Pell"}
    assert [*roles_in([Entry(0, 1, label, "two rooms (with 14 seats), a hall")])] == []
