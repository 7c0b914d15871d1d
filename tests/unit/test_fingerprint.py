"""Fingerprints find fragments of what was erased in every form that our files have, and nothing else."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from api.audit.erasure.decoded import readings
from ledger.erasure.fingerprint import SIZE, Fingerprinter, Wanted, pack, unpack

KEY = bytes(range(16))
FRAGMENT = 40
letters = st.sampled_from('abcdefghijklmnopqrstuvwxyzé"\\7,')
texts = st.builds(" ".join, st.lists(st.text(letters, min_size=3, max_size=12), min_size=40, max_size=80))


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def raw(fragment: str, at: int, folder: Path) -> Path:
    return _kept(folder, noise(at, at) + fragment.encode() + noise(at + 1, 500))


def upper(fragment: str, at: int, folder: Path) -> Path:
    data = bytes(each ^ 0x20 if 0x61 <= each <= 0x7A else each for each in fragment.encode())
    return _kept(folder, noise(at, at) + data)


def in_json(fragment: str, at: int, folder: Path) -> Path:
    return _kept(folder, json.dumps({"x" * (at % 50): ["a", f'"{fragment}\n']}).encode())


def json_in_json(fragment: str, at: int, folder: Path) -> Path:
    return _kept(folder, json.dumps({"body": json.dumps({"text": f'{"é" * (at % 9)}"{fragment}"'})}).encode())


def in_base64(fragment: str, at: int, folder: Path) -> Path:
    return _kept(folder, b'"' + base64.b64encode(noise(at, at) + fragment.encode() + b" more") + b'"')


def gzipped(fragment: str, at: int, folder: Path) -> Path:
    return _kept(folder, noise(at, at % 700) + gzip.compress(noise(at, 300) + fragment.encode()))


def cut_off(fragment: str, at: int, folder: Path) -> Path:
    packed = zlib.compress(fragment.encode() + noise(at, 4000))
    return _kept(folder, b"head" + packed[:3000])


def zipped(fragment: str, at: int, folder: Path) -> Path:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.xml", "<a>" + "b" * at + fragment + "</a>")
    return _kept(folder, made.getvalue())


def long_row(fragment: str, at: int, folder: Path) -> Path:
    """A value over many pages."""
    return _database(folder, [(" " * (3000 + at) + fragment + "." * 9000,)])


def free_page(fragment: str, at: int, folder: Path) -> Path:
    path = _database(folder, [(fragment + " " * (at % 100),), *((f"{n} " * 400,) for n in range(40))])
    db = apsw.Connection(str(path))
    db.execute("PRAGMA secure_delete = OFF; DELETE FROM t").fetchall()
    assert db.execute("SELECT count(*) FROM t").fetchall() == [(0,)]
    db.close()
    assert fragment.encode() in path.read_bytes()
    return path


def full_text(fragment: str, at: int, folder: Path) -> Path:
    """The document store of a full-text index, which is compressed."""
    schema = tantivy.SchemaBuilder().add_text_field("text", stored=True).build()
    (folder / "index").mkdir(exist_ok=True)
    index = tantivy.Index(schema, path=str(folder / "index"))
    writer = index.writer(15_000_000, 1)
    for text in ("the same words again and again " * 30 + "y" * at, fragment, "the same words again and again"):
        writer.add_document(tantivy.Document(text=text))
    writer.commit()
    writer.wait_merging_threads()
    [path] = (folder / "index").glob("*.store")
    return path


FORMS = [raw, upper, in_json, json_in_json, in_base64, gzipped, cut_off, zipped, long_row, free_page]


def _kept(folder: Path, data: bytes) -> Path:
    (folder / "file").write_bytes(data)
    return folder / "file"


def _database(folder: Path, rows: list[tuple[str]]) -> Path:
    path = folder / "kept.sqlite"
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE t (words TEXT)")
    db.executemany("INSERT INTO t VALUES (?)", rows)
    db.close()
    return path


def found_in(path: Path, text: str) -> frozenset[bytes]:
    maker = Fingerprinter(KEY)
    wanted = Wanted(maker.of(text.encode()))
    return frozenset().union(*(maker.found(piece, wanted) for piece in readings(path)))


def fragment_of(text: str, start: int) -> str:
    return text[start % (len(text) - FRAGMENT) :][:FRAGMENT]


def planted(form: Callable[[str, int, Path], Path], text: str, start: int, at: int) -> tuple[bool, bool]:
    """Whether the fragment is found, and whether another text is found in the same file."""
    fragment = fragment_of(text, start)
    with tempfile.TemporaryDirectory() as folder:
        path = form(fragment, at, Path(folder))
        return bool(found_in(path, text)), bool(found_in(path, text[::-1] + "z"))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@given(text=texts, start=st.integers(0, 10_000), at=st.integers(0, 5_000))
@settings(max_examples=8, deadline=None)
def test_a_fragment_of_40_characters_is_found_wherever_it_lies(
    form: Callable[[str, int, Path], Path], text: str, start: int, at: int
) -> None:
    fragment = fragment_of(text, start)
    if len(set(fragment.encode().lower())) < 20 or fragment in text[::-1]:
        return  # too plain to tell from padding
    assert planted(form, text, start, at) == (True, False)


def test_a_fragment_is_found_in_a_full_text_store() -> None:
    text = "Cordelia Vane of Wabaunsee asked for her brother's grave, and nobody had written down where it was dug."
    for start, at in ((0, 0), (17, 40_000), (60, 333)):
        assert planted(full_text, text, start, at) == (True, False)


@given(st.binary(max_size=400), st.binary(min_size=16, max_size=16))
def test_a_fingerprint_needs_its_key(data: bytes, key: bytes) -> None:
    made = Fingerprinter(KEY).of(data)
    assert bool(made) <= (len(data) >= 32)
    assert Fingerprinter(KEY).found(b"x" + data + b"y", Wanted(made)) == made
    if key != KEY:
        assert Fingerprinter(key).found(data, Wanted(made)) == frozenset()
        assert Fingerprinter(key).of(data).isdisjoint(made)


@given(st.sets(st.binary(min_size=SIZE, max_size=SIZE)))
def test_packed_fingerprints_are_read_again(values: set[bytes]) -> None:
    assert unpack(pack(values)) == values


@pytest.mark.parametrize("data", [b"x", bytes(SIZE + 1), bytes(2 * SIZE), b"b" * SIZE + b"a" * SIZE])
def test_bytes_that_are_no_fingerprints_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="rise"):
        unpack(data)


@given(st.binary(max_size=3000))
@settings(max_examples=30, deadline=None)
def test_any_bytes_are_read_to_their_end(data: bytes) -> None:
    for head in (b"", b"SQLite format 3\x00", b"PK\x03\x04", b"\x1f\x8b\x08", b"x\x9c", b'"\\u00'):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("file", "x.store"):
                path = Path(folder) / name
                path.write_bytes(head + data)
                assert [*readings(path), head + data][0] == head + data
