"""Room for files that are sent: what was announced is counted before it is here, and what goes away meanwhile is no fault."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from api.errors import Overloaded
from api.home.configuration import load
from api.http.ingest import MOST_WAITING, IngestDesk
from api.jobs.spool import Spool
from api.jobs.uploads import OPEN, READY, SentFile, Uploads


def job(number: int) -> str:
    return f"00000000-0000-7000-8000-{number:012d}"


def announced(uploads: Uploads, number: int, length: int, here: bytes = b"") -> Path:
    """A job whose one file is to have so many bytes; its path."""
    folder = uploads.begin(job(number))
    Spool(folder / "a.md").create()
    uploads.describe(job(number), [SentFile("a.md", "a", "a", length)])
    (folder / "a.md").write_bytes(here)
    return folder / "a.md"


def desk_of(home: Path, waiting_bytes: int) -> IngestDesk:
    return IngestDesk(load({"EXHIBIT_UPLOADS__WAITING_BYTES": str(waiting_bytes)}, home=home))


async def test_what_was_announced_takes_room_before_it_is_here(tmp_path: Path) -> None:
    """Else many uploads are begun while nothing is here, and each is then filled."""
    desk = desk_of(tmp_path, 10_000)
    for number in range(2):
        async with desk.room(4_000):
            announced(desk.uploads, number, 4_000)
    with pytest.raises(Overloaded):
        async with desk.room(4_000):
            pytest.fail("there was room")
    async with desk.room(1_000):
        pass
    desk.uploads.remove(job(0))
    async with desk.room(4_000):
        pass


async def test_what_arrives_at_one_time_takes_room_together(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, 10_000)
    async with desk.room(6_000):
        with pytest.raises(Overloaded):
            async with desk.room(6_000):
                pytest.fail("there was room")
    async with desk.room(6_000):
        pass


async def test_files_of_a_form_that_is_here_are_counted_as_they_are(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    announced(uploads, 1, 10, b"0123456789")
    (uploads.begin(job(2)) / "b.md").write_bytes(b"01234")  # a form that still arrives has announced nothing
    assert uploads.size() == 15


async def test_jobs_that_wait_are_bounded_whatever_their_size(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, 10_000_000)
    for number in range(MOST_WAITING):
        (tmp_path / "uploads" / (OPEN if number % 2 else READY) / job(number)).mkdir(parents=True)
    with pytest.raises(Overloaded):
        async with desk.room(0):
            pytest.fail("there was room")
    desk.uploads.remove(job(1))
    async with desk.room(0):
        pass


def test_files_that_go_away_while_they_are_counted_are_no_fault(tmp_path: Path) -> None:
    uploads, stopped = Uploads(tmp_path), threading.Event()

    def come_and_go() -> None:
        while not stopped.is_set():
            announced(uploads, 1, 100)
            uploads.remove(job(1))

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(3_000):
            assert 0 <= uploads.size() < 1_000
            uploads.older_than(-1, OPEN)
    finally:
        stopped.set()
        thread.join()
