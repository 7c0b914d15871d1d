"""A job that is killed at any point and gone on with gives the corpus that it gives undisturbed."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from api.home.configuration import Configuration, load
from api.jobs.uploads import KEPT, OPEN, READY, Uploads
from api.jobs.work import work_off
from api.wiring import open_indexes, open_job_store
from retrieval.model import Lifecycle
from tests.job_kills import send, worker

POINTS = 8
FIRST = {
    "ferry.md": b"# Ferry\n\nWilliam Nace kept the ferry at Lecompton in 1856.\n",
    "people.csv": b"name,1930,1940\nShawnee,85200,91247\nRiley,19882,20617\n",
    "picture.bin": b"\x00\x01",
    "points.geojson": b'{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"Topeka"},'
    b'"geometry":{"type":"Point","coordinates":[-95.7,39.0]}}]}',
}
SECOND = {"ferry.md": b"# Ferry\n\nWilliam Nace kept the ferry until 1861.\n", "note.txt": b"The mill burned."}


async def prepared(folder: Path, environment: Mapping[str, str] | None = None) -> Configuration:
    configuration = load(environment or {}, home=folder)
    folder.mkdir()
    await send(configuration, FIRST)
    await send(configuration, SECOND)
    return configuration


async def outcome(configuration: Configuration) -> tuple[str, list[tuple[str, str]], list[list[str]]]:
    """The corpus' hash, the fate of every file, and what each channel holds."""
    async with open_indexes(configuration) as (store, _, indexes), open_job_store(configuration) as jobs:
        found = await jobs.newest("default", limit=9)
        fates = [(row.file.source_id, row.file.state) for job in found for row in await jobs.files(job)]
        assert [job.state for job in found] == ["done", "done"]
        assert not await store.stored("default", Lifecycle.DRAFT)
        held = [sorted(await index.documents()) for index in indexes]
        return await store.manifest_hash("default"), fates, held


async def test_a_job_that_is_killed_anywhere_ends_as_one_that_is_not(tmp_path: Path) -> None:
    await prepared(tmp_path / "whole")
    undisturbed = load({}, home=tmp_path / "whole")
    counted = worker(undisturbed.home, 0)
    points = int(counted.communicate()[0])
    expected = await outcome(undisturbed)
    assert expected[1][-2][1] == "failed"
    chance = random.Random(18)
    killed = 0
    for number in range(POINTS):
        home = tmp_path / f"killed-{number}"
        configuration = await prepared(home)
        first = worker(home, chance.randrange(1, points))
        first.communicate()
        second = worker(home, chance.randrange(1, points // 2))
        second.communicate()
        killed += (first.returncode != 0) + (second.returncode != 0)
        await work_off(configuration)
        found = await outcome(configuration)
        assert (found[0], found[2]) == (expected[0], expected[2])
        fates = [(source, "done" if state == "skipped" else state) for source, state in found[1]]
        assert fates == expected[1]
        uploads = Uploads(home)
        assert not uploads.jobs(OPEN)
        assert not uploads.jobs(READY)
        assert len(uploads.jobs(KEPT)) == 1  # the picture, for another try
        shutil.rmtree(home)
    assert killed >= POINTS


@pytest.mark.parametrize("state", [OPEN, READY])
async def test_bytes_that_nobody_knows_are_no_job(tmp_path: Path, state: str) -> None:
    configuration = await prepared(tmp_path / "home")
    uploads = Uploads(configuration.home)
    strange = "00000000-0000-0000-0000-000000000000"
    uploads.folder(state, strange).mkdir(parents=True)
    await work_off(configuration)
    assert uploads.jobs(READY) == ()
    assert (strange in uploads.jobs(OPEN)) == (state == OPEN)
