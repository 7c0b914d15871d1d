"""Threads that use one kept file at once: each is served, none finds the file in use or broken."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from api.home.kept_file import kept_connection
from api.home.request_records import REQUESTS_FILE, SCHEMA, RequestRecords

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


def _from_another_process_is_busy(path: Path) -> None:
    """What counts: POSIX locks belong to a process, so only another one sees that they are gone."""
    attempt = "import apsw, sys; apsw.Connection(sys.argv[1]).execute('BEGIN IMMEDIATE')"
    done = subprocess.run([sys.executable, "-c", attempt, str(path)], capture_output=True, text=True, check=False)
    assert "BusyError" in done.stderr
