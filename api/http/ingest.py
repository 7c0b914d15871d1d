"""The context that the routes of documents, uploads and jobs share: the jobs and bytes of the home, and who asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fastapi import Request

from api.errors import FieldProblem, NoSuchThing, Overloaded, RequestRejected, UnsupportedMediaType
from api.home.configuration import Configuration
from api.http.callers import Call
from api.http.sending import Sending
from api.jobs.asking import Asker
from api.jobs.uploads import Uploads
from api.jobs.work import keep_working
from api.wiring import open_job_store
from retrieval.ingest.label import AccessTerms
from retrieval.media_types import MEDIA_TYPES
from retrieval.registry.jobs import Job, SqlJobs

MOST_WAITING = 10_000
"""Jobs that may wait at one time, however small: each is a folder that is looked into for every other."""


class IngestDesk:
    """Where files are handed in: the jobs, the bytes that wait, and the worker of this process. One event loop."""

    def __init__(self, configuration: Configuration) -> None:
        self.uploads = Uploads(configuration.home, configuration.seal)
        self.settings = configuration.settings.uploads
        self.sending = Sending()
        self._configuration = configuration
        self._receiving = 0
        self._woken = asyncio.Event()
        self._stack = AsyncExitStack()
        self._jobs: SqlJobs | None = None
        self._worker: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to take in what is ready, where the settings say so."""
        if self.settings.work:
            self._worker = asyncio.create_task(keep_working(self._configuration, self._woken))

    async def aclose(self) -> None:
        """Stop: a job that runs is gone on with by whoever works next."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        await self._stack.aclose()

    def wake(self) -> None:
        """Let the worker look now."""
        self._woken.set()

    async def jobs(self) -> SqlJobs:
        """The jobs, whose tables are made with the first use. Raises StoreUnavailable."""
        if self._jobs is None:
            opened = await self._stack.enter_async_context(open_job_store(self._configuration))
            await opened.prepare()
            self._jobs = opened
        return self._jobs

    @asynccontextmanager
    async def room(self, more: int) -> AsyncIterator[None]:
        """Keep room for so many bytes more while they are received or announced. Raises Overloaded where they may not
        wait, beside those that others are sending."""
        self._receiving += more
        try:
            size, count = await asyncio.to_thread(lambda: (self.uploads.size(), self.uploads.count()))
            if size + self._receiving > self.settings.waiting_bytes or count >= MOST_WAITING:
                raise Overloaded("Too much is waiting to be ingested; try again later.")
            yield
        finally:
            self._receiving -= more

    def require_kind(self, name: str) -> None:
        """Raise UnsupportedMediaType for a name whose ending the settings do not allow."""
        if self.settings.kinds and Path(name).suffix.lower() not in self.kinds:
            raise UnsupportedMediaType(f"These kinds of files are accepted: {' '.join(self.kinds)}.")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The endings of names that are taken."""
        return tuple(sorted(each.lower() for each in self.settings.kinds or MEDIA_TYPES))


@dataclass(frozen=True, slots=True)
class IngestCall:
    """A call that has to do with jobs."""

    call: Call
    desk: IngestDesk
    jobs: SqlJobs

    @property
    def asker(self) -> Asker:
        """The caller, as jobs know an asker."""
        return Asker(self.call.caller.subject, self.call.request_id, self.call.system.services)

    @property
    def terms(self) -> AccessTerms:
        """The labels that policy knows, and the settings' defaults."""
        data = self.call.system.data
        defaults = self.call.system.configuration.settings.ingest.default_labels
        return AccessTerms(data.ascending, tuple(data.handling), defaults)

    async def job(self, job_id: str) -> Job:
        """The job of that id. Raises NoSuchThing, alike for one that is not there and one that the caller may not
        see."""
        found = await self.jobs.job(job_id)
        if found is None or not await self.asker.may_see(found):
            raise NoSuchThing("There is no such job.")
        return found

    async def own_job(self, job_id: str) -> Job:
        """The same for whoever sent it alone."""
        found = await self.jobs.job(job_id)
        owner = (self.call.caller.subject.tenant, self.call.caller.subject.id)
        if found is None or (found.tenant, found.owner) != owner:
            raise NoSuchThing("There is no such job.")
        return found

    async def forget(self, job: Job) -> None:
        """Drop a job whose bytes did not all come."""
        await asyncio.to_thread(self.desk.uploads.remove, job.job_id)
        with suppress(Exception):  # the sender is told of the first fault; the row ages with the others
            await self.jobs.cancel(job.job_id)


async def ingest_call(call: Call, request: Request) -> IngestCall:
    """The call with the desk of this process."""
    desk = cast("IngestDesk", request.app.state.ingest)
    return IngestCall(call, desk, await desk.jobs())


def group_names(values: list[str]) -> tuple[str, ...]:
    """Names of groups, sorted, each once. Raises RequestRejected."""
    if any(not 1 <= len(each) <= 64 or not each.isprintable() for each in values):
        raise RequestRejected("A group's name is not valid.", [FieldProblem("group", "name", "1 to 64 characters")])
    return tuple(sorted(set(values)))
