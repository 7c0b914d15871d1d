"""The title line of a plain text, and what stands first without being one."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.ingest.parsing.title_line import title_line
from tests.harness import ask, ingest, opened

BODY = "\n\nThe quay was built in 1871 by Ada Lunt. It is of oak.\n"
TITLES = (
    "A Short History of Senn Moor",
    "Report 7/2023: Fire at the mill",
    "Who owns the sea?",
    "“Salt Roads”",
    "1848 in Rye",
)
OTHERS = (
    "The quay was built in 1871.",
    "Dear friends,",
    "From: Ann Orr",
    "To: All drivers",
    "Date: 3 May 2021",
    "Q: Who may fish?",
    "- oak\n- elm",
    "ann.orr@quay.example",
    "the second half of a sentence that was wrapped",
    "The tide rose. Nobody slept",
    "One\nTwo\nThree",
    "word " * 30,
    "",
)


@pytest.mark.parametrize("title", TITLES)
def test_a_short_line_above_a_text_is_its_title(title: str) -> None:
    assert title_line(title + BODY) == title
    assert title_line(f"\ufeff\n{title}  \n{BODY}") == title
    assert title_line(f"Larch Trust\n{title}{BODY}") == f"Larch Trust – {title}"
    assert title_line(title + BODY[1:]) == title_line(title) == ""


@pytest.mark.parametrize("line", OTHERS)
def test_other_first_lines_are_none(line: str) -> None:
    assert title_line(line + BODY) == ""


@pytest.mark.parametrize(("line", "title"), [(TITLES[0], TITLES[0]), (OTHERS[0], "quay notes")])
async def test_a_citation_has_the_title_or_the_name_of_the_file(tmp_path: Path, line: str, title: str) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "quay-notes.txt").write_text(line + BODY, encoding="utf-8")
    await ingest(tmp_path / "home", paths=[folder], label="public")
    async with opened(tmp_path / "home") as system:
        body = await ask(system, "Who built the quay in 1871?")
    assert body["outcome"] == "ANSWER"
    assert {each["title"] for each in body["citations"].values()} == {title}
