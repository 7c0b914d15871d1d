"""Jobs and the bytes that wait for them: names, places, parts, ends, another try, and what an erasure leaves of them."""

from __future__ import annotations

import asyncio
import fcntl
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.audit.erasure.erasing import Order, carry_out
from api.errors import HomeBusy, JobCancelled, KeyReused, NoSuchThing, PayloadTooLarge, RequestRejected
from api.home.configuration import Configuration, load
from api.jobs.spool import Spool
from api.jobs.uploads import KEPT, OPEN, READY, Uploads, safe_name, source_of
from api.jobs.work import INTERRUPTED, MOST_ATTEMPTS, take_in_paths, work_off
from api.wiring import new_id, open_ingest, open_job_store
from ledger.erasure.redaction import Target
from retrieval.registry.jobs import FINAL, Job
from tests.job_kills import OWNER, send

TEXT = {"note.txt": b"The mill of Alma burned in 1871.", "x.bin": b"\0"}


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    (tmp_path / "home").mkdir()
    return load({}, home=tmp_path / "home")


@given(st.text(max_size=300))
def test_a_name_is_one_of_a_plain_file_or_none(name: str) -> None:
    try:
        safe = safe_name(name)
    except RequestRejected:
        return
    assert safe == Path(safe).name
    assert not safe.startswith(".")
    assert len(os.fsencode(safe)) <= 200
    assert not any(ord(each) < 32 for each in safe)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/", "a/", ".env", "a\0b", "a\nb", "\udcff.txt", "x" * 201, "a/..", "\\"]
)
def test_names_that_no_file_may_have(name: str) -> None:
    with pytest.raises(RequestRejected):
        safe_name(name)


@pytest.mark.parametrize("name", ["../../etc/passwd.md", "C:\\notes\\passwd.md", "/passwd.md", " passwd.md "])
def test_folders_of_a_name_are_left_out(name: str) -> None:
    assert safe_name(name) == "passwd.md"


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "a.md", "a\nb"])] * 4), min_size=2, max_size=2, unique=True))
def test_sources_of_two_senders_collections_or_names_are_two(told: list[tuple[str, str, str, str]]) -> None:
    one, two = (source_of(*each) for each in told)
    if not any("\n" in part for each in told for part in each):  # no name, tenant, principal or collection has one
        assert one != two


@pytest.mark.parametrize("job_id", ["", "..", "../" * 12 + "etc", "a" * 36 + "/", "x" * 36])
def test_what_is_no_id_of_a_job_is_no_place(tmp_path: Path, job_id: str) -> None:
    with pytest.raises(NoSuchThing):
        Uploads(tmp_path).folder(OPEN, job_id)


def test_a_file_goes_on_where_it_ends_for_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(NoSuchThing), Spool(path).appending(offset=0, length=9):
        raise AssertionError
    Spool(path).create()
    with pytest.raises(FileExistsError):
        Spool(path).create()
    with Spool(path).appending(offset=0, length=9) as file:
        file.write(b"abc")
        with pytest.raises(KeyReused), Spool(path).appending(offset=3, length=9):
            raise AssertionError
        with pytest.raises(PayloadTooLarge):
            file.write(b"0123456")
    for wrong in (0, 2, 4):
        with pytest.raises(KeyReused, match="continues at 3"), Spool(path).appending(offset=wrong, length=9):
            raise AssertionError
    with Spool(path).appending(offset=3, length=9) as file:
        file.write(b"defghi")
    assert path.read_bytes() == b"abcdefghi"


async def test_a_job_that_is_cancelled_while_it_runs_ends_and_keeps_what_it_took(configuration: Configuration) -> None:
    files = {f"{n:03d}.txt": b"The mill of Alma burned in %d." % (1600 + n) for n in range(300)}
    job_id = await send(configuration, files)
    async with open_job_store(configuration) as jobs:
        working = asyncio.create_task(work_off(configuration))
        for _ in range(1_000):
            found = await jobs.job(job_id)
            if found is not None and found.state != "queued":
                break
            await asyncio.sleep(0.01)
        await jobs.cancel(job_id)
        assert await working == 1
        ended = await jobs.job(job_id)
        assert ended is not None and ended.state in FINAL
        rows = await jobs.files(ended)
        assert {row.file.state for row in rows} <= {"done", "failed"}
        if ended.state == "cancelled":
            assert {row.file.error_code for row in rows if row.file.state == "failed"} <= {"CANCELLED"}
            assert Uploads(configuration.home).size() == 0


async def test_a_job_that_ended_with_its_process_too_often_fails(configuration: Configuration) -> None:
    job_id = await send(configuration, TEXT)
    async with open_job_store(configuration) as jobs:
        job = await jobs.job(job_id)
        assert job is not None
        await jobs.put(replace(job, attempts=MOST_ATTEMPTS, state="running"))
        assert await work_off(configuration) == 1
        ended = await jobs.job(job_id)
    assert ended is not None and (ended.state, ended.error_code) == ("failed", INTERRUPTED)
    assert Uploads(configuration.home).jobs(KEPT) == (job_id,)


async def test_jobs_of_paths_whose_process_ended_are_told_so(configuration: Configuration, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT["note.txt"])
    await take_in_paths(configuration, [tmp_path / "a.txt"], label="public")
    async with open_job_store(configuration) as jobs:
        cut = Job(new_id(), "default", "local", "paths", None, "public", files=1, state="running", run_id="r")
        await jobs.put(cut)
        await take_in_paths(configuration, [tmp_path / "a.txt"], label="public")
        told = {each.job_id: (each.state, each.error_code) for each in await jobs.newest("default", limit=9)}
    assert told[cut.job_id] == ("failed", INTERRUPTED)
    assert sorted(told.values(), key=str) == [("done", None), ("done", None), ("failed", INTERRUPTED)]


async def test_a_job_waits_while_another_run_holds_the_corpus(configuration: Configuration) -> None:
    job_id = await send(configuration, TEXT)
    async with open_ingest(configuration):
        with pytest.raises(HomeBusy):
            await work_off(configuration)
    assert Uploads(configuration.home).jobs(READY) == (job_id,)
    assert await work_off(configuration) == 1


async def test_of_a_cancel_and_a_beginning_one_wins(configuration: Configuration) -> None:
    job_id = await send(configuration, TEXT)
    async with open_job_store(configuration) as jobs:
        ended = await jobs.cancel(job_id)
        assert ended is not None and ended.state == "cancelled"
        assert await jobs.begin(job_id, "run") is None
        assert await jobs.cancel(new_id()) is None
        await jobs.put(replace(ended, state="queued", cancelled=False))  # a writer that had not heard of it
        assert await jobs.begin(job_id, "run") is None
    assert await work_off(configuration) == 0
    assert Uploads(configuration.home).size() == 0


async def test_an_upload_that_nobody_finished_goes_after_a_time(configuration: Configuration) -> None:
    uploads = Uploads(configuration.home)
    job = Job(new_id(), "default", OWNER, "upload", "kansas", "public", state="arriving")
    async with open_job_store(configuration) as jobs:
        await jobs.put(job)
        folder = uploads.begin(job.job_id)
        Spool(folder / "half.txt").create()
        await work_off(configuration)
        assert uploads.jobs(OPEN) == (job.job_id,)
        for each in (folder / "half.txt", folder):
            os.utime(each, (0, 0))
        await work_off(configuration)
        assert uploads.jobs(OPEN) == ()
        ended = await jobs.job(job.job_id)
    assert ended is not None and ended.state == "cancelled"


async def test_an_erasure_takes_the_bytes_that_wait_too(configuration: Configuration) -> None:
    await send(configuration, TEXT)
    await work_off(configuration)
    uploads = Uploads(configuration.home)
    later = await send(configuration, {"note.txt": b"The mill of Alma burned again.", "other.txt": b"Other words."})
    source = source_of("default", OWNER, "kansas", "note.txt")
    assert uploads.size() > 0
    report = await carry_out(configuration, Order(Target.SOURCE, source, "default", "asked for"))
    assert report.copies["sent files"] == 1
    assert [each.name for each in uploads.files(READY, later)] == ["other.txt"]
    for path in configuration.home.rglob("*"):
        assert not path.is_file() or b"burned again" not in path.read_bytes(), path


def test_a_locked_file_is_ours_alone(tmp_path: Path) -> None:
    """What holds off a second request is the lock of the file, which ends with the process."""
    Spool(tmp_path / "file").create()
    with (tmp_path / "file").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(KeyReused), Spool(tmp_path / "file").appending(offset=0, length=1):
            raise AssertionError


def test_what_a_cancelled_job_raises_has_a_code() -> None:
    assert JobCancelled.code == "CONFLICT"
