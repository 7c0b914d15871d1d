"""Chunk: exact slices, no word lost, nothing across a heading."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.ingest.parsing.structure import blocks_of
from retrieval.ingest.records.chunk import ChunkSize, chunk, passages, sentences
from retrieval.ingest.values import LoadedFile, Owner

OWNER = Owner("doc@1", "doc", "class")
WORD = st.text(st.characters(codec="utf-8", categories=("L", "N", "So", "Mn", "Po", "Zs")), min_size=1, max_size=12)
MARKED = st.sampled_from(
    [
        "# Head\n\n",
        "\n\n",
        ". ",
        "! ",
        "\n",
        "- item ",
        "> quote ",
        "`code`",
        "```\nx\n```\n",
        "| a | b |\n|---|---|\n| c | d |\n",
    ]
)
WRITING = st.lists(
    st.one_of(WORD, MARKED, st.sampled_from(["Mr. ", "Kansas ", "🌪️", "e\u0301", "\u2028"])), max_size=60
).map("".join)


def loaded(text: str, media_type: str = "text/plain") -> LoadedFile:
    return LoadedFile(text, media_type, "sha256:0")


@given(WRITING, st.sampled_from(["text/plain", "text/markdown"]), st.integers(1, 30))
@settings(max_examples=150)
def test_offsets_are_exact_in_characters_and_bytes(text: str, media_type: str, words: int) -> None:
    records = chunk(loaded(text, media_type), OWNER, ChunkSize(words, words * 2))
    encoded = text.encode()
    end = 0
    for number, record in enumerate(records):
        at = record.locator
        assert record.text == text[at.start_char : at.end_char]
        assert record.text.encode() == encoded[at.start_byte : at.end_byte]
        assert record.text == record.text.strip() != ""
        assert at.start_char >= end
        assert (record.ordinal, record.record_id) == (number, f"doc@1#c{number}")
        end = at.end_char


@given(WRITING, st.integers(1, 30))
@settings(max_examples=80)
def test_every_word_of_the_prose_is_in_a_passage_once(text: str, words: int) -> None:
    held = "".join(text[p.start_char : p.end_char] for p in passages(loaded(text), ChunkSize(words, words)))
    prose = "".join(text[b.start_char : b.end_char] for b in blocks_of(text, "text/plain") if b.kind == "prose")
    assert re.sub(r"\s+", "", held) == re.sub(r"\s+", "", prose)


def test_sentences_end_where_sentences_end() -> None:
    text = "Mr. J. Smith of Ft. Scott v. Kansas paid No. 5 to St. John. He left! “Did he?” So said Gen. Lane. [2] It is 3.5."
    assert [text[a:b] for a, b in sentences(text, 0, len(text), 100)] == [
        "Mr. J. Smith of Ft. Scott v. Kansas paid No. 5 to St. John.",
        "He left!",
        "“Did he?”",
        "So said Gen. Lane.",
        "[2] It is 3.5.",
    ]


def test_a_passage_closes_near_its_size_at_a_sentence() -> None:
    text = " ".join(f"Here is sentence number {i} of the story." for i in range(100))
    found = [text[p.start_char : p.end_char] for p in passages(loaded(text), ChunkSize(50, 100))]
    assert all(50 <= len(part.split()) < 60 for part in found[:-1])
    assert all(part.endswith(".") for part in found)


@pytest.mark.parametrize("text", ["x" * 1_000_000, "word " * 200_000, "é" * 500_000, ". " * 300_000])
def test_a_line_of_a_megabyte_is_cut(text: str) -> None:
    records = chunk(loaded(text), OWNER, ChunkSize())
    assert records
    assert max(len(r.text.split()) for r in records) <= 600
    assert max(len(r.text) for r in records) <= 240 * 41


def test_headings_part_passages_and_make_the_path() -> None:
    text = "# A\n\nOne.\n\n## B\n\nTwo.\n\n### C\n\nThree.\n\n## D\n\nFour.\n"
    found = [
        (p.headings, text[p.start_char : p.end_char]) for p in passages(loaded(text, "text/markdown"), ChunkSize())
    ]
    assert found == [(("A",), "One."), (("A", "B"), "Two."), (("A", "B", "C"), "Three."), (("A", "D"), "Four.")]


def test_headings_of_plain_text() -> None:
    text = "CHAPTER II.\n\nTHE PONY EXPRESS.\n\nI rode far.\n\nXII.\n\nCHAPTER III.\n\nAgain.\n"
    found = [(p.headings, text[p.start_char : p.end_char]) for p in passages(loaded(text), ChunkSize())]
    assert found == [
        (("CHAPTER II.", "THE PONY EXPRESS."), "I rode far.\n\nXII."),
        (("CHAPTER III.",), "Again."),
    ]


def test_a_line_that_recurs_parts_passages_and_names_nothing() -> None:
    text = "MESSAGES.\n\n" + "".join(f"Letter {i} is written.\n\nJAMES BUCHANAN.\n\n" for i in range(24))
    found = [(p.headings, text[p.start_char : p.end_char]) for p in passages(loaded(text), ChunkSize())]
    assert found == [(("MESSAGES.",), f"Letter {i} is written.") for i in range(24)]


MARKUP = """\
# Story 🌪️

![status](https://example.org/badge.svg)
[![ci](https://example.org/ci.svg)](https://example.org)

</div>

## Contents

- [One](#one)

## One

First **bold** words.[^n] Second.

- a point
- [x] a task

> A quote.

```python
print("no prose")
```

| Place | Year |
|---|---|
| Topeka | 1854 |

<details>
<summary>For maintainers</summary>

Hidden words.

</details>

After.

[^n]: A note, with a source.
"""


def test_markdown_decoration_is_no_passage() -> None:
    records = chunk(loaded(MARKUP, "text/markdown"), OWNER, ChunkSize())
    assert {r.heading for r in records} == {"Story > One"}
    together = "\n".join(r.text for r in records)
    for kept in (
        "First **bold** words.[^n] Second.",
        "a point",
        "a task",
        "A quote.",
        "no prose",
        "| Topeka | 1854 |",
        "After.",
    ):
        assert kept in together
    for left in ("badge", "</div>", "Hidden", "maintainers", "A note", "(#one)"):
        assert left not in together


def test_a_manifest_leaves_sections_and_blocks_out() -> None:
    text = "# A\n\nKeep.\n\n> 🗺️ **Map cue:** fly.\n\n## References (all)\n\nNot me.\n\n### Nor me\n\nNo.\n\n## B\n\nStay.\n"
    source = loaded(text, "text/markdown")
    found = [text[p.start_char : p.end_char] for p in passages(source, ChunkSize(), ["Map cue", "References"])]
    assert found == ["Keep.", "Stay."]


def test_the_time_of_a_passage_spans_the_years_that_it_names() -> None:
    record = chunk(loaded("In May 1854 it began; by 1861 it was over."), OWNER, ChunkSize())[0]
    assert record.time is not None
    assert (record.time.start.isoformat(), record.time.end.isoformat()) == ("1854-05-01", "1861-12-31")
    assert chunk(loaded("No year here."), OWNER, ChunkSize())[0].time is None
