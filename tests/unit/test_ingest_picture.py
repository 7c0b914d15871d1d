"""Text of pictures: read where Tesseract is on the machine, a row that says so where it is not."""

from __future__ import annotations

import io
import shutil
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from retrieval.errors import LimitExceeded, LoadError, ReaderMissing
from retrieval.ingest.formats.load import media_type_of
from retrieval.ingest.quarantine.quarantine import Quarantine, ReadLimits
from retrieval.ingest.reading import FileTask, ReadFile
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.values import Owner, SourceSpec

here = pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not on this machine")


def picture_of(*lines: str, format: str = "PNG") -> bytes:
    """A picture of these lines, far apart."""
    made = Image.new("L", (1000, 120 * len(lines)), 255)
    for number, line in enumerate(lines):
        ImageDraw.Draw(made).text((20, 120 * number + 30), line, fill=0, font=ImageFont.load_default(size=36))
    file = io.BytesIO()
    made.save(file, format)
    return file.getvalue()


def read(name: str, data: bytes) -> ReadFile:
    source = SourceSpec(Path(name), "d", "D")
    with Quarantine(ReadLimits()) as quarantine:
        return quarantine.read(
            FileTask(source, Owner("d@1", "d", "c"), media_type_of(source.path, None), {}, ChunkSize(), data)
        )


@here
@pytest.mark.parametrize(
    ("name", "format"), [("a.png", "PNG"), ("a.jpg", "JPEG"), ("a.jpeg", "JPEG"), ("a.tif", "TIFF"), ("a.TIFF", "TIFF")]
)
def test_the_words_of_a_picture_are_its_text(name: str, format: str) -> None:
    found = read(name, picture_of("The bridge was opened in 1911.", "It is 300 feet long.", format=format))
    assert found.text == "The bridge was opened in 1911.\n\nIt is 300 feet long."
    assert found.parts.notes == ("its text was read from a picture (Tesseract)",)


@here
def test_a_picture_without_words_is_refused() -> None:
    with pytest.raises(LoadError, match="holds no text"):
        read("a.png", picture_of(""))


def png(width: int, height: int, pixels: bytes) -> bytes:
    def part(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", pixels) + part(b"IEND", b"")


HOSTILE = {
    "huge.png": png(60_000, 60_000, zlib.compress(b"\x00" * 1_000_000, 9)),
    "lies.png": png(6_000, 6_000, zlib.compress(b"\x00" * 200_000_000, 9)),
    "short.png": picture_of("x")[:200],
    "garbage.jpg": b"\xff\xd8\xff" + bytes(range(256)) * 100,
    "markers.jpg": b"\xff\xd8" + b"\xff\xe0\x00\x00" * 100_000,
    "loop.tif": b"II*\x00\x08\x00\x00\x00" + b"\x00\x00\x08\x00\x00\x00" * 100,
    "other.png": b"GIF89a" + b"\x00" * 100,
    "page.png": b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
    "list.tif": b"/etc/passwd\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_picture_is_refused_by_name(name: str) -> None:
    with pytest.raises((LoadError, LimitExceeded, ReaderMissing), match=rf"^{name}: "):
        read(name, HOSTILE[name])


def test_without_the_program_the_row_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from retrieval.ingest.formats.picture import read_picture

    with pytest.raises(
        ReaderMissing, match=r"^a\.png: the text of pictures is read where Tesseract is installed"
    ) as told:
        read_picture("a.png", picture_of("x"), search=str(tmp_path))
    assert told.value.code == "READER_MISSING"
