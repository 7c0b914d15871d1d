"""`/api/v1/jobs`: jobs of ingest, the caller's own and those that a curator may see; their progress as events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request
from starlette.responses import JSONResponse, Response

from api.errors import ActionForbidden, KeyReused
from api.http.callers import SECURITY, Call, Calling, Writing
from api.http.ingest import IngestCall, ingest_call
from api.http.routes.stream import EventStream
from api.jobs.asking import (
    CURATE,
    INGEST,
    class_of,
    end,
    file_document,
    job_document,
    job_facts,
    try_again,
)
from api.schemas.errors import errors
from api.schemas.jobs import JOB_EXAMPLE, JobEvent, JobEventId, JobId, JobList, JobResponse
from api.wiring import new_id
from retrieval.registry.jobs import Job

router = APIRouter(prefix="/api/v1/jobs", tags=["ingest"], dependencies=SECURITY)
JobName = Annotated[JobId, Path(description="id of a job", examples=[JOB_EXAMPLE])]
_PAGE = 200
_LOOK_S = 0.5
_HEARTBEAT_S = 15.0
_SHARE_OF_DEADLINE = 0.8
_EVENTS: dict[str, Any] = {"model": JobEvent, "description": "Fates of files and states of the job, to its end."}


@router.get("", operation_id="listJobs", summary="List jobs of ingest", responses=errors(401, 403, 422, 503))
async def jobs(
    call: Calling,
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200, examples=[20])] = 50,
    whose: Annotated[
        Literal["own", "all"], Query(description="`all` needs `registry.curate`", examples=["own"])
    ] = "own",
) -> JobList:
    """The caller's jobs, the newest first; with `registry.curate` also those of others whose class the caller may
    see. Needs `corpus.ingest` or `registry.curate`."""
    ingest = await _ingest(call, request)
    if whose == "all":
        call.caller.require(CURATE)
    found = [each async for each in _visible(ingest, own=whose == "own", limit=limit)]
    return JobList.model_validate({"jobs": [job_facts(each) for each in found]})


async def _visible(ingest: IngestCall, *, own: bool, limit: int) -> AsyncIterator[Job]:
    """The newest jobs that the caller may see: what it may not see takes nobody's place."""
    subject, before, left = ingest.call.caller.subject, None, limit
    while left:
        page = await ingest.jobs.newest(subject.tenant, owner=subject.id if own else None, limit=_PAGE, before=before)
        for each in page:
            if left and await ingest.asker.may_see(each):
                left -= 1
                yield each
        if len(page) < _PAGE:
            return
        before = page[-1].job_id


@router.get(
    "/{job_id}",
    operation_id="getJob",
    summary="A job with the fate of each file",
    responses=errors(401, 403, 404, 422, 503),
)
async def job(job_id: JobName, call: Calling, request: Request) -> JobResponse:
    """A job with the fate of each file. Needs `corpus.ingest` or `registry.curate`."""
    ingest = await _ingest(call, request)
    found = await ingest.job(job_id)
    return JobResponse.model_validate(await job_document(found, ingest.jobs, ingest.desk.uploads))


@router.get(
    "/{job_id}/events",
    operation_id="followJob",
    summary="The progress of a job",
    response_model=None,
    response_class=EventStream,
    responses={200: _EVENTS, **errors(401, 403, 404, 422, 503)},
)
async def events(
    job_id: JobName,
    call: Calling,
    request: Request,
    last_event_id: Annotated[
        JobEventId | None, Header(alias="Last-Event-ID", examples=[f"{JOB_EXAMPLE}.1795399631231"])
    ] = None,
) -> Response:
    """The progress of a job as Server-Sent Events. A reader who comes again with `Last-Event-ID` gets what has changed
    since, some of it perhaps twice; the stream ends with the job, or a little before a request's deadline. Needs
    `corpus.ingest` or `registry.curate`."""
    ingest = await _ingest(call, request)
    found = await ingest.job(job_id)
    since_ms = int(last_event_id.rpartition(".")[2]) if last_event_id and last_event_id.startswith(job_id) else 0
    deadline_ms = call.system.configuration.settings.server.admission.deadline_ms
    ends_s = time.monotonic() + deadline_ms / 1000 * _SHARE_OF_DEADLINE
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return EventStream(_told(ingest, found, since_ms, ends_s), headers=headers)


async def _told(ingest: IngestCall, found: Job, since_ms: int, ends_s: float) -> AsyncIterator[bytes]:
    """The events of a job until it is final, or until that moment of the monotonic clock."""
    yield b"retry: 1000\n\n"
    told: dict[int, dict[str, Any]] = {}
    state: dict[str, Any] = {}
    spoke_s = time.monotonic()
    while True:
        current = await ingest.jobs.job(found.job_id) or found
        for row in await ingest.jobs.files(current, since_ms=since_ms):
            document = file_document(row.file.path, row.file, row.updated_ms)
            since_ms = max(since_ms, row.updated_ms)
            if told.get(row.file.position) != document:
                told[row.file.position], spoke_s = document, time.monotonic()
                yield _event("file", current, row.updated_ms, document)
        facts = job_facts(current)
        if facts != state:
            state, spoke_s = facts, time.monotonic()
            yield _event("job", current, max(since_ms, 0), facts)
        now_s = time.monotonic()
        if current.is_final or now_s >= ends_s:
            return
        if now_s - spoke_s >= _HEARTBEAT_S:
            spoke_s = now_s
            yield b": still here\n\n"
        await asyncio.sleep(_LOOK_S)


def _event(name: str, job: Job, at_ms: int, data: dict[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {job.job_id}.{at_ms}\nevent: {name}\ndata: {text}\n\n".encode()


@router.post(
    "/{job_id}/cancel",
    operation_id="cancelJob",
    summary="End a job",
    response_model=JobResponse,
    responses=errors(400, 401, 403, 404, 409, 413, 415, 422, 500, 503),
)
async def cancel(job_id: JobName, call: Writing, request: Request) -> JSONResponse:
    """End a job of the caller's: at once if it has not begun, else soon; what it took in stays. Needs
    `corpus.ingest`."""
    call.caller.require(INGEST)
    ingest = await ingest_call(call, request)
    ended = await end(ingest.desk.uploads, ingest.jobs, await ingest.own_job(job_id))
    return JSONResponse(await job_document(ended, ingest.jobs, ingest.desk.uploads))


@router.post(
    "/{job_id}/retry",
    operation_id="retryJob",
    summary="Try again what was not ingested",
    status_code=202,
    response_model=JobResponse,
    responses=errors(400, 401, 403, 404, 409, 413, 415, 422, 500, 503),
)
async def retry(job_id: JobName, call: Writing, request: Request) -> JSONResponse:
    """A new job of the files that an ended one did not take in, while they are kept. Needs `corpus.ingest`, and the
    label that policy still lets the caller see."""
    call.caller.require(INGEST)
    ingest = await ingest_call(call, request)
    found = await ingest.own_job(job_id)
    if not found.is_final:
        raise KeyReused("The job has not ended.")
    if not await ingest.asker.admits(class_of(found)):
        raise ActionForbidden("Policy does not let you see what would be under these access facts.")
    ledger = call.system.services.ledger
    again = await try_again(ingest.desk.uploads, ingest.jobs, found, new_id(), ledger, request_id=call.request_id)
    ingest.desk.wake()
    told = await job_document(again, ingest.jobs, ingest.desk.uploads)
    return JSONResponse(told, 202, headers={"location": f"/api/v1/jobs/{again.job_id}"})


async def _ingest(call: Call, request: Request) -> IngestCall:
    if not call.caller.may(CURATE):
        call.caller.require(INGEST)
    return await ingest_call(call, request)
