"""Every kept file has a second version: the files of a kept home are taken to a planted one by the machinery that a
release uses, killed in the middle, on a full disk, by two at once; and a version from the future is refused."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.errors import EdgeError, HomeUnusable, VersionUnsupported
from api.home.configuration import load
from api.home.identity.keys import KeyStore
from api.home.kept_file import bring_up_to_date
from api.home.request_records import RequestRecords
from api.problems import EXIT_BACKEND, code_of
from api.wiring import open_witness
from ledger.witnesses.key import open_witness_key
from retrieval.errors import SchemaUnsupported
from retrieval.registry.sqlite import open_sqlite_store
from tests.command_line import command_line
from tests.golden.kept_homes import KeptHome, unpack
from tests.kept_files import KEPT, ROWS, KeptFile

NAMES = tuple(KEPT)
each_file = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> KeptHome:
    return unpack("0.1", tmp_path_factory.mktemp("kept"))


@pytest.fixture
def kept(unpacked: KeptHome, tmp_path: Path) -> KeptHome:
    shutil.copytree(unpacked.folder, tmp_path / "kept")
    return KeptHome(tmp_path / "kept", unpacked.recorded)


def contents(path: Path) -> dict[str, Any]:
    """Every row of every table, as whoever has another library reads it, and what the file says of its version."""
    with sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        rows: dict[str, Any] = {name: sorted(map(repr, db.execute(f'SELECT * FROM "{name}"'))) for name in names}
        rows["schema"] = sorted(map(str, db.execute("SELECT type, name, sql FROM sqlite_master")))
        rows["versions"] = [db.execute(f"PRAGMA {name}").fetchone() for name in ("user_version", "application_id")]
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    return rows


def current(kept: KeptHome, name: str) -> tuple[Path, KeptFile]:
    """The file at today's version."""
    path = kept.folder / KEPT[name].path
    bring_up_to_date(path, KEPT[name].schema)
    return path, KEPT[name]


def planted(path: Path, rows: int) -> bool:
    """Whether the file is at the planted version, whole; every other state is a fault but the one before."""
    found = contents(path)
    assert "planted" not in found or len(found["planted"]) == rows
    return "planted" in found


@each_file
def test_an_older_file_is_copied_and_brought_up(kept: KeptHome, name: str) -> None:
    path, file = current(kept, name)
    before, mode = contents(path), path.stat().st_mode
    copy = bring_up_to_date(path, file.planted())
    assert copy == path.with_name(f"{path.name}.v{file.schema.version}")
    assert contents(copy) == before
    assert copy.stat().st_mode & ~mode == 0, "a copy is open to nobody else"
    after = contents(path)
    assert len(after["planted"]) == 100
    assert after["versions"][0] == (file.schema.version + 1,)
    assert {table: len(rows) for table, rows in before.items() if table not in ("schema", "versions")} == {
        table: len(after[table]) for table in before if table not in ("schema", "versions")
    }
    assert bring_up_to_date(path, file.planted()) is None
    shutil.move(copy, path)  # the way back
    assert bring_up_to_date(path, file.schema) is None
    assert contents(path) == before


@each_file
def test_several_versions_are_taken_in_one_go(kept: KeptHome, name: str) -> None:
    path, file = current(kept, name)
    second = file.planted()
    third = replace(second, version=second.version + 1, steps={**second.steps, second.version: ("DROP TABLE planted",)})
    bring_up_to_date(path, third)
    assert contents(path)["versions"][0] == (third.version,)
    assert not planted(path, 100)


@each_file
def test_a_step_that_fails_leaves_the_file_as_it_was(kept: KeptHome, name: str) -> None:
    path, file = current(kept, name)
    before = contents(path)
    good = file.planted()
    broken = replace(
        good,
        steps={**good.steps, file.schema.version: (*good.steps[file.schema.version], "INSERT INTO nowhere VALUES (1)")},
    )
    with pytest.raises(HomeUnusable, match="nowhere"):
        bring_up_to_date(path, broken)
    assert contents(path) == before


@each_file
def test_a_way_that_has_a_gap_is_refused(kept: KeptHome, name: str) -> None:
    path, file = current(kept, name)
    before = contents(path)
    with pytest.raises(VersionUnsupported, match=f"version {file.schema.version}"):
        bring_up_to_date(path, replace(file.planted(), version=file.schema.version + 2))
    assert contents(path) == before


@each_file
def test_a_killed_process_leaves_the_old_file_or_the_new_one(kept: KeptHome, name: str) -> None:
    path, file = current(kept, name)
    command = [sys.executable, "-m", "tests.kept_files", name, str(path)]
    ended, cut = False, 0
    for wait_ms in (40, 80, 120, 180, 260, 400, 600, 1000, 4000, 20000):
        with subprocess.Popen(command) as process:
            begun = time.monotonic()
            while not list(path.parent.glob(f"{path.name}.v*")) and process.poll() is None:
                time.sleep(0.001)  # until it copies, which is before the first statement
            while time.monotonic() - begun < wait_ms / 1000 and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            ended = process.wait() == 0
        cut += not ended
        done = planted(path, ROWS)
        assert done or not ended
        if done:
            break
    assert cut, "no process was killed while it worked"
    bring_up_to_date(path, file.planted(ROWS))
    assert planted(path, ROWS)
    assert not list(path.parent.glob("*.part"))


@each_file
def test_two_processes_at_once(kept: KeptHome, name: str) -> None:
    path, file = current(kept, name)
    before = contents(path)
    command = [sys.executable, "-m", "tests.kept_files", name, str(path)]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0]
    assert planted(path, ROWS)
    assert contents(path.with_name(f"{path.name}.v{file.schema.version}")) == before


@each_file
def test_a_full_disk_leaves_the_file_as_it_was(kept: KeptHome, name: str) -> None:
    """The limit of a file's size ends a write as a full disk does."""
    path, file = current(kept, name)
    before, size = contents(path), path.stat().st_size
    pid = os.fork()
    if pid == 0:  # a process of its own, because of what it does to itself
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        outcome = 1
        try:
            for room in (size // 2, size + 200_000):  # too little for the copy, and for the statements
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
                try:
                    bring_up_to_date(path, file.planted(ROWS))
                except HomeUnusable:
                    outcome = 0
                else:
                    outcome = 2
                    break
        finally:
            os._exit(outcome)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert contents(path) == before
    assert not list(path.parent.glob("*.part"))
    bring_up_to_date(path, file.planted())
    assert planted(path, 100)


def use(name: str, kept: KeptHome) -> Callable[[], object]:
    """What the product does with a file."""
    path = kept.folder / KEPT[name].path
    configuration = load({}, home=kept.home)

    async def witness() -> None:
        await open_witness(path, key=await open_witness_key(path.parent), logs=[])

    return {
        "keys": KeyStore(path, clock_ms=lambda: 0).all,
        "requests": lambda: RequestRecords(configuration.home).claim(("t", "p", "r", "k"), "body", now_ms=0),
        "witness": lambda: asyncio.run(witness()),
    }[name]


@each_file
def test_a_file_of_a_later_version_is_refused_with_a_code(
    kept: KeptHome, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, file = current(kept, name)
    bring_up_to_date(path, file.planted())
    before = contents(path)
    if name in ("record", "ledger"):
        cli = command_line(capsys, monkeypatch)
        for words in (
            ("ask", "What was the population of Shawnee County in 1930?"),
            ("index", "status"),
            ("ledger", "verify"),
        ):
            if (words[0] == "ledger") <= (name == "ledger") and (words[0] == "index") <= (name == "record"):
                code, _, err = cli(*words, "--home", kept.home)
                assert (code, "VERSION_UNSUPPORTED" in err) == (EXIT_BACKEND, True), (words, err)
                assert f"version {file.schema.version + 1}" in err
    else:
        with pytest.raises(EdgeError) as raised:
            use(name, kept)()
        assert code_of(raised.value) == "VERSION_UNSUPPORTED"
    assert contents(path) == before


async def test_a_store_that_is_opened_by_itself_refuses_other_versions(kept: KeptHome) -> None:
    path, file = current(kept, "record")
    bring_up_to_date(path, file.planted())
    store = open_sqlite_store(path)
    with pytest.raises(SchemaUnsupported, match="schema 2"):
        await store.classes("default")
    await store.aclose()


@each_file
@pytest.mark.parametrize("damage", ["cut", "zeroes", "text"])
def test_a_damaged_file_is_refused(kept: KeptHome, name: str, damage: str) -> None:
    path = kept.folder / KEPT[name].path
    whole = path.read_bytes()
    bad = {"cut": whole[:70], "zeroes": bytes(len(whole)), "text": b"not a database " * 100}[damage]
    path.write_bytes(bad)
    with pytest.raises(EdgeError):
        bring_up_to_date(path, KEPT[name].planted())
    assert path.read_bytes() == bad


def test_an_old_home_is_marked_without_a_copy(kept: KeptHome) -> None:
    """Files of the first version bear no number; their tables are the same."""
    for name in ("keys", "requests", "witness"):
        assert bring_up_to_date(kept.folder / KEPT[name].path, KEPT[name].schema) is None
        assert contents(kept.folder / KEPT[name].path)["versions"][0] == (1,)
    assert not list(kept.folder.rglob("*.v0"))
