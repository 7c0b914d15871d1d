"""Files that others made: words, headings, titles and cells are kept. What is expected was written before they were
read (`tests/foreign/README.md`)."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from retrieval.ingest.formats.load import media_type_of
from retrieval.ingest.reading import FileTask, ReadFile, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.values import Owner, SourceSpec

FOREIGN = Path(__file__).parents[1] / "foreign"
MADE = sorted((FOREIGN / "made").iterdir())
OTHERS = sorted(path for path in (FOREIGN / "others").iterdir() if path.suffix not in (".txt", ".csv"))
TITLE = "Rivers of the plains"
HEADINGS = ["Where the water goes", "Floods", "Gauges", "How a gauge is read"]
CELLS = [
    ["Station", "Mark in feet", "Highest in 1951"],
    ["Topeka", "26", "36.3"],
    ["Lecompton", "17", "30.2"],
    ["Wamego", "19", "30.6"],
]
# What a maker itself left out, or does not mark as what it is.
WITHOUT_HEADINGS = {
    "rivers-libreoffice.epub",
    "rivers-libreoffice.pdf",
    "rivers-slides-libreoffice.pdf",
    "rivers-libreoffice.txt",
    "rivers-pandoc.txt",
}
SLIDES = {"rivers-pandoc.pptx", "rivers-libreoffice.pptx"}
WITHOUT_TITLE = {
    "rivers-libreoffice.txt",
    "rivers-pandoc.txt",
    "rivers-libreoffice.pdf",
    "rivers-slides-libreoffice.pdf",
    "rivers-pandoc-gfm.md",
}
LOST = {
    "rivers-libreoffice.epub": "Station Mark in feet Highest in 1951",
    "rivers-libreoffice.txt": "The correction is small where readings are hourly.",
}  # fmt: skip


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", text)))


def rivers() -> str:
    """The words of the source, without its front matter and the marks of its note and table."""
    body = (FOREIGN / "rivers.md").read_text().split("---", 2)[2]
    return re.sub(r"\[\^1\]:?|\|[-|]+\|", "", body)


def read(name: str, data: bytes) -> ReadFile:
    source = SourceSpec(Path(name), "d", "Towns")
    return read_file(FileTask(source, Owner("d@1", "d", "c"), media_type_of(source.path, None), {}, ChunkSize(), data))


def told(found: ReadFile) -> str:
    """Everything that records hold: passages and the headings above them."""
    headings = dict.fromkeys(each for record in found.parts.records for each in (record.heading or "").split(" > "))
    return " ".join((*headings, *(record.text for record in found.parts.records)))


def kept(expected: Counter[str], found: Counter[str]) -> float:
    return 1 - (expected - found).total() / expected.total()


def test_they_are_forty() -> None:
    assert len(MADE) + len(OTHERS) + len(GENERATED) >= 40


@pytest.mark.parametrize("path", [path for path in MADE if path.name.startswith("rivers")], ids=lambda path: path.name)
def test_a_document_keeps_its_words_headings_title_and_cells(path: Path) -> None:
    found = read(path.name, path.read_bytes())
    expected = words(rivers()) - words(LOST.get(path.name, ""))
    assert kept(expected, words(found.text)) >= 0.98
    note = "The correction is small where readings are hourly." if path.suffix == ".md" else ""  # no passage, by design
    assert kept(expected - words(note), words(told(found))) >= 0.98
    headings = [each for record in found.parts.records for each in (record.heading or "").split(" > ")]
    if path.name not in WITHOUT_HEADINGS:
        assert [each for each in dict.fromkeys(headings) if each in HEADINGS] == (
            HEADINGS[:1] if path.name in SLIDES else HEADINGS
        )
    if path.name not in WITHOUT_TITLE:
        assert found.about.title == TITLE
    text = " ".join(found.text.split())
    rows = [row for row in CELLS if words(" ".join(row)) <= expected]
    in_rows = [re.search(r"[\s|*\\]+".join(re.escape(cell) for cell in row), text) for row in rows]
    assert sum(map(bool, in_rows)) >= 0.95 * len(rows) or path.suffix == ".pdf"


def towns() -> list[list[str]]:
    return list(csv.reader(io.StringIO((FOREIGN / "towns.csv").read_text())))


def by_openpyxl() -> bytes:
    book = openpyxl.Workbook()
    for row in towns():
        book.active.append([int(cell) if cell.isdigit() else cell or None for cell in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def by_xlsxwriter() -> bytes:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet()
    for y, row in enumerate(towns()):
        for x, cell in enumerate(row):
            sheet.write(y, x, int(cell) if cell.isdigit() else cell)
    book.close()
    return file.getvalue()


def by_arrow() -> bytes:
    header, *rows = towns()
    file = io.BytesIO()
    columns = zip(*rows, strict=True)
    pq.write_table(
        pa.table({name: [cell or None for cell in column] for name, column in zip(header, columns, strict=True)}), file
    )
    return file.getvalue()


def by_csv() -> bytes:
    file = io.StringIO()
    csv.writer(file, "excel-tab").writerows(towns())
    return file.getvalue().encode("utf-16")


GENERATED = {
    "towns-openpyxl.xlsx": by_openpyxl,
    "towns-xlsxwriter.xlsx": by_xlsxwriter,
    "towns-arrow.parquet": by_arrow,
    "towns-csv.tsv": by_csv,
}
TOWNS = {path.name: path.read_bytes for path in MADE if path.name.startswith("towns") and path.suffix != ".html"}


@pytest.mark.parametrize("name", [*GENERATED, *TOWNS])
def test_a_table_keeps_its_cells_and_each_figure_is_an_observation(name: str) -> None:
    found = read(name, {**GENERATED, **TOWNS}[name]())
    header, *rows = towns()
    wanted = {(row[0], year, cell) for row in rows for year, cell in zip(header[2:], row[2:], strict=True) if cell}
    measured = [record.measurement for record in found.parts.records if record.measurement]
    assert {(each.place.name, str(each.time.start.year), each.value) for each in measured} == wanted
    cells = Counter(cell for row in rows for cell in row if cell)
    assert kept(cells, Counter(cell for row in rows for cell in row if cell and cell in found.text)) >= 0.95


def test_a_table_of_a_page_keeps_its_cells() -> None:
    path = FOREIGN / "made" / "towns-libreoffice.html"
    text = read(path.name, path.read_bytes()).text
    assert all(" ".join(filter(None, row)) in text for row in towns())


def stated(path: Path) -> Iterable[str]:
    """The words that other readers find: pandoc, LibreOffice, or the XML as it stands."""
    if path.suffix == ".pptx":
        with zipfile.ZipFile(path) as file:
            slides = [each for each in file.namelist() if re.match(r"ppt/(slides|notesSlides)/[a-zA-Z]+\d+\.xml", each)]
            for each in slides:
                text = re.sub(r"<a:fld .*?</a:fld>", "", file.read(each).decode(), flags=re.DOTALL)  # numbers of slides
                yield from re.findall(r"<a:t>([^<]*)</a:t>", text)
        return
    beside = next(each for suffix in (".txt", ".csv") if (each := path.with_name(path.name + suffix)).exists())
    yield re.sub(r"^\d+\.", "", beside.read_text(), flags=re.MULTILINE)  # what pandoc counts


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_other_readers_find_no_more_words(path: Path) -> None:
    expected = words(" ".join(stated(path)))
    assert kept(expected, words(read(path.name, path.read_bytes()).text)) >= 0.98
