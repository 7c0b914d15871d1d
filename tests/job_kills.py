"""Jobs that are killed at a chosen point: a process that does the jobs of a home and ends itself, as kill -9 does, at
the n-th call of a function of ours that writes or moves something.

`python -m tests.job_kills HOME N` does so; with N = 0 it ends by itself and prints how many points there were.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

from api.home.configuration import Configuration, load
from api.jobs.uploads import OPEN, READY, Uploads, source_of
from api.jobs.work import work_off
from api.wiring import new_id, open_job_store
from retrieval.registry.jobs import Job

ROOT = Path(__file__).parents[1]
WATCHED = ("/api/jobs/", "/retrieval/registry/", "/retrieval/ingest/pipeline", "/retrieval/ingest/upkeep", "index")
OWNER = "key:sender"


async def send(configuration: Configuration, files: Mapping[str, bytes], *, label: str = "public") -> str:
    """A job of these files, ready to be taken in; its id."""
    uploads, job = (
        Uploads(configuration.home, configuration.seal),
        Job(new_id(), "default", OWNER, "upload", "kansas", label),
    )
    async with open_job_store(configuration) as jobs:
        await jobs.put(job)
        uploads.begin(job.job_id)
        listed = []
        for name, data in files.items():
            sent = uploads.sent_file(name, source_of("default", OWNER, "kansas", name), len(data))
            spool = uploads.spool(OPEN, job.job_id, sent)
            spool.create()
            with spool.appending(offset=0, length=len(data)) as file:
                file.write(data)
            listed.append(sent)
        uploads.describe(job.job_id, listed)
        uploads.move(job.job_id, OPEN, READY)
    return job.job_id


def worker(home: Path, point: int, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """A process that does the jobs of the home, killed at that point; 0: not at all."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.job_kills", str(home), str(point)],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        text=True,
    )


def _kill_at(point: int) -> itertools.count[int]:
    counter = itertools.count(1)

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and any(part in frame.f_code.co_filename for part in WATCHED) and next(counter) == point:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(watch)
    sys.setprofile(watch)
    return counter


async def _until_done(configuration: Configuration) -> None:
    from api.errors import HomeBusy

    uploads = Uploads(configuration.home)
    while uploads.jobs(READY):
        try:
            await work_off(configuration)
        except HomeBusy:
            await asyncio.sleep(0.05)


def main() -> None:
    home, point = Path(sys.argv[1]), int(sys.argv[2])
    configuration = load(dict(os.environ), home=home)
    counter = _kill_at(point)
    asyncio.run(_until_done(configuration))
    sys.setprofile(None)
    print(next(counter))


if __name__ == "__main__":
    main()
