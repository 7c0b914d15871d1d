"""Who tells what is told in the first person: `retrieval.ingest.parsing.narrators`, and what a passage says of it."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from retrieval.ingest.parsing.narrators import narrators
from retrieval.ingest.parsing.structure import blocks_of
from retrieval.ingest.records.chunk import ChunkSize, chunk, passages
from retrieval.ingest.records.events import with_events
from retrieval.ingest.values import LoadedFile, Owner
from retrieval.model import headings_above

NAMES = (
    "Ilze Kalvane", "Pieter van der Berg", "Bill Simms", "Mary O'Hara", "A. J. Corrigall", "Jean-Luc Dufek", "Nils",
    "Ana de la Cruz", "Thos. Ames", "Zsófia Árvay",
)  # fmt: skip
TOLD = "I came over in the spring with my two sisters. We had a trunk between us.\n\nMy father had stayed behind."
BEFORE = (
    "My name is {}, and I am eighty-six years old.",
    "My name is {}.",
    '"My name is {}, and I am eighty-six years old.',
    '"My name is {}."',
    "Well now. My name is {} and I keep bees.",
    "My full name was {} before I married.",
    "Told by {}, formerly of Ottawa, aged 97 years.",
    "As told to Leta Gray by {}.",
    "Narrated by {}.",
    "Recalled by {} in 1931.",
    "Witness: {}",
    "I, {}, of the town of Tarn, do say upon my oath:",
)
LAWFUL = ("Statement of {}", "Deposition of {}, sworn in March", "Interview with {}")
AFTER = (
    "Your affectionate son,\n{}",
    "I remain, Sir, yours faithfully,\n{}",
    "With love to all,\n{}",
    "Kind regards\n{}\nTreasurer",
    "Respectfully,\n{}",
    "Yours truly,\n\n{}",
)
NOBODY = (
    '"My name is Horace Billings," said the man, and I took his hand.',
    'He looked up. "My name is Horace Billings." We all laughed.',
    "“My name is Horace Billings,” he told me.",
    "His name is Horace Billings, and I knew him well.",
    "The ship's name was Halcyon Dawn.",
    "Diary of March",
    "Statement of Accounts",
    "Letter from Boston",
    "Subject: Annual Meeting",
    "I, for one, never saw it.",
    "I, The Undersigned",
    "It was told by everybody at the time.",
    "We told Bill Simms by letter.",
    "I owe it to your mother.\nHenry says so too.",
    "Yours was the only house with a lamp.\nEverybody came.",
)
"""Lines above or below what is told that name no narrator, or not this one."""


def told_by(text: str, media_type: str = "text/plain") -> list[str | None]:
    """Of each paragraph that is no heading."""
    blocks = blocks_of(text, media_type)
    return [name for name, block in zip(narrators(text, blocks), blocks, strict=True) if block.kind == "prose"]


@pytest.mark.parametrize("lead", BEFORE)
@pytest.mark.parametrize("name", NAMES)
def test_a_narrator_is_named_before_what_is_told(lead: str, name: str) -> None:
    assert told_by(f"{lead.format(name)}\n\n{TOLD}")[-2:] == [name, name]


@pytest.mark.parametrize("lead", LAWFUL)
@pytest.mark.parametrize("name", [name for name in NAMES if " " in name])
def test_a_statement_names_its_narrator_by_two_words_or_more(lead: str, name: str) -> None:
    assert told_by(f"{lead.format(name)}\n\n{TOLD}")[-2:] == [name, name]


@pytest.mark.parametrize("end", AFTER)
@pytest.mark.parametrize("name", NAMES)
def test_the_name_under_a_letter_is_that_of_who_tells_it(end: str, name: str) -> None:
    assert told_by(f"Dear Mother,\n\n{TOLD}\n\n{end.format(name)}")[1:3] == [name, name]


@pytest.mark.parametrize("line", NOBODY)
def test_whom_a_line_does_not_name_tells_nothing(line: str) -> None:
    assert set(told_by(f"{TOLD}\n\n{line}\n\n{TOLD}")) == {None}
    assert set(told_by(f"{line}\n\n{TOLD}")) == {None}


def test_a_heading_ends_what_is_told_and_another_narrator_goes_on() -> None:
    text = f"# One\n\nTold by Bill Simms.\n\n{TOLD}\n\n# Two\n\n{TOLD}\n\n# Three\n\nMy name is Ana Ruiz.\n\n{TOLD}"
    assert told_by(text, "text/markdown") == [None, *["Bill Simms"] * 2, None, None, *["Ana Ruiz"] * 3]


def test_what_is_not_told_in_the_first_person_has_no_narrator() -> None:
    text = f"My name is Ana Ruiz.\n\n{TOLD}\n\nThe house was pulled down in 1911."
    assert told_by(text) == ["Ana Ruiz", "Ana Ruiz", "Ana Ruiz", None]


@given(st.text(alphabet='abIy mnAB.,:"\n#', max_size=200))
def test_every_block_has_at_most_one_narrator(text: str) -> None:
    blocks = blocks_of(text, "text/markdown")
    assert len(narrators(text, blocks)) == len(blocks)


def headings(text: str) -> list[tuple[str, ...]]:
    """Those of the passages of a Markdown document."""
    loaded = LoadedFile(text, "text/markdown", "sha256:" + "0" * 64)
    return [each.headings for each in passages(loaded, ChunkSize())]


def test_a_passage_says_last_who_tells_it() -> None:
    text = f"# Voices\n\nThey came in 1877.\n\nTold by Bill Simms.\n\n{TOLD}\n\nThe farm was sold."
    assert headings(text) == [("Voices",), ("Voices", "told by Bill Simms"), ("Voices",)]


def test_a_heading_that_names_the_narrator_is_enough() -> None:
    assert headings(f"# Bill Simms, aged 97\n\nTold by Bill Simms.\n\n{TOLD}") == [("Bill Simms, aged 97",)] * 2


@pytest.mark.parametrize(
    ("heading", "path"),
    [
        (None, ()),
        ("Voices", ("Voices",)),
        ("told by Bill Simms", ()),
        ("Voices > told by Bill Simms", ("Voices",)),
        ("Voices > Black Sunday (April 14, 1935) > told by Bill Simms", ("Voices", "Black Sunday (April 14, 1935)")),
        ("Stories told by others > Voices", ("Stories told by others", "Voices")),
    ],
)
def test_the_headings_above_are_those_of_the_document(heading: str | None, path: tuple[str, ...]) -> None:
    assert headings_above(heading) == path


def test_a_dated_heading_is_an_event_whoever_tells_of_it() -> None:
    text = f"# Voices\n\n## Black Sunday (April 14, 1935)\n\nTold by Bill Simms.\n\n{TOLD}\n"
    loaded = LoadedFile(text, "text/markdown", "sha256:" + "0" * 64)
    parts = with_events(chunk(loaded, Owner("doc@1", "doc", "class"), ChunkSize()))
    assert [each.entity.name for each in parts.entries] == ["Black Sunday"]
