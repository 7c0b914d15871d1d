"""Bytes as they are kept, and what they say once decoded: what an erasure's search reads.

JSON escapes, Base64, gzip, zlib and ZIP members, the LZ4 blocks of a full-text store, and the rows of a SQLite file,
whose long values lie scattered over its pages. The raw bytes come first, so that free pages and logs are read too.

Any file may be a database that this process has open, so SQLite reads the bytes: POSIX drops every lock that a process
holds on a file when it closes any handle of it, and another process would then take the log of an open one away.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import apsw

from retrieval.files.seal import PLAIN, Seal

_CHUNK = 8 * 1024 * 1024
_OVERLAP = 64 * 1024
_MOST_DECODED = 256 * 1024 * 1024  # of one stream
_ESCAPE = re.compile(rb'(?:\\u[0-9a-fA-F]{4})+|\\[nrtbf"\\/]')
_PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b" ", b"f": b" "}
_ESCAPED_TIMES = 3  # text in JSON in JSON in JSON
_NESTED = tuple(b"\\\\" + each for each in (b'"', b"n", b"r", b"t", b"u", b"\\"))
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{44,}")
_STANDARD = bytes.maketrans(b"-_", b"+/")
_DEFLATED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
_SQLITE = b"SQLite format 3\x00"
_ROWS = 1024 * 1024


def readings(path: Path, seal: Seal = PLAIN) -> Iterator[bytes]:
    """Everything that the file says, in pieces that overlap. Raises OSError; a file that decodes to nothing is read as
    it stands. Of an encrypted home it is read as it stands and as its key opens it. The index of a database's log, page
    numbers in memory that processes share, is left alone."""
    if path.name.endswith("-shm") and path.with_name(path.name.removesuffix("-shm")).exists():
        return
    if seal is not PLAIN:
        yield from _opened(path, seal)
    head, before = b"", b""
    for data in _stored(path):
        head = head or data[: len(_SQLITE)]
        yield from decoded(before + data)
        before = data[-_OVERLAP:]
    if head == _SQLITE:
        yield from _rows(path)
    elif path.suffix == ".store":
        yield from _lz4_blocks(path.read_bytes())
    elif head.startswith(b"PK"):
        yield from _members(path)


def _stored(path: Path) -> Iterator[bytes]:
    """The bytes as they stand, in pieces, read by SQLite's own layer below databases, which keeps their locks."""
    size, at = path.stat().st_size, 0
    try:
        with closing(_File(path)) as file:
            while at < size and (data := file.xRead(min(_CHUNK, size - at), at)):
                yield data
                at += len(data)
    except apsw.Error as exc:
        if not path.exists():
            raise FileNotFoundError(str(path)) from exc
        raise OSError(f"{path} cannot be read: {exc}") from exc


class _File(apsw.VFSFile):
    """A file of whatever kind, opened as a database is."""

    def __init__(self, path: Path) -> None:
        super().__init__("unix", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])

    close = apsw.VFSFile.xClose


def _opened(path: Path, seal: Seal) -> Iterator[bytes]:
    """The content that the key of the home opens: a sealed file whole; of a database, whatever its name, every page,
    free ones too, and every row."""
    try:
        yield from decoded(seal.opened(b"".join(_stored(path))))
    except ValueError:
        yield from _pages(path)


def _pages(path: Path) -> Iterator[bytes]:
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            data = db.serialize("main") or b""  # none of an empty file
    except apsw.Error:
        return  # no database: its bytes as they stand are read
    for start in range(0, len(data), _CHUNK):
        yield from decoded(data[max(0, start - _OVERLAP) : start + _CHUNK])
    yield from _rows(path)


def decoded(data: bytes) -> Iterator[bytes]:
    """The bytes, and what stands in them under escapes, in Base64 or compressed."""
    yield data
    yield from _unescaped(data)
    yield from _from_base64(data)
    yield from _from_streams(data)


def _unescaped(data: bytes) -> Iterator[bytes]:
    for _ in range(_ESCAPED_TIMES):
        if b"\\" not in data:
            return
        nested = any(each in data for each in _NESTED)
        data = _ESCAPE.sub(_unescape, data)
        yield data
        if not nested:
            return


def _unescape(found: re.Match[bytes]) -> bytes:
    escape = found[0]
    if escape.startswith(b"\\u"):
        return str(json.loads(b'"' + escape + b'"')).encode("utf-8", "replace")
    return _PLAIN.get(escape[1:], escape[1:])


def _from_base64(data: bytes) -> Iterator[bytes]:
    """Each run is decoded from each of its first four letters: a fragment begins anywhere."""
    runs = [run.translate(_STANDARD) for run in _BASE64.findall(data)]
    for shift in range(4):
        pieces = [run[shift : shift + (len(run) - shift) // 4 * 4] for run in runs]
        if pieces:
            yield b"\x00".join(map(b64decode, pieces))


def _from_streams(data: bytes) -> Iterator[bytes]:
    """The content of everything that begins like a stream, which in ciphertext is a few bytes of anything: those are
    read together."""
    made, size = list[bytes](), 0
    for found in _DEFLATED.finditer(data):
        inflated = _inflated(memoryview(data)[found.start() :])
        made.append(inflated)
        size += len(inflated)
        if size > _CHUNK:
            yield from _joined(made)
            made, size = [], 0
    yield from _joined(made)


def _joined(pieces: list[bytes]) -> Iterator[bytes]:
    joined = b"\x00".join(pieces)
    yield joined
    yield from _unescaped(joined)


def _inflated(data: memoryview) -> bytes:
    """The content of a stream that begins here, as far as it goes: one that was cut off says something too."""
    inflater, made, at = zlib.decompressobj(wbits=47), bytearray(), 0
    try:
        while at < len(data) and not inflater.eof and len(made) < _MOST_DECODED:
            made += inflater.decompress(data[at : at + 65_536])
            at += 65_536
    except zlib.error:
        pass
    return bytes(made)


def _members(path: Path) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                with archive.open(member) as file:
                    yield from decoded(file.read(_MOST_DECODED))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError):
        return  # its bytes as they stand were read


def _lz4_blocks(data: bytes) -> Iterator[bytes]:
    """The blocks of a document store of Tantivy: the length of the content (4 bytes, little end first), then an LZ4
    block, one after the other."""
    at = 0
    while at + 4 < len(data):
        wanted = int.from_bytes(data[at : at + 4], "little")
        if not 0 < wanted <= _MOST_DECODED:
            return
        block, at = _lz4(data, at + 4, wanted)
        if len(block) != wanted:
            return
        yield from decoded(block)


def _lz4(data: bytes, at: int, wanted: int) -> tuple[bytes, int]:
    """The content of a block and where it ends; shorter than wanted where the bytes are no block."""
    made = bytearray()
    while len(made) < wanted and at < len(data):
        token, at = data[at], at + 1
        length, at = _length(data, at, token >> 4)
        made += data[at : at + length]
        at += length
        if len(made) >= wanted or at + 2 > len(data):
            break
        distance, at = int.from_bytes(data[at : at + 2], "little"), at + 2
        length, at = _length(data, at, token & 15)
        if not 0 < distance <= len(made):
            break
        start = len(made) - distance
        repeated = bytes(made[start : start + length + 4])
        times = -(-(length + 4) // len(repeated))
        made += (repeated * times)[: length + 4]
    return bytes(made), at


def _length(data: bytes, at: int, first: int) -> tuple[int, int]:
    """A length of which the first four bits stand in the token."""
    if first < 15:
        return first, at
    while at < len(data):
        first, at = first + data[at], at + 1
        if data[at - 1] < 255:
            break
    return first, at


def _rows(path: Path) -> Iterator[bytes]:
    """The values of every row of every table. The tables of an index that is no table of its own are ordinary ones."""
    fixed = "" if path.with_name(path.name + "-wal").exists() else "&immutable=1"
    name = f"file:{quote(str(path))}?mode=ro{fixed}"
    try:
        db = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except apsw.Error:
        return  # its pages as they stand were read
    try:
        yield from _values(db)
    except apsw.Error:
        return
    finally:
        db.close()


def _values(db: apsw.Connection) -> Iterator[bytes]:
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    for (table,) in db.execute(tables).fetchall():
        held = io.BytesIO()
        quoted = '"' + str(table).replace('"', '""') + '"'
        for row in db.execute(f"SELECT * FROM {quoted}"):  # noqa: S608
            for value in row:
                if isinstance(value, str | bytes):
                    held.write(value.encode("utf-8", "replace") if isinstance(value, str) else value)
                    held.write(b"\x00")
            if held.tell() > _ROWS:
                yield from decoded(held.getvalue())
                held = io.BytesIO()
        yield from decoded(held.getvalue())
