"""Tables: rows by RFC 4180 with exact offsets, figures that are figures."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import LoadError
from retrieval.ingest.parsing.table_rows import split_rows
from retrieval.ingest.records.tables import read_table
from retrieval.ingest.values import (
    EntitySpec,
    LoadedFile,
    ObservationSpec,
    Owner,
    Parts,
    RelationSpec,
    SourceSpec,
    TableSpec,
)
from retrieval.model import RecordKind

OWNER = Owner("pop@1", "pop", "class")
SPEC = TableSpec(
    entities=(EntitySpec("place", "county", "county:{fips}", "{name}", ("{name}, Kansas",)),),
    observation=ObservationSpec("place", "population", "people", no_figure=("0", "n/a")),
    relations=(RelationSpec("place", "counted_on", time="day"),),
)
CELL = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")) | st.sampled_from('",\n\r'), max_size=8)


def table(text: str, spec: TableSpec | None = SPEC, title: str = "Population") -> Parts:
    return read_table(
        SourceSpec(Path("pop.csv"), "pop", title, table=spec), LoadedFile(text, "text/csv", "sha256:0"), OWNER, {}
    )


@given(st.lists(st.lists(CELL, min_size=2, max_size=5), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=150)
def test_rows_are_those_of_the_csv_module(rows: list[list[str]], line_end: str) -> None:
    written = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if any("\r" in cell for row in rows for cell in row) else csv.QUOTE_MINIMAL
    csv.writer(written, lineterminator=line_end, quoting=quoting).writerows(rows)
    text = written.getvalue()
    found = list(split_rows("a.csv", text, ","))
    assert [row.cells for row in found] == rows == list(csv.reader(io.StringIO(text, newline="")))
    for row in found:
        line = text[row.start_char : row.end_char]
        assert next(csv.reader(io.StringIO(line, newline=""))) == row.cells


@given(st.text(st.sampled_from('ab,"\n\r\t '), max_size=40))
@settings(max_examples=100)
def test_any_text_is_rows_or_a_coded_error(text: str) -> None:
    try:
        end = 0
        for row in split_rows("a.csv", text, ","):
            assert end <= row.start_char <= row.end_char <= len(text)
            end = row.end_char
    except LoadError as exc:
        assert "a.csv: " in str(exc)


RAGGED = {
    "too few": ("fips,name,1930\n1,A\n", "row 1: 2 cells where the header has 3"),
    "too many": ("fips,name,1930\n1,A,5,6\n", "row 1: 4 cells where the header has 3"),
    "open quote": ('fips,name,1930\n1,"A,5\n', "row 1: a quoted cell is never closed"),
    "quote inside": ('fips,name,1930\n1,A"b,5\n', "row 1: a quote inside"),
    "words after a quote": ('fips,name,1930\n1,"A"b,5\n', "row 1: a quote inside"),
    "no figure": ("fips,name,1930\n1,A,many\n", "row 1: 'many' in column 1930 is not a figure"),
    "infinite": ("fips,name,1930\n1,A,inf\n", "is not a figure"),
    "exponent": ("fips,name,1930\n1,A,1e5\n", "is not a figure"),
    "other digits": ("fips,name,1930\n1,A,٣٤\n", "is not a figure"),
    "bad groups": ('fips,name,1930\n1,A,"1,23"\n', "is not a figure"),
    "column twice": ("fips,fips,1930\n1,A,5\n", "names a column twice"),
    "column without name": ("fips,,1930\n1,A,5\n", "names a column twice or not at all"),
    "blank header": (" \n", "no header"),
}


@pytest.mark.parametrize("name", RAGGED)
def test_a_table_that_cannot_be_read_names_the_row(name: str) -> None:
    text, message = RAGGED[name]
    with pytest.raises(LoadError) as caught:
        table(text)
    assert message in str(caught.value)


def test_rows_and_figures() -> None:
    text = 'fips,name,day,1930,1940\r\n20177,Shawnee County,1930-04-01,"85,200",0\r\n\r\n20045,Douglas County,,,n/a\r\n'
    parts = table(text)
    rows = [r for r in parts.records if r.kind is RecordKind.PASSAGE]
    figures = [r for r in parts.records if r.kind is RecordKind.OBSERVATION]
    assert [r.locator.row for r in rows] == [0, 1]
    assert rows[0].statement == "fips: 20177; name: Shawnee County; day: 1930-04-01; 1930: 85,200; 1940: 0."
    assert [r.ordinal for r in parts.records] == list(range(len(parts.records)))
    (figure,) = figures
    assert figure.statement == "Shawnee County had a population of 85,200 in 1930."
    assert figure.text == rows[0].text == '20177,Shawnee County,1930-04-01,"85,200",0'
    assert (figure.locator.row, figure.locator.column) == (0, "1930")
    measured = figure.measurement
    assert measured is not None
    assert (measured.value, measured.unit, measured.place.entity_id) == ("85200", "people", "county:20177")
    assert [e.names for e in parts.entries] == [
        ("Shawnee County", "Shawnee County, Kansas"),
        ("Douglas County", "Douglas County, Kansas"),
    ]
    (edge,) = parts.relationships
    assert (edge.predicate, edge.object.entity_id, edge.record_id) == ("counted_on", "date:1930-04-01", "pop@1#r0")


@given(st.lists(st.text("aé🌾 ", min_size=1, max_size=6), min_size=1, max_size=6))
@settings(max_examples=50)
def test_the_slice_of_a_row_is_exact(names: list[str]) -> None:
    text = "fips,name,1930\n" + "".join(f'{i},"{name}",{i + 1}\n' for i, name in enumerate(names))
    for record in table(text).records:
        at = record.locator
        assert record.text == text[at.start_char : at.end_char]
        assert record.text.encode() == text.encode()[at.start_byte : at.end_byte]


def test_an_undeclared_table_says_what_its_headers_say() -> None:
    parts = table("county,1930,note\nShawnee,85200,x\nRiley,unknown,y\n", None, "county-population")
    (figure,) = [r for r in parts.records if r.measurement]
    assert figure.statement == "Shawnee had a county population of 85,200 in 1930."
    assert [e.entity.entity_id for e in parts.entries] == ["county:shawnee", "county:riley"]
    assert not [r for r in table("a,b\n1,2\n", None).records if r.measurement]
