"""Tables inside documents: a row says what it holds under its header, in every kind of document alike, and a page that
was laid out as a table says nothing of the kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.models.reading.rows import Row
from retrieval.ingest.formats.load import load
from retrieval.ingest.parsing.statements import statements
from retrieval.ingest.reading import FileTask, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.values import Owner, SourceSpec
from retrieval.media_types import DOCX, HTML, MARKDOWN, ODT, PPTX
from retrieval.model import Record
from tests.kinds_maker import odt_heading, odt_of, odt_paragraph, pptx_of
from tests.office_maker import docx_of, paragraph, table

ROWS = [["Boat", "Seats", "Per hour"], ["Kayak", "1", "6 euros"], ["Rowing boat", "4", ""], ["Punt", "5", "9 euros"]]
SAID = [
    None,
    "Boat: Kayak; Seats: 1; Per hour: 6 euros.",
    "Boat: Rowing boat; Seats: 4.",
    "Boat: Punt; Seats: 5; Per hour: 9 euros.",
]


def _cells(rows: Sequence[Sequence[str]], tag: str = "td") -> str:
    return "".join("<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>" for row in rows)


def in_markdown(rows: Sequence[Sequence[str]]) -> bytes:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return ("# Boats\n\nWe lend boats.\n\n" + "\n".join(lines) + "\n\nWear a jacket.\n").encode()


def in_html(rows: Sequence[Sequence[str]]) -> bytes:
    body = f"<h1>Boats</h1><p>We lend boats.</p><table>{_cells(rows[:1], 'th')}{_cells(rows[1:])}</table>"
    return f"<html><body>{body}<p>Wear a jacket.</p></body></html>".encode()


def in_word(rows: Sequence[Sequence[str]]) -> bytes:
    return docx_of(paragraph("Boats", 1), paragraph("We lend boats."), table(rows), paragraph("Wear a jacket."))


def in_odt(rows: Sequence[Sequence[str]]) -> bytes:
    cells = ("".join(f"<table:table-cell>{odt_paragraph(cell)}</table:table-cell>" for cell in row) for row in rows)
    written = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    body = f"<table:table>{written}</table:table>"
    return odt_of(odt_heading("Boats", 1) + odt_paragraph("We lend boats.") + body + odt_paragraph("Wear a jacket."))


def in_slides(rows: Sequence[Sequence[str]]) -> bytes:
    return pptx_of(("Boats", ["We lend boats."], rows, "Wear a jacket."))


KINDS: dict[str, Callable[[Sequence[Sequence[str]]], bytes]] = {
    MARKDOWN: in_markdown,
    HTML: in_html,
    DOCX: in_word,
    ODT: in_odt,
    PPTX: in_slides,
}


def records(kind: str, data: bytes) -> list[Record]:
    source = SourceSpec(Path("boats"), "boats", "Boats")
    return list(read_file(FileTask(source, Owner("boats@1", "boats", "c"), kind, {}, ChunkSize(), data)).parts.records)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_a_passage_that_says_what_it_holds_under_the_header(kind: str) -> None:
    every = records(kind, KINDS[kind](ROWS))
    found = [each for each in every if each.attribute is None]
    figures = [each.statement for each in every if each.attribute is not None]
    assert figures == ["Kayak has 1 seat.", "Rowing boat has 4 seats.", "Punt has 5 seats."]
    assert [each.statement for each in found if each.statement] == SAID[1:]
    assert {each.heading for each in found} == {"Boats"}
    assert [each.statement for each in found][-1] is None  # what follows the table is prose again


@pytest.mark.parametrize("kind", KINDS)
def test_no_word_is_told_twice_or_left_out(kind: str) -> None:
    data = KINDS[kind](ROWS)
    loaded, found = load("boats", data, kind), records(kind, data)
    words = " ".join(record.text for record in found if record.attribute is None).replace("|", " ").split()
    told = [cell.split() for row in ROWS for cell in row]
    assert words == [*["We", "lend", "boats."], *(word for cell in told for word in cell), *["Wear", "a", "jacket."]]
    for record in found:
        assert record.text == loaded.text[record.locator.start_char : record.locator.end_char]


CELL = st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=0x24F), min_size=1, max_size=8)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_what_a_row_says_is_read_back_cell_by_cell(data: st.DataObject) -> None:
    width = data.draw(st.integers(2, 5))
    header = data.draw(st.lists(CELL, min_size=width, max_size=width, unique_by=str.casefold))
    body = data.draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=4))
    told = statements([header, *body], headed=True)
    for row, said in zip(body, told[1:], strict=True):
        read = Row.of(said or "", "t")
        assert read is not None and dict(read.cells) == dict(zip(header, row, strict=True))


NO_TABLES = {
    "a row alone": [["Boat", "Seats"]],
    "no column": [[], []],
    "one column": [["Boat"], ["Kayak"]],
    "rows of other lengths": [["Boat", "Seats"], ["Kayak", "1"], ["Punt"]],
    "a header twice": [["Boat", "boat"], ["Kayak", "1"]],
    "a second header that is empty": [["Boat", ""], ["Kayak", "1"]],
    "a long cell": [["Boat", "Seats"], ["Kayak " * 50, "1"]],
    "a long header": [["Boat " * 20, "Seats"], ["Kayak", "1"]],
    "a header with pairs": [["Boat: small; x", "Seats"], ["Kayak", "1"]],
    "too many columns": [[f"c{n}" for n in range(40)], ["1"] * 40],
    "nothing": [],
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_is_no_table_says_nothing(name: str) -> None:
    assert set(statements(NO_TABLES[name], headed=True)) <= {None}


UNHEADED = {
    "names and values": [["Name", "Anna"], ["Phone", "123"], ["Age", "40"]],
    "words throughout": [["Anna", "Ben", "Cara"], ["Dan", "Eve", "Finn"]],
    "figures from the first row on": [["Topeka", "1900", "33608"], ["Wichita", "1900", "24671"]],
    "a column of figures and words": [["Boat", "Seats", "Note"], ["Kayak", "1", "x"], ["Punt", "many", "y"]],
}


@pytest.mark.parametrize("name", UNHEADED)
def test_without_a_stated_header_only_figures_tell_one(name: str) -> None:
    assert set(statements(UNHEADED[name], headed=False)) == {None}


def test_a_first_column_without_a_name_holds_items() -> None:
    assert statements([["", "Adult", "Child"], ["Day", "4", "2"]], headed=True) == (
        None,
        "Item: Day; Adult: 4; Child: 2.",
    )


LAID_OUT = {
    "a spanned cell": "<table><tr><th>A</th><th>B</th></tr><tr><td colspan=2>x</td></tr><tr><td>1</td><td>2</td></tr></table>",
    "a table within": "<table><tr><th>A</th><th>B</th></tr><tr><td><table><tr><td>x</td></tr></table></td><td>2</td></tr></table>",
    "a heading within": "<table><tr><th>A</th><th>B</th></tr><tr><td><h2>x</h2></td><td>2</td></tr></table>",
    "a list within": "<table><tr><th>A</th><th>B</th></tr><tr><td><ul><li>x</ul></td><td>2</td></tr></table>",
    "no header": "<table><tr><td>A</td><td>B</td></tr><tr><td>x</td><td>2</td></tr></table>",
    "a header in part": "<table><tr><th>A</th><td>B</td></tr><tr><th>x</th><td>2</td></tr></table>",
}


@pytest.mark.parametrize("name", LAID_OUT)
def test_a_page_that_is_laid_out_as_a_table_says_nothing(name: str) -> None:
    page = f"<html><body><p>Hello there.</p>{LAID_OUT[name]}</body></html>".encode()
    assert {each.statement for each in records(HTML, page)} == {None}


@pytest.mark.parametrize("first", ["<th>A</th><th>B</th>", "<td><b>A</b></td><td><strong>B</strong></td>"])
def test_a_header_is_told_by_its_cells(first: str) -> None:
    page = f"<html><body><table><tr>{first}</tr><tr><td>x</td><td><p>y</p></td></tr></table></body></html>".encode()
    assert [each.statement for each in records(HTML, page)] == [None, "A: x; B: y."]
