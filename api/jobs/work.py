"""The work of jobs: one way in for files that are named on this machine and for bytes that were sent. What each came to
is on the ledger before its state says so (`api.jobs.outcome`); where the ledger cannot be opened, nothing is taken in.

Whoever holds the corpus (`open_ingest`) works. A job that is `running` then was cut off: one whose bytes are under the
home is gone on with in the rows of its run; one of paths is told as cut off, since only its owner knows the paths.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import structlog

from api.errors import HomeBusy, JobCancelled, RequestRejected
from api.home.configuration import Configuration
from api.home.identity.principal import LOCAL_ID
from api.jobs.outcome import record_ended
from api.jobs.uploads import KEPT, OPEN, READY, Uploads
from api.problems import code_of
from api.wiring import has_corpus, new_id, open_ingest, open_job_store
from api.wiring.ledger.log import log_to_write
from ledger.errors import LedgerError
from ledger.ledger import Ledger
from retrieval.registry.jobs import Job, JobState, SqlJobs

if TYPE_CHECKING:
    from retrieval.ingest.pipeline import Ingest
    from retrieval.ingest.report import IngestReport, Progress
    from retrieval.ingest.values import SourceSpec

T = TypeVar("T")
CANCELLED, INTERRUPTED = "CANCELLED", "INTERRUPTED"
MOST_ATTEMPTS = 20
"""A job that ended so often with the process that took it in fails."""
_LOOK_S = 0.5
_log = structlog.get_logger("exhibit.jobs")


async def take_in_paths(
    configuration: Configuration,
    paths: Sequence[Path],
    *,
    manifest: Path | None = None,
    collection: str | None = None,
    label: str | None = None,
    tenant: str = "default",
    resume: bool = False,
    verify: bool = False,
    progress: Progress | None = None,
) -> IngestReport:
    """One job of files that are named on this machine, done at once. Raises HomeBusy while another one is done,
    JobCancelled, LedgerUnavailable, and as `Ingest.run`. Where the paths name nothing that is there, nothing is made
    or recorded."""
    from retrieval.ingest.pipeline import new_run_id  # noqa: PLC0415
    from retrieval.ingest.sources import sources_of  # noqa: PLC0415

    sources, titles = await asyncio.to_thread(sources_of, paths, manifest)
    if not sources and not has_corpus(configuration):
        raise RequestRejected(f"{', '.join(path.name for path in paths)}: no file in it, and no corpus is made of none")
    async with (
        open_ingest(configuration) as ingest,
        open_job_store(configuration) as jobs,
        log_to_write(configuration) as ledger,
    ):
        await ingest.make_store()
        run_id = await ingest.cut_off_run(sources, tenant=tenant) if resume else None
        await _tell_cut_off(jobs, ledger)
        job = Job(new_id(), tenant, LOCAL_ID, "paths", collection, label, files=len(sources))
        await jobs.put(job)
        begun = await jobs.begin(job.job_id, run_id or new_run_id())
        if begun is None:
            raise JobCancelled("the job was cancelled")
        taking = ingest.take(
            sources,
            titles=titles,
            tenant=tenant,
            collection=collection,
            label=label,
            run_id=begun.run_id,
            verify=verify,
            progress=progress,
        )
        return await _recorded(taking, begun, jobs, ledger)


async def _tell_cut_off(jobs: SqlJobs, ledger: Ledger) -> None:
    """Ends the jobs of paths whose process ended before they did."""
    for each in await jobs.unfinished("paths"):
        message = "the process that took it in ended; the same command with --resume goes on"
        await jobs.close_files(each, code=INTERRUPTED, message=message)
        await record_ended(ledger, each, jobs, state="failed", error_code=INTERRUPTED)
        await jobs.put(replace(each, state="failed", error_code=INTERRUPTED))


async def work_off(configuration: Configuration) -> int:
    """Does every job whose bytes are ready under the home, the oldest first; gives how many ended. Raises HomeBusy
    while another process takes documents in."""
    uploads = Uploads(configuration.home, configuration.seal)
    ended = 0
    async with open_job_store(configuration) as jobs:
        await _sweep(configuration, uploads, jobs)
        if not await _next(uploads, jobs):
            return 0
        async with open_ingest(configuration) as ingest, log_to_write(configuration) as ledger:
            while (job := await _next(uploads, jobs)) is not None:
                await _do(job, ingest=ingest, jobs=jobs, uploads=uploads, ledger=ledger)
                ended += 1
    return ended


async def _next(uploads: Uploads, jobs: SqlJobs) -> Job | None:
    """The oldest job that is ready. Bytes of a job that has ended, or that nobody knows, go."""
    ready = await asyncio.to_thread(uploads.jobs, READY)
    known = {each.job_id: each for each in await jobs.jobs_of(ready)} if ready else {}
    for job_id in ready:
        job = known.get(job_id)
        if job is not None and not job.is_final and not job.cancelled:
            return job
        if job is not None and not job.is_final:
            await jobs.close_files(job, code=CANCELLED, message="the job was cancelled")
            await jobs.put(replace(job, state="cancelled"))
        if job is None or job.state != "done":
            await asyncio.to_thread(uploads.remove, job_id)
        else:  # it ended between its last row and the removal of its bytes
            await _put_away(job, jobs, uploads)
    return None


def _opened(job: Job, uploads: Uploads) -> Callable[[Path], bytes]:
    """The function that reads the files of a job in an encrypted home, by the names that they were sent under."""
    files = {each.name: each for each in uploads.files(READY, job.job_id)}
    return lambda path: uploads.read(READY, job.job_id, files[path.name])


async def _do(job: Job, *, ingest: Ingest, jobs: SqlJobs, uploads: Uploads, ledger: Ledger) -> None:
    """Takes a job in, or goes on with it, to its end. Raises LedgerUnavailable: then its bytes stay, and it is ended by
    whoever works next."""
    from retrieval.ingest.formats.load import read_bytes  # noqa: PLC0415
    from retrieval.ingest.pipeline import new_run_id  # noqa: PLC0415

    begun = await jobs.begin(job.job_id, new_run_id())
    if begun is None:
        return
    if begun.attempts > MOST_ATTEMPTS:
        await jobs.close_files(begun, code=INTERRUPTED, message="the process ended each time that it was read")
        await record_ended(ledger, begun, jobs, state="failed", error_code=INTERRUPTED)
        await jobs.put(replace(begun, state="failed", error_code=INTERRUPTED))
        await _put_away(begun, jobs, uploads)
        return
    sources = await asyncio.to_thread(_sources, begun, uploads)
    opened = _opened(begun, uploads) if uploads.sealed else read_bytes
    taking = ingest.take(sources, tenant=begun.tenant, run_id=begun.run_id, opened=opened)
    try:
        await _recorded(taking, begun, jobs, ledger)
    except JobCancelled:
        await asyncio.to_thread(uploads.remove, begun.job_id)
        return
    except LedgerError:
        raise
    except Exception as exc:
        # Its rows say what failed; whoever sent it may try again.
        _log.warning("job_failed", job=begun.job_id, code=code_of(exc), problem=type(exc).__name__)
    await _put_away(begun, jobs, uploads)


async def _recorded(taking: Awaitable[IngestReport], job: Job, jobs: SqlJobs, ledger: Ledger) -> IngestReport:
    """The report of the work, with the job's end on the ledger and then in its state. A job whose process is stopped
    stays as it is, to be gone on with; one of paths that its owner stops is cancelled."""

    async def ended(state: JobState, code: str | None = None, *, why: str = "", corpus: str | None = None) -> None:
        if why:
            await jobs.close_files(job, code=code or CANCELLED, message=why)
        await record_ended(ledger, job, jobs, state=state, error_code=code, corpus=corpus)
        await jobs.put(replace(job, state=state, error_code=code))

    try:
        done = await _unless_cancelled(taking, job, jobs)
    except JobCancelled:
        await ended("cancelled", why="the job was cancelled")
        raise
    except asyncio.CancelledError:
        if job.origin == "paths":
            with suppress(Exception):
                await ended("cancelled")
        raise
    except Exception as exc:
        await ended("failed", code_of(exc), why="the run ended before this file was taken in")
        raise
    await ended("done", corpus=done.manifest_hash)
    return done


async def _unless_cancelled(taking: Awaitable[T], job: Job, jobs: SqlJobs) -> T:
    """The outcome of the work, which is looked after while it is done. Raises JobCancelled."""
    working = asyncio.ensure_future(taking)
    try:
        while not working.done():
            await asyncio.wait({working}, timeout=_LOOK_S)
            if working.done():
                break
            now = await jobs.job(job.job_id)
            if now is not None and now.cancelled:
                working.cancel()
                await asyncio.wait({working})
                raise JobCancelled("the job was cancelled")
        return await working
    finally:
        if not working.done():
            working.cancel()
            await asyncio.wait({working})


async def _put_away(job: Job, jobs: SqlJobs, uploads: Uploads) -> None:
    """Removes the bytes of what was taken in; what was not waits for another try."""
    rows = await jobs.files(job)
    failed = [Path(each.file.path).name for each in rows if each.file.state == "failed"]
    if not rows:
        failed = [each.name for each in await asyncio.to_thread(uploads.files, READY, job.job_id)]
    await asyncio.to_thread(uploads.end, job.job_id, kept=failed)


def _sources(job: Job, uploads: Uploads) -> list[SourceSpec]:
    """The files of a job as sources. They are declared, so that none is taken for a file of that name or those bytes
    elsewhere."""
    from retrieval.ingest.values import Access, SourceSpec  # noqa: PLC0415

    folder = uploads.folder(READY, job.job_id)
    return [
        SourceSpec(
            path=folder / each.name,
            source_id=each.source_id,
            title=each.title,
            collection=job.collection,
            access=Access(label=job.label, groups=job.groups),
            declared=True,
        )
        for each in uploads.files(READY, job.job_id)
    ]


async def _sweep(configuration: Configuration, uploads: Uploads, jobs: SqlJobs) -> None:
    """Removes what was left: uploads that were not finished and files that nobody tried again, after a time."""
    kept_s = configuration.settings.uploads.kept_s
    for job_id in await asyncio.to_thread(uploads.older_than, kept_s, OPEN):
        await jobs.cancel(job_id)
        await asyncio.to_thread(uploads.remove, job_id)
    for job_id in await asyncio.to_thread(uploads.older_than, kept_s, KEPT):
        await asyncio.to_thread(uploads.remove, job_id)


async def keep_working(configuration: Configuration, woken: asyncio.Event) -> None:
    """Does jobs as they become ready, until cancelled, beside the caller's event loop. A home that nothing was sent to
    costs one look at a folder a second."""
    uploads = Uploads(configuration.home, configuration.seal)
    while True:
        woken.clear()
        if await asyncio.to_thread(_has_work, uploads, configuration.settings.uploads.kept_s):
            try:
                await _beside(configuration)
            except HomeBusy:
                _log.debug("jobs_wait", why="another process takes documents in")
            except Exception as exc:
                # The worker outlives what one job, or a store that is gone, does to it.
                _log.warning("jobs_not_done", code=code_of(exc), problem=type(exc).__name__)
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await woken.wait()


def _has_work(uploads: Uploads, kept_s: int) -> bool:
    return bool(uploads.jobs(READY)) or any(uploads.older_than(kept_s, state) for state in (OPEN, KEPT))


async def _beside(configuration: Configuration) -> None:
    """`work_off` on an event loop of its own, in a thread of its own, so that no request waits for it; cancelled with
    the caller."""
    stopping, stops = threading.Event(), list[Callable[[], object]]()

    async def stoppable() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is not None:
            stops.append(lambda: loop.call_soon_threadsafe(task.cancel))
        if not stopping.is_set():
            await work_off(configuration)

    working = asyncio.ensure_future(asyncio.to_thread(asyncio.run, stoppable()))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        stopping.set()
        for stop in stops:
            stop()
        await asyncio.wait({working})
        raise
