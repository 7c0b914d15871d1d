"""Presentations, OpenDocument files, EPUBs and e-mail: their words, headings and cells, and a coded error for everything
else."""

from __future__ import annotations

import csv
import io
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import LoadError
from retrieval.ingest.formats.load import load, media_type_of
from retrieval.ingest.reading import FileTask, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.values import About, LoadedFile, Owner, SourceSpec
from retrieval.media_types import EMAIL, EPUB, MBOX, ODS, ODT, PPTX
from retrieval.model import RecordKind
from tests.kinds_maker import epub_of, ods_of, odt_heading, odt_of, odt_paragraph, pptx_of
from tests.office_maker import packed

WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=12)
PHRASES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
BODY = st.lists(st.tuples(PHRASES, st.sampled_from([0, 0, 1, 2])), min_size=1, max_size=8)


def told(loaded: LoadedFile) -> list[tuple[str, int]]:
    return [(loaded.text[b.start_char : b.end_char], b.level) for b in loaded.blocks or ()]


def letter(subject: str = "The bridge", body: str = "It was opened in 1911.", **more: str) -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "office@example.org", "works@example.org"
    message["Date"] = "Wed, 3 May 1911 12:00:00 +0000"
    for name, value in more.items():
        message[name] = value
    message.set_content(body, cte="8bit")
    return message


# ------------------------------------------------------------------------------------------------------- presentations


def test_a_slide_is_a_page_under_its_title_with_table_and_notes() -> None:
    data = pptx_of(
        ("The bridge", ["It was opened in 1911.", "It is 300 feet long."], [["Year", "Cars"], ["1950", "12"]], "Ask the county."),
        ("The ferry", ["It closed."], [], ""),
        title="Crossings", author="County office",
    )  # fmt: skip
    loaded = load("a.pptx", data, PPTX)
    assert told(loaded) == [
        ("The bridge", 1), ("It was opened in 1911.", 0), ("It is 300 feet long.", 0), ("Year Cars", 0), ("1950 12", 0),
        ("Ask the county.", 0), ("The ferry", 1), ("It closed.", 0),
    ]  # fmt: skip
    assert [loaded.text[start:end].partition("\n")[0] for start, end in loaded.pages] == ["The bridge", "The ferry"]
    assert (loaded.about.title, loaded.about.author) == ("Crossings", "County office")
    source = SourceSpec(Path("a.pptx"), "a", "A")
    parts = read_file(FileTask(source, Owner("a@1", "a", "c"), PPTX, {}, ChunkSize(), data)).parts
    assert [(r.locator.page, r.heading, r.statement) for r in parts.records] == [
        (1, "The bridge", None),
        (1, "The bridge", "Year: 1950; Cars: 12."),
        (1, "The bridge", None),
        (2, "The ferry", None),
    ]


@given(st.lists(st.tuples(PHRASES, st.lists(PHRASES, min_size=1, max_size=3)), min_size=1, max_size=3))
@settings(max_examples=15, deadline=None)
def test_every_paragraph_of_every_slide_is_told_once_and_in_order(slides: list[tuple[str, list[str]]]) -> None:
    loaded = load("a.pptx", pptx_of(*((title, body, [], "") for title, body in slides)), PPTX)
    assert told(loaded) == [each for title, body in slides for each in ((title, 1), *((words, 0) for words in body))]


# -------------------------------------------------------------------------------------------------------- OpenDocument


@given(BODY)
@settings(max_examples=40)
def test_every_paragraph_and_heading_of_a_text_document_is_a_block(body: list[tuple[str, int]]) -> None:
    made = "".join(odt_heading(text, level) if level else odt_paragraph(text) for text, level in body)
    assert told(load("a.odt", odt_of(made), ODT)) == body


def test_changes_comments_spaces_notes_and_tables_of_a_text_document() -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:table-of-content><text:p>Contents 1</text:p>"
        '</text:table-of-content><text:p>one<text:s text:c="3"/>two<text:tab/>three<text:line-break/>four'
        "<office:annotation><text:p>a remark</text:p></office:annotation> five<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>the note</text:p></text:note-body></text:note></text:p><text:list><text:list-item><text:p>item</text:p>"
        "</text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>Boats</text:p></table:table-cell>"
        "<table:table-cell><text:p>12</text:p></table:table-cell></table:table-row></table:table>"
    )
    loaded = load("a.odt", odt_of(body), ODT)
    assert told(loaded) == [("one two three four five the note", 0), ("item", 0), ("Boats 12", 0)]


def test_what_a_text_document_says_of_itself() -> None:
    meta = (
        "<dc:title>Harbour</dc:title><meta:initial-creator>Port office</meta:initial-creator><dc:creator>Clerk</dc:creator>"
        "<meta:creation-date>1911-05-03T10:00:00</meta:creation-date>"
    )
    assert load("a.odt", odt_of(odt_paragraph("x"), meta), ODT).about == About("Harbour", "Port office", "1911-05-03")


def test_a_spreadsheet_is_the_table_that_a_workbook_is() -> None:
    rows = [
        ["Population"],
        [],
        [None, "county", "1900", "1910"],
        [None, "Ness", 4535, 5883.5],
        [None, 'a "b", c', None, 0],
    ]
    loaded = load("a.ods", ods_of({"Counts": rows, "Notes": [["see", "page 3"]]}), ODS)
    assert list(csv.reader(io.StringIO(loaded.text))) == [
        ["county", "1900", "1910"],
        ["Ness", "4535", "5883.5"],
        ['a "b", c', "", "0"],
    ]
    assert loaded.slips == ("sheet 'Notes': 1 row; the first sheet is read",)
    assert loaded.notes == ("sheet 'Counts': 1 row above the header",)


def test_the_cells_of_a_spreadsheet_are_observations() -> None:
    data = ods_of({"S": [["county", "1900"], ["Ness", 4535]]})
    source = SourceSpec(Path("p.ods"), "p", "Population")
    parts = read_file(FileTask(source, Owner("p@1", "p", "c"), ODS, {}, ChunkSize(), data)).parts
    assert [r.measurement.value for r in parts.records if r.kind is RecordKind.OBSERVATION and r.measurement] == [
        "4535"
    ]


# ---------------------------------------------------------------------------------------------------------------- EPUB


def test_chapters_are_read_in_the_order_of_the_spine_each_once() -> None:
    chapters = {
        "b.xhtml": "<h1>Second</h1><p>two</p>",
        "a.xhtml": "<h1>First</h1><p>one</p>",
        "c.xhtml": "<p>unlisted</p>",
    }
    about = "<dc:title>A book</dc:title><dc:creator>Press</dc:creator><dc:date>1911</dc:date><dc:rights>CC0</dc:rights>"
    loaded = load("a.epub", epub_of(chapters, spine=["a.xhtml", "b.xhtml", "a.xhtml", "gone"], about=about), EPUB)
    assert told(loaded) == [("First", 1), ("one", 0), ("Second", 1), ("two", 0)]
    assert loaded.about == About("A book", "Press", "1911", "CC0")


def test_a_chapter_that_is_not_there_is_told() -> None:
    data = epub_of({"a.xhtml": "<p>one</p>", "b%20c.xhtml": "<p>two</p>"})
    assert load("a.epub", data, EPUB).slips == ("chapter 'b c.xhtml' is not in the file",)


# -------------------------------------------------------------------------------------------------------------- e-mail


def test_a_message_is_told_under_its_subject_and_what_it_carries_is_left_out() -> None:
    message = letter("Brücke", "First.\n\nSecond.", Cc="third@example.org")
    message.add_alternative("<p>First as HTML.</p>", subtype="html")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="plan.pdf")
    loaded = load("a.eml", message.as_bytes(), EMAIL)
    assert told(loaded)[0] == ("Brücke", 1)
    assert told(loaded)[1][0] == (
        "From: office@example.org; To: works@example.org; Cc: third@example.org; Date: Wed, 03 May 1911 12:00:00 +0000"
    )
    assert [words for words, _ in told(loaded)[2:]] == ["First.", "Second."]
    assert loaded.slips == ("attachment 'plan.pdf'",)
    assert loaded.about == About("Brücke", "office@example.org", "1911-05-03")


def test_a_message_of_html_alone_is_read_as_a_page() -> None:
    message = EmailMessage()
    message["Subject"] = "S"
    message.set_content("<h1>Head</h1><p>Body &amp; soul.</p><script>x</script>", subtype="html")
    assert told(load("a.eml", message.as_bytes(), EMAIL)) == [("S", 1), ("Head", 2), ("Body & soul.", 0)]


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "cp1252"])
@pytest.mark.parametrize("cte", ["base64", "quoted-printable"])
def test_encodings_of_a_message_are_those_that_it_names(charset: str, cte: str) -> None:
    message = EmailMessage()
    message["Subject"] = "S"
    message.set_content("Café of 1911", charset=charset, cte=cte)
    assert told(load("a.eml", message.as_bytes(), EMAIL))[-1] == ("Café of 1911", 0)


def test_an_encoding_that_nobody_knows_is_read_all_the_same() -> None:
    data = b"Subject: S\r\nContent-Type: text/plain; charset=x-none\r\n\r\nCaf\xe9 of 1911\r\n"
    assert told(load("a.eml", data, EMAIL))[-1] == ("Café of 1911", 0)


@given(st.lists(st.tuples(WORDS, PHRASES), min_size=1, max_size=5))
@settings(max_examples=30)
def test_the_messages_of_a_mailbox_are_told_in_order(letters: list[tuple[str, str]]) -> None:
    box = b"".join(
        b"From office@example.org Wed May  3 12:00:00 1911\n"
        + letter(subject, f"{body}\n\n>From here on: x").as_bytes()
        + b"\n\n"
        for subject, body in letters
    )
    found = told(load("a.mbox", box, MBOX))
    assert [words for words, level in found if level] == [subject for subject, _ in letters]
    assert [words for words, _ in found if words.startswith("From here")] == ["From here on: x"] * len(letters)


# ------------------------------------------------------------------------------------------------------------- hostile


WHOLE = {
    PPTX: pptx_of(("T", ["x"], [["a"]], "n")),
    ODT: odt_of(odt_paragraph("Kansas")),
    ODS: ods_of({"S": [["a", "b"], [1, 2]]}),
    EPUB: epub_of({"a.xhtml": "<p>Kansas</p>"}),
    EMAIL: letter().as_bytes(),
    MBOX: b"From a@example.org Wed May  3 12:00:00 1911\n" + letter().as_bytes(),
}
ENDINGS = {PPTX: "pptx", ODT: "odt", ODS: "ods", EPUB: "epub", EMAIL: "eml", MBOX: "mbox"}
BAD = {
    "plain": b"hello",
    "binary": bytes(range(256)) * 20,
    "zip": packed({"a.txt": "Kansas"}),
    "empty zip": packed({}),
    "half": packed({"content.xml": "<office"}),
}


@pytest.mark.parametrize("kind", ENDINGS)
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_such_file_is_refused_by_name(name: str, kind: str) -> None:
    with pytest.raises(LoadError, match=rf"^f\.{ENDINGS[kind]}: not a readable|XML cannot be read"):
        load(f"f.{ENDINGS[kind]}", BAD[name], kind)


@given(kind=st.sampled_from(list(ENDINGS)), data=st.data())
@settings(max_examples=120, deadline=None)
def test_a_damaged_file_is_read_or_refused(kind: str, data: st.DataObject) -> None:
    whole = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(1, len(whole)))
    for damaged in (bytes(whole), bytes(whole[:cut])):
        source = SourceSpec(Path(f"a.{ENDINGS[kind]}"), "a", "A")
        try:
            found = read_file(FileTask(source, Owner("a@1", "a", "c"), kind, {}, ChunkSize(), damaged))
        except LoadError as exc:
            assert exc.code == "VALIDATION_FAILED"
            assert "its parser failed" not in str(exc)
        else:
            assert found.text


def test_kinds_by_their_endings() -> None:
    for kind, ending in ENDINGS.items():
        assert media_type_of(Path(f"a.{ending.upper()}"), None) == kind
    for name in ("a.ppt", "a.msg", "a.mobi", "a.sxw", "a.pptm"):
        with pytest.raises(LoadError, match="not read"):
            media_type_of(Path(name), None)
