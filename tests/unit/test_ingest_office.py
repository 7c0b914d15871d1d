"""Word documents and workbooks: their words and cells as text, and a coded error for everything else."""

from __future__ import annotations

import csv
import io
from datetime import date, datetime, time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import LoadError
from retrieval.ingest.formats.load import load, media_type_of
from retrieval.ingest.records.tables import read_table
from retrieval.ingest.values import Owner, SourceSpec
from retrieval.media_types import DOCX, XLSX
from retrieval.model import RecordKind
from tests.office_maker import docx_of, packed, paragraph, table, xlsx_of

WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=12)
PHRASES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
CELLS = st.one_of(WORDS, st.integers(-(10**12), 10**12), st.booleans(), st.dates(date(1900, 3, 1), date(2100, 1, 1)))


def in_rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def shown(cell: object) -> str:
    return str(cell).upper() if isinstance(cell, bool) else str(cell)


# ----------------------------------------------------------------------------------------------------------- documents


@given(st.lists(st.tuples(PHRASES, st.sampled_from([None, None, 1, 2])), min_size=1, max_size=8))
@settings(max_examples=40)
def test_every_paragraph_is_a_block_with_its_level(body: list[tuple[str, int | None]]) -> None:
    loaded = load("a.docx", docx_of(*(paragraph(text, style) for text, style in body)), DOCX)
    found = [(loaded.text[b.start_char : b.end_char], b.level) for b in loaded.blocks or ()]
    assert found == [(text, style or 0) for text, style in body]


def test_a_title_is_a_heading_and_a_row_of_a_table_is_told_in_one_run() -> None:
    body = [paragraph("Harbour notes", 0), paragraph("It opened in 1911."), table([["Boats", "12"], ["Visitors", "0"]])]
    loaded = load("a.docx", docx_of(*body), DOCX)
    found = [(loaded.text[b.start_char : b.end_char], b.kind) for b in loaded.blocks or ()]
    assert found[:2] == [("Harbour notes", "heading"), ("It opened in 1911.", "prose")]
    assert "Boats" in loaded.text
    assert "12" in loaded.text


def test_what_was_deleted_is_not_told_and_what_was_inserted_is() -> None:
    run = "<w:r><w:{0}>{1}</w:{0}></w:r>"
    changed = f"<w:del>{run.format('delText', 'old')}</w:del><w:ins>{run.format('t', 'new')}</w:ins>"
    assert load("a.docx", docx_of(f"<w:p>{changed}</w:p>"), DOCX).text == "new"


def test_markup_in_a_document_is_its_text() -> None:
    assert load("a.docx", docx_of(paragraph("<script>x</script> & <b>")), DOCX).text == "<script>x</script> & <b>"


# ----------------------------------------------------------------------------------------------------------- workbooks


@given(
    st.lists(WORDS, min_size=2, max_size=5, unique=True).flatmap(
        lambda header: st.tuples(
            st.just(header),
            st.lists(st.lists(CELLS, min_size=len(header), max_size=len(header)), min_size=1, max_size=6),
        )
    )
)
@settings(max_examples=40)
def test_the_cells_of_a_sheet_are_those_of_the_text(made: tuple[list[str], list[list[object]]]) -> None:
    header, rows = made
    loaded = load("a.xlsx", xlsx_of({"S": [header, *rows]}), XLSX)
    assert in_rows(loaded.text) == [header, *([shown(cell) for cell in row] for row in rows)]
    assert loaded.slips == ()


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (85200.0, "85200"),
        (1.5, "1.5"),
        (-0.25, "-0.25"),
        (datetime(1911, 5, 3), "1911-05-03"),  # noqa: DTZ001  cells know no zone
        (datetime(1911, 5, 3, 12, 30), "1911-05-03T12:30:00"),  # noqa: DTZ001  as above
        (time(12, 30), "12:30:00"),
        ('say "no", twice\nor not', 'say "no", twice or not'),
        (True, "TRUE"),
    ],
)
def test_a_cell_is_told_as_it_is_meant(cell: object, told: str) -> None:
    loaded = load("a.xlsx", xlsx_of({"S": [["a", "b"], ["x", cell]]}), XLSX)
    assert in_rows(loaded.text)[1] == ["x", told]


def test_titles_empty_rows_and_columns_and_further_sheets_are_no_table() -> None:
    rows = [
        ["Population of the counties"],
        [],
        [None, "county", "1900", None, "1910"],
        [None, "Ness", 4535, None, 5883],
    ]
    loaded = load("a.xlsx", xlsx_of({"Empty": [], "Counts": rows, "Notes": [["see", "page 3"]]}), XLSX)
    assert in_rows(loaded.text) == [["county", "1900", "1910"], ["Ness", "4535", "5883"]]
    assert loaded.slips == ("sheet 'Notes': 1 row; the first sheet is read",)
    assert loaded.notes == ("sheet 'Counts': 1 row above the header",)


def test_a_workbook_speaks_as_the_same_table_in_a_text_file_does() -> None:
    rows = [["county", "1900", "1910"], ["Ness", 4535, 5883], ["Riley", 13828, 15783]]
    source = SourceSpec(Path("p.xlsx"), "p", "Population")
    owner = Owner("p@1", "p", "c")
    book = read_table(source, load("p.xlsx", xlsx_of({"S": rows}), XLSX), owner, {})
    text = "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    plain = read_table(source, load("p.csv", text.encode(), "text/csv"), owner, {})
    assert book == plain
    assert [r.measurement.value for r in book.records if r.kind is RecordKind.OBSERVATION and r.measurement] == [
        "4535",
        "5883",
        "13828",
        "15783",
    ]


def test_a_formula_is_the_value_that_it_last_had_and_nothing_is_computed() -> None:
    loaded = load("a.xlsx", xlsx_of({"S": [["a", "b"], ["x", "=1+1"]]}), XLSX)
    assert in_rows(loaded.text) == [["a", "b"], ["x", ""]]


# ------------------------------------------------------------------------------------------------------------- hostile


_LAUGHS = '<!DOCTYPE d [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
)
_SHEET = "xl/worksheets/sheet1.xml"
WHOLE = {"docx": docx_of(paragraph("Kansas")), "xlsx": xlsx_of({"S": [["a", "b"], [1, 2]]})}
BAD = {
    "no zip": (b"hello", "not a readable"),
    "an older format": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "not a readable"),
    "an empty zip": (packed({}), "not a readable"),
    "another zip": (packed({"a.txt": "Kansas"}), "not a readable"),
    "a bomb": (packed({"word/document.xml": bytes(130 * 2**20)}), "unpacks to more than"),
}


@pytest.mark.parametrize("kind", ["docx", "xlsx"])
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_such_file_is_refused_by_name(name: str, kind: str) -> None:
    data, message = BAD[name]
    with pytest.raises(LoadError, match=rf"file\.{kind}: .*{message}"):
        load(f"file.{kind}", data, {"docx": DOCX, "xlsx": XLSX}[kind])


@pytest.mark.parametrize(
    "body",
    [
        "<w:document>",
        "<w:p>" * 5000,
        f"{_LAUGHS}]><w:document>&j;</w:document>",
        '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:document>&a;</w:document>',
        "",
    ],
    ids=["open", "deep", "laughs", "outside", "nothing"],
)
def test_damaged_xml_is_refused(body: str) -> None:
    whole = docx_of(paragraph("Kansas"))
    import zipfile

    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        parts = {each: file.read(each) for each in file.namelist()}
    with pytest.raises(LoadError):
        load("a.docx", packed({**parts, "word/document.xml": body.encode()}), DOCX)


@given(kind=st.sampled_from(["docx", "xlsx"]), data=st.data())
@settings(max_examples=60)
def test_a_damaged_file_is_read_or_refused(kind: str, data: st.DataObject) -> None:
    whole = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(1, len(whole)))
    for damaged in (bytes(whole), bytes(whole[:cut])):
        try:
            assert load(f"a.{kind}", damaged, {"docx": DOCX, "xlsx": XLSX}[kind]).text
        except LoadError as exc:
            assert exc.code == "VALIDATION_FAILED"


def test_documents_and_books_without_text_are_refused() -> None:
    for name, data, kind in (("a.docx", docx_of(), DOCX), ("a.xlsx", xlsx_of({"S": []}), XLSX)):
        with pytest.raises(LoadError, match="no text"):
            load(name, data, kind)


def test_a_row_that_is_too_wide_is_refused() -> None:
    with pytest.raises(LoadError, match="more than 4096 columns"):
        load("a.xlsx", xlsx_of({"S": [["x"] * 4097]}), XLSX)


def test_kinds_by_their_endings() -> None:
    assert media_type_of(Path("a.DOCX"), None) == DOCX
    assert media_type_of(Path("a.xlsx"), None) == XLSX
    for name in ("a.doc", "a.xls", "a.docm", "a.xlsb"):
        with pytest.raises(LoadError, match="not read"):
            media_type_of(Path(name), None)
