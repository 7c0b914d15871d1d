"""Threads that use one kept file at once: each is served, none finds the file in use or broken."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from api.audit.erasure.decoded import readings
from api.errors import HomeFileBusy, HomeUnusable
from api.home.kept_file import kept_connection
from api.home.request_records import REQUESTS_FILE, SCHEMA, RequestRecords
from api.problems import problem_of

CALLERS = 40


def test_opening_a_file_again_takes_no_lock_from_who_writes(tmp_path: Path) -> None:
    path = tmp_path / REQUESTS_FILE
    with kept_connection(path, SCHEMA) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with kept_connection(path, SCHEMA):
            pass
        other = apsw.Connection(str(path))
        with pytest.raises(apsw.BusyError):
            other.execute("BEGIN IMMEDIATE")
        _from_another_process_is_busy(path)
        writer.execute("ROLLBACK")
        other.close()


def test_a_file_that_is_held_for_too_long_is_told_to_be_in_use(tmp_path: Path) -> None:
    path = tmp_path / REQUESTS_FILE
    with kept_connection(path, SCHEMA) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(HomeFileBusy) as told, kept_connection(path, SCHEMA, busy_ms=10) as other:
            other.execute("BEGIN IMMEDIATE")
        writer.execute("ROLLBACK")
    problem = problem_of(told.value)
    assert (problem.code, problem.status) == ("HOME_BUSY", 503)
    assert str(tmp_path) not in problem.message


@pytest.mark.parametrize("fault", [apsw.ReadOnlyError, apsw.CantOpenError, apsw.IOError, apsw.NotADBError])
def test_a_file_whose_version_cannot_be_read_is_not_told_to_be_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: type[apsw.Error]
) -> None:
    path = tmp_path / REQUESTS_FILE
    with kept_connection(path, SCHEMA):
        pass

    def unreadable(db: apsw.Connection) -> int:
        raise fault("no")

    monkeypatch.setattr("api.home.kept_file._version", unreadable)
    with pytest.raises(HomeUnusable) as told, kept_connection(path, SCHEMA):
        pass
    assert "brought to" not in str(told.value)
    assert ("may not be written" in str(told.value)) is (fault in (apsw.ReadOnlyError, apsw.CantOpenError))


def test_keys_that_come_at_once_are_all_kept(tmp_path: Path) -> None:
    records, start = RequestRecords(tmp_path), threading.Barrier(CALLERS)

    def use(number: int) -> bool:
        identity = ("default", "key:1", "/api/v1/ai/query", f"key-{number}")
        start.wait()
        fresh = records.claim(identity, "digest", now_ms=1) is None
        records.keep(identity, entry_id=f"entry-{number}", timings="{}")
        found = records.find(identity)
        return fresh and found is not None and found.entry_id == f"entry-{number}"

    with ThreadPoolExecutor(CALLERS) as threads:
        assert all(threads.map(use, range(CALLERS)))


def test_a_search_of_a_file_that_is_open_loses_nothing_that_is_written_to_it_later(tmp_path: Path) -> None:
    """Without the lock of the open connection, the next process that closes the file takes its log away."""
    path = tmp_path / "kept.sqlite"
    db = apsw.Connection(str(path))
    db.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (words TEXT); INSERT INTO t VALUES ('before')").fetchall()
    pieces = [piece for each in sorted(tmp_path.iterdir()) for piece in readings(each)]
    _rows_seen_by_another_process(path)
    db.execute("INSERT INTO t VALUES ('after')")
    assert _rows_seen_by_another_process(path) == "[('before',), ('after',)]"
    assert any(b"before" in piece for piece in pieces)
    db.close()


def _rows_seen_by_another_process(path: Path) -> str:
    look = "import apsw, sys; print(apsw.Connection(sys.argv[1]).execute('SELECT * FROM t').fetchall())"
    done = subprocess.run([sys.executable, "-c", look, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _from_another_process_is_busy(path: Path) -> None:
    """What counts: POSIX locks belong to a process, so only another one sees that they are gone."""
    attempt = "import apsw, sys; apsw.Connection(sys.argv[1]).execute('BEGIN IMMEDIATE')"
    done = subprocess.run([sys.executable, "-c", attempt, str(path)], capture_output=True, text=True, check=False)
    assert "BusyError" in done.stderr
