"""Load: bytes to exact text, and a coded error for everything else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import LoadError
from retrieval.ingest.formats.load import load, media_type_of, read_bytes
from retrieval.ingest.records.chunk import ChunkSize, passages
from tests.pdf_maker import pdf_of
from tests.shipped_terms import shipped_terms

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1).filter(str.strip)


@given(TEXT)
@settings(max_examples=50)
def test_text_is_stored_as_it_is(text: str) -> None:
    assert load("a.txt", text.encode(), "text/plain").text == text.removeprefix("\ufeff")


@given(TEXT.filter(lambda text: not text.startswith("\ufeff")))
@settings(max_examples=20)
def test_a_byte_order_mark_is_no_text(text: str) -> None:
    assert load("a.txt", b"\xef\xbb\xbf" + text.encode(), "text/plain").text == text


BAD = {
    "not utf-8": (b"caf\xe9", "text/plain", "not UTF-8 at byte 3"),
    "utf-16": ("Kansas".encode("utf-16"), "text/plain", "UTF-16"),
    "lone surrogate": (b"a\xed\xa0\x80b", "text/plain", "not UTF-8 at byte 1"),
    "overlong": (b"\xc0\xaf", "text/plain", "not UTF-8 at byte 0"),
    "nul": (b"Kansas\x00", "text/plain", "control character U+0000 at character 6"),
    "escape": (b"\x1b[31mred", "text/markdown", "control character U+001B"),
    "delete": (b"a\x7fb", "text/csv", "control character U+007F"),
    "only space": (b" \n\t ", "text/plain", "no text"),
    "empty html": (b"<html><head><title>t</title></head><body></body></html>", "text/html", "no text"),
    "no pdf": (b"hello", "application/pdf", "not a readable PDF"),
    "truncated pdf": (pdf_of("Kansas")[:120], "application/pdf", "not a readable PDF"),
    "pdf without text": (pdf_of(""), "application/pdf", "no text"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_text_is_refused_by_name_and_place(name: str) -> None:
    data, media_type, message = BAD[name]
    with pytest.raises(LoadError, match="file.x: .*" + message.replace("+", r"\+")) as caught:
        load("file.x", data, media_type)
    assert caught.value.code == "VALIDATION_FAILED"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "folder.txt").mkdir()
    for name, message in (
        ("gone.txt", "no such file"),
        ("folder.txt", "a folder that cannot be read"),
        ("empty.txt", "is empty"),
    ):
        with pytest.raises(LoadError, match=message):
            read_bytes(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret.txt"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(LoadError, match="cannot be read"):
        read_bytes(path)


def test_a_loop_of_links_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to(tmp_path / "b.txt")
    (tmp_path / "b.txt").symlink_to(tmp_path / "a.txt")
    with pytest.raises(LoadError):
        read_bytes(tmp_path / "a.txt")


def test_kinds_of_files() -> None:
    assert media_type_of(Path("A.MD"), None) == "text/markdown"
    assert media_type_of(Path("a.bin"), "text/csv") == "text/csv"
    for path, declared in ((Path("a.doc"), None), (Path("a"), None), (Path("a.txt"), "application/zip")):
        with pytest.raises(LoadError, match="not read"):
            media_type_of(path, declared)


def test_pdf_pages_keep_their_characters_and_no_passage_crosses_them() -> None:
    loaded = load(
        "a.pdf", pdf_of("Topeka is the capital.", "", "Wichita is larger. It lies in the south."), "application/pdf"
    )
    assert [loaded.text[start:end].strip() for start, end in loaded.pages] == [
        "Topeka is the capital.",
        "",
        "Wichita is larger. It lies in the south.",
    ]
    found = list(passages(loaded, ChunkSize()))
    assert [(p.page, loaded.text[p.start_char : p.end_char]) for p in found] == [
        (1, "Topeka is the capital."),
        (3, "Wichita is larger. It lies in the south."),
    ]


def test_html_keeps_words_and_headings_and_drops_the_rest() -> None:
    page = (
        b"<html><head><style>p{}</style><title>No</title></head><body><nav>menu</nav><h1>Kansas</h1><p>Topeka &amp;"
        b"\n <b>Wichita</b>.<br>Third.</p><script>var x</script><h2>Rivers</h2><ul><li>Kaw</li><li>Arkansas</li></ul>"
        b"<table><tr><td>a</td><td>b</td></tr></table></body></html>"
    )
    loaded = load("a.html", page, "text/html")
    assert loaded.text == "Kansas\n\nTopeka & Wichita. Third.\n\nRivers\n\nKaw\n\nArkansas\n\na b"
    found = [(p.headings, loaded.text[p.start_char : p.end_char]) for p in passages(loaded, ChunkSize())]
    assert found == [
        (("Kansas",), "Topeka & Wichita. Third."),
        (("Kansas", "Rivers"), "Kaw\n\nArkansas\n\na b"),
    ]


def test_html_nested_deeper_than_python_recurses() -> None:
    page = b"<div>" * 900 + b"Kansas" + b"</div>" * 900
    assert "Kansas" in load("a.html", page, "text/html").text
    with pytest.raises(LoadError, match="more than 1000 elements"):
        load("a.html", b"<div>" * 3000 + b"Kansas" + b"</div>" * 3000, "text/html")


@pytest.mark.parametrize("escaped", ["\\u0000", "\\ud800"])
async def test_a_name_that_no_store_can_keep_fails_its_file_alone(tmp_path: Path, escaped: str) -> None:
    from retrieval.ingest.pipeline import Ingest
    from retrieval.registry.sqlite import open_sqlite_store

    files = tmp_path / "files"
    files.mkdir()
    feature = '{"type": "Feature", "id": "x", "properties": {"name": "A%sB"}, "geometry": {"type": "Point", "coordinates": [-95, 38]}}'
    (files / "bad.geojson").write_text('{"type": "FeatureCollection", "features": [' + feature % escaped + "]}")
    (files / "fine.txt").write_text("Fine words of the town.")
    store = open_sqlite_store(tmp_path / "record.sqlite")
    report = await Ingest(terms=shipped_terms, store=store, indexes=[]).run(
        [files], tenant="default", collection="k", label="public"
    )
    await store.aclose()
    [bad, fine] = report.files
    assert (bad.state, bad.error_code, fine.state) == ("failed", "VALIDATION_FAILED", "done")
    assert "U+" + escaped[2:].upper() in (bad.error_message or "")
