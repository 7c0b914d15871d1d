"""Text of pictures, by Tesseract where it is on the machine."""

from __future__ import annotations

import csv
import io
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from retrieval.algebra.wording import counted
from retrieval.errors import LimitExceeded, LoadError, ReaderMissing
from retrieval.ingest.parsing.runs import Run, text_of
from retrieval.ingest.values import Extracted

_PROGRAM = "tesseract"
_PLACES = f"/usr/local/bin:{os.defpath}"
_WAIT_S = 60
_MOST_PIXELS = 40_000_000
"""About an A3 page at 300 dots an inch; the program holds several bytes for each."""
_UNSURE = 50
"""Of a hundred: words of which it is less sure are left out, and told."""
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")


def read_picture(name: str, data: bytes, *, search: str = _PLACES) -> Extracted:
    """The words of a picture (PNG, JPEG, TIFF) in the order in which the program reads its paragraphs; words that it is
    not sure of are left out. `search` are the folders of programs. Raises `LoadError`, `ReaderMissing` where the
    program is in none of them."""
    if not data.startswith(_SIGNATURES):
        raise LoadError(f"{name}: not a readable picture")
    if _pixels(data) > _MOST_PIXELS:
        raise LoadError(f"{name}: a picture of more than {_MOST_PIXELS:,} pixels")
    program = shutil.which(_PROGRAM, path=search)
    if program is None:
        raise ReaderMissing(f"{name}: the text of pictures is read where Tesseract is installed")
    try:
        done = subprocess.run(  # noqa: S603  no word of the file is in the command
            [program, "stdin", "stdout", "-l", "eng", "tsv"],
            input=data,
            capture_output=True,
            env={"OMP_THREAD_LIMIT": "1"},
            timeout=_WAIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise LimitExceeded(f"{name}: reading it took more than {_WAIT_S} s") from exc
    if done.returncode < 0:
        raise LimitExceeded(f"{name}: Tesseract was ended; it may have needed more memory or time than is allowed")
    if done.returncode:
        raise LoadError(f"{name}: not a readable picture")
    words = list(_words(done.stdout.decode("utf-8", "replace")))
    sure = [each for each in words if each.confidence >= _UNSURE]
    notes: tuple[str, ...] = ("its text was read from a picture (Tesseract)",)
    if len(sure) < len(words):
        notes = (*notes, f"{counted(len(words) - len(sure), 'word')} of which it was not sure")
    runs = (Run(" ".join(each.text for each in group)) for _, group in groupby(sure, key=lambda each: each.paragraph))
    found = text_of(runs)
    return Extracted(found.text, blocks=found.blocks, notes=notes)


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, its paragraph (page, block, paragraph), and how sure of it the program is, of a hundred."""

    text: str
    paragraph: tuple[str, ...]
    confidence: float


def _words(told: str) -> Iterator[_Word]:
    for row in csv.DictReader(io.StringIO(told), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row.get("text") or "").strip()
        if row.get("level") == "5" and text:
            yield _Word(text, (row["page_num"], row["block_num"], row["par_num"]), float(row["conf"]))


def _pixels(data: bytes) -> int:
    """The size that a PNG or JPEG states, 0 where it states none."""
    if data.startswith(_SIGNATURES[0]) and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return int(width * height)
    place = 2 if data.startswith(_SIGNATURES[1]) else len(data)
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker, length = data[place + 1], struct.unpack(">H", data[place + 2 : place + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return int(width * height)
        place += 2 + max(length, 2)
    return 0
