"""The page of an exported log recomputes it in a real browser, from a folder, without a network, and names what fails. Its
verdicts are compared with those of `ledger.proofs.folder`, which shares no line with it."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from api.web.log_page import log_page
from ledger.model import TreeHead, Verdict
from ledger.notes.note import SigningKey, checkpoint_text, parse_checkpoint_text, parse_note, sign_note
from ledger.proofs.folder import verify_folder
from ledger.stores.sqlite.store import SqliteLedgerStore
from tests.ledger_long import LOG_KEY, ORIGIN, export_to, grow

pytestmark = pytest.mark.services
SIZES = (0, 1, 2, 255, 256, 257, 65_536, 70_000)
SMALL = 257
"""The size that is corrupted: it has full and partial tiles on two levels."""


async def _exports(folder: Path) -> None:
    store = await SqliteLedgerStore.open(folder / "ledger.sqlite")
    for checkpoint in await grow(store, SIZES):
        await export_to(store, checkpoint, folder / str(checkpoint.head.size))
    await store.aclose()


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the export of every size, of one log."""
    folder = tmp_path_factory.mktemp("exports")
    with ThreadPoolExecutor(1) as thread:  # the browser's driver has this thread's event loop
        thread.submit(lambda: asyncio.run(_exports(folder))).result()
    return folder


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page, opened once from its file; it asked for nothing but itself."""
    file = tmp_path_factory.mktemp("page") / "verify.html"
    file.write_text(log_page(), "utf-8")
    context = chromium.new_context(offline=True)
    opened = context.new_page()
    asked: list[str] = []
    faults: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.goto(file.as_uri())
    yield opened
    context.close()
    assert (asked, faults) == ([file.as_uri()], [])


def verdict(page: Page, folder: Path, key: str = str(LOG_KEY.verifier)) -> tuple[str | None, str]:
    """The step that failed, if any, and the page's words."""
    page.set_input_files("#folder", folder)
    page.fill("#vkeys", key)
    page.click("#verify")
    page.wait_for_selector("#result[data-state=verified], #result[data-state=failed]", timeout=240_000)
    result = page.locator("#result")
    state, step = result.get_attribute("data-state"), result.get_attribute("data-step")
    assert (state == "verified") is (step is None)
    return step, result.inner_text()


def by_python(folder: Path) -> str | None:
    """The first step that fails for `ledger.proofs.folder`."""

    def read(path: str) -> bytes | None:
        return (folder / path).read_bytes() if (folder / path).is_file() else None

    report = verify_folder(read, keys=[LOG_KEY.verifier])
    return report.problems[0].step if report.verdict is Verdict.BROKEN else None


@pytest.mark.parametrize("size", SIZES)
def test_an_export_of_every_size_verifies(page: Page, exports: Path, size: int) -> None:
    step, text = verdict(page, exports / str(size))
    assert step is None, text
    root = parse_checkpoint_text(parse_note((exports / str(size) / "checkpoint").read_text("utf-8")).text)[1].root
    assert f"{size} entries of {ORIGIN} lead to the signed root {root.hex()}" in text
    assert "unwitnessed" in text


Change = Callable[[Path], object]


def flipped(path: str, at: int = -1) -> Change:
    def change(folder: Path) -> None:
        data = bytearray((folder / path).read_bytes())
        data[at] ^= 1
        (folder / path).write_bytes(data)

    return change


def edited(path: str, edit: Callable[[bytes], bytes]) -> Change:
    def change(folder: Path) -> None:
        before = (folder / path).read_bytes()
        (folder / path).write_bytes(edit(before))
        assert (folder / path).read_bytes() != before

    return change


def gone(path: str) -> Change:
    return lambda folder: (folder / path).unlink()


def signed_again(size: int | None = None, root: bytes | None = None) -> Change:
    """Another head under the log's real key."""

    def edit(note: bytes) -> bytes:
        head = parse_checkpoint_text(parse_note(note.decode()).text)[1]
        changed = TreeHead(head.size if size is None else size, head.root if root is None else root)
        return sign_note(checkpoint_text(ORIGIN, changed), [LOG_KEY]).encode()

    return edited("checkpoint", edit)


def signature_flipped(note: bytes) -> bytes:
    head, _, line = note.decode().rstrip("\n").rpartition(" ")
    data = bytearray(base64.b64decode(line))
    data[10] ^= 1
    return f"{head} {base64.b64encode(data).decode()}\n".encode()


def same_length(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    assert len(old) == len(new)
    return lambda data: data.replace(old, new, 1)


NOWHERE = b'{"id":"018bcfe5-6800-7000-8000-0000000fffff","leaf":"' + b"ab" * 32 + b'","rel":"intent"}'
FULL, LAST = "tile/entries/000", "tile/entries/001.p/1"
CORRUPTED: dict[str, tuple[str, Change]] = {
    "no checkpoint": ("checkpoint", gone("checkpoint")),
    "a checkpoint cut off": ("checkpoint", edited("checkpoint", lambda note: note[:-1])),
    "a checkpoint without signature": (
        "checkpoint",
        edited("checkpoint", lambda note: note[: note.index(b"\n\n") + 2]),
    ),
    "a bit of the signature": ("signature", edited("checkpoint", signature_flipped)),
    "a bit of the size": ("signature", edited("checkpoint", same_length(b"\n257\n", b"\n256\n"))),
    "a bit of the root": ("signature", flipped("checkpoint", len(ORIGIN) + 8)),
    "a size under the real key, one more": ("bundle", signed_again(size=SMALL + 1)),
    "a size under the real key, one less": ("bundle", signed_again(size=SMALL - 2)),
    "no entries under the real key": ("checkpoint", signed_again(size=0)),
    "a root under the real key": ("root", signed_again(root=bytes(32))),
    "a bundle missing": ("bundle", gone(FULL)),
    "the tail missing": ("bundle", gone(LAST)),
    "a bundle cut off": ("bundle", edited(FULL, lambda data: data[:-1])),
    "a bundle that goes on": ("bundle", edited(FULL, lambda data: data + b"\x00")),
    "a bit of a length": ("bundle", flipped(LAST, 1)),
    "a bit of a leaf's braces": ("leaf", flipped(FULL)),
    "a space in a leaf": ("leaf", edited(LAST, lambda data: (len(data) - 1).to_bytes(2, "big") + data[2:] + b" ")),
    "another kind": ("leaf", edited(FULL, same_length(b'"config"', b'"konfig"'))),
    "a bit of a leaf's commitment": ("tile", edited(FULL, same_length(b"abab", b"abac"))),
    "another tenant": ("tile", edited(FULL, same_length(b'"tenant":"t"', b'"tenant":"u"'))),
    "a number left out": ("rseq", edited(FULL, same_length(b'"rseq":9,', b'"rseq":8,'))),
    "a request twice": ("duplicate", edited(FULL, same_length(b'"req":"q9"', b'"req":"q8"'))),
    "an entry twice": ("duplicate", edited(FULL, same_length(b"-000000000009", b"-000000000008"))),
    "more seen than there is": (
        "seen",
        edited(LAST, lambda data: _leaf(data[2:].replace(b'"size":0}', b'"size":500}'))),
    ),
    "the empty tree with another root": ("leaf", edited(FULL, same_length(b'{"root":"e3b', b'{"root":"e3c'))),
    "a ref to nowhere": (
        "ref",
        edited(LAST, lambda data: _leaf(data[2:].replace(b'"refs":[]', b'"refs":[' + NOWHERE + b"]"))),
    ),
    "a bit of a tile": ("tile", flipped("tile/0/000", 100)),
    "a bit of the last tile": ("tile", flipped("tile/0/001.p/1")),
    "a bit of a tile above": ("tile", flipped("tile/1/000.p/1")),
    "a tile missing": ("tile", gone("tile/1/000.p/1")),
    "a tile cut off": ("tile", edited("tile/0/000", lambda data: data[:-32])),
    "a tile that goes on": ("tile", edited("tile/0/000", lambda data: data + bytes(32))),
}


def _leaf(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data


@pytest.mark.parametrize("name", CORRUPTED)
def test_a_corrupted_export_fails_at_a_named_step(page: Page, exports: Path, tmp_path: Path, name: str) -> None:
    step, change = CORRUPTED[name]
    folder = tmp_path / "export"
    shutil.copytree(exports / str(SMALL), folder)
    change(folder)
    found, text = verdict(page, folder)
    assert (found, by_python(folder)) == (step, step), text


def test_one_bit_in_seventy_thousand_entries(page: Page, exports: Path, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(exports / "70000", folder, copy_function=os.link)
    path = folder / "tile/entries/273.p/112"
    data = path.read_bytes().replace(b"abab", b"abac", 1)
    path.unlink()
    path.write_bytes(data)
    step, text = verdict(page, folder)
    assert (step, "tile/0/273.p/112" in text) == ("tile", True), text


@pytest.mark.parametrize(
    ("key", "step"),
    [
        (str(SigningKey.from_seed(ORIGIN, bytes(32)).verifier), "signature"),
        (str(SigningKey.from_seed("another.log", b"L" * 32).verifier), "signature"),
        (f"{LOG_KEY.verifier}\n{SigningKey.from_seed('another.log', bytes(32)).verifier}", "key"),
        ("", "key"),
        (ORIGIN, "key"),
        (str(LOG_KEY.verifier).replace("+", "+0", 1), "key"),
    ],
)
def test_a_foreign_key(page: Page, exports: Path, key: str, step: str) -> None:
    assert verdict(page, exports / str(SMALL), key)[0] == step


def test_a_folder_without_a_log(page: Page, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "readme").write_text("nothing here")
    assert verdict(page, tmp_path / "other")[0] == "checkpoint"
