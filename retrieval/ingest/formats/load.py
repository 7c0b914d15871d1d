"""Load: the bytes of a file to its exact stored text."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from retrieval import media_types
from retrieval.errors import LoadError
from retrieval.ingest.parsing.packed import sidecars_of, stored_zip
from retrieval.ingest.parsing.structure import front_matter
from retrieval.ingest.values import About, Extracted, LoadedFile
from retrieval.media_types import MEDIA_TYPES

SLIP = "\N{REPLACEMENT CHARACTER}"
"""Stands for a byte that is not UTF-8."""
MAX_BYTES = 256 * 1024 * 1024
_SIGNS = "\u2018\u2019\u201c\u201d\u2013\u2014\u2026\u00a0\u00b0\u20ac\u00a3\u00a7\u00b1\u00b2\u00b3\u00bd\u00bc"
"""Signs of Windows-1252 that stand in tables."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")

_PARSERS = {
    media_types.PDF: ("pdf", "read_pdf"),
    media_types.DOCX: ("office", "read_document"),
    media_types.XLSX: ("office", "read_workbook"),
    media_types.PPTX: ("slides", "read_slides"),
    media_types.ODT: ("opendocument", "read_text_document"),
    media_types.ODS: ("opendocument", "read_spreadsheet"),
    media_types.EPUB: ("epub", "read_epub"),
    media_types.EMAIL: ("mail", "read_message"),
    media_types.MBOX: ("mail", "read_mailbox"),
    media_types.GEOPACKAGE: ("geopackage", "read_geopackage"),
    media_types.SHAPEFILE: ("layers", "read_shapefile"),
    media_types.FLATGEOBUF: ("layers", "read_flatgeobuf"),
    media_types.PARQUET: ("columns", "read_parquet"),
    **dict.fromkeys((media_types.PNG, media_types.JPEG, media_types.TIFF), ("picture", "read_picture")),
    media_types.JSON: ("json_tables", "read_json"),
    media_types.NDJSON: ("json_tables", "read_json_lines"),
}
"""Module and function of this package that read a kind: each is loaded for its files only."""


def media_type_of(path: Path, declared: str | None) -> str:
    """The kind of file that the manifest names, else by the name's ending. Raises `LoadError` for anything that is not
    read here."""
    media_type = declared or MEDIA_TYPES.get(path.suffix.lower())
    if media_type is None or media_type not in MEDIA_TYPES.values():
        raise LoadError(f"{path.name}: files of this kind are not read ({media_type or path.suffix or 'no ending'})")
    return media_type


def require_file(path: Path) -> None:
    """Raises `LoadError` for what is gone, or no plain file."""
    try:
        if path.is_dir():
            raise LoadError(f"{path.name}: a folder that cannot be read")
        if not path.is_file():
            raise LoadError(f"{path.name}: there is no such file")
    except OSError as exc:
        raise LoadError(f"{path.name}: cannot be read ({exc.strerror or 'I/O error'})") from exc


def read_bytes(path: Path) -> bytes:
    """The file's bytes; those of a Shapefile's files as one zip file. A file that is gone, unreadable, not a plain
    file, empty or too large is a `LoadError`."""
    require_file(path)
    try:
        parts = sidecars_of(path)
        if sum(part.stat().st_size for part in (path, *parts)) > MAX_BYTES:
            raise LoadError(f"{path.name}: larger than {MAX_BYTES // 2**20} MiB")
        data = path.read_bytes()
        if parts and data:
            data = stored_zip({part.name: part.read_bytes() for part in (path, *parts)})
    except OSError as exc:
        raise LoadError(f"{path.name}: cannot be read ({exc.strerror or 'I/O error'})") from exc
    if not data:
        raise LoadError(f"{path.name}: the file is empty")
    return data


def load(name: str, data: bytes, media_type: str) -> LoadedFile:
    """The stored text: the file's own text, or what was extracted of the kinds that are no text. Raises `LoadError`,
    or `ReaderMissing` where this installation lacks what reads such files."""
    found = _extracted(name, data, media_type)
    return LoadedFile(
        text=_checked(name, found.text),
        media_type=found.form or media_type,
        sha256="sha256:" + hashlib.sha256(data).hexdigest(),
        pages=found.pages,
        blocks=found.blocks,
        slips=found.slips,
        notes=found.notes,
        about=found.about,
    )


def _extracted(name: str, data: bytes, media_type: str) -> Extracted:
    if media_type in _PARSERS:
        module, function = _PARSERS[media_type]
        read: Callable[[str, bytes], Extracted] = getattr(import_module(f"retrieval.ingest.formats.{module}"), function)
        return read(name, data)
    if media_type in (media_types.CSV, media_types.TSV):
        text, slips, notes = decode_table(name, data)
        return Extracted(text, slips=slips, notes=notes)
    text, slips = decode_mostly(name, data)
    if media_type == media_types.MARKDOWN:
        said = front_matter(text)
        license = said.get("license") or said.get("licence") or said.get("rights")
        return Extracted(
            text, slips=slips, about=About(said.get("title"), said.get("author"), said.get("date"), license)
        )
    if media_type == media_types.HTML:
        from retrieval.ingest.formats.html import read_html  # noqa: PLC0415  as the others

        return replace(read_html(name, text), slips=slips)
    return Extracted(text, slips=slips)


def decode(name: str, data: bytes) -> str:
    """Strict UTF-8 without its byte order mark; UTF-16 is named, everything else is a `LoadError` at its offset."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise LoadError(f"{name}: the text is UTF-16; only UTF-8 is read")
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as exc:
        raise LoadError(f"{name}: not UTF-8 at byte {exc.start}") from exc


def decode_mostly(name: str, data: bytes) -> tuple[str, tuple[str, ...]]:
    """As `decode`, but at most one byte in a hundred that is not UTF-8 is a slip: it becomes U+FFFD, and is told."""
    try:
        return decode(name, data), ()
    except LoadError as exc:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
        slips = text.count(SLIP)
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or slips * 100 > len(data):
            raise
        return text, (f"{slips} bytes are not UTF-8 ({str(exc).partition(': ')[2]})",)


def decode_table(name: str, data: bytes) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """As `decode_mostly`, with remarks: UTF-16 that says so is read, and so is Windows-1252, known by letters and signs
    beyond ASCII of which none is UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16"), (), ("read as UTF-16",)
        except UnicodeDecodeError as exc:
            raise LoadError(f"{name}: not UTF-16 at byte {exc.start}") from exc
    replaced = data.decode("utf-8", "replace")
    beyond = {character for character in replaced if not character.isascii()}
    if beyond == {SLIP}:
        told = data.decode("cp1252", "replace")
        signs = {character for character in told if not character.isascii()}
        if all(character.isalpha() or character in _SIGNS for character in signs):
            return told, (), ("read as Windows-1252",)
    return *decode_mostly(name, data), ()


def _checked(name: str, text: str) -> str:
    found = _CONTROL.search(text)
    if found:
        raise LoadError(f"{name}: control character U+{ord(found[0]):04X} at character {found.start()}")
    if not text.strip():
        raise LoadError(f"{name}: the file holds no text")
    return text
