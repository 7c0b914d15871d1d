"""`/api/v1/uploads`: a large file in parts, by tus 1.0 (core, creation, termination). The upload's id is its job's."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from starlette.responses import Response

from api.errors import (
    FieldProblem,
    MalformedBody,
    NoSuchThing,
    PayloadTooLarge,
    RequestRejected,
    UnsupportedMediaType,
)
from api.http.callers import SECURITY, Call, Calling, Writing
from api.http.ingest import IngestCall, group_names, ingest_call
from api.http.routes.ingest.documents import new_job
from api.http.sending import body_of
from api.jobs.asking import INGEST, Placing, begin, queue
from api.jobs.uploads import OPEN, READY, SentFile, safe_name, source_of
from api.schemas.errors import errors
from api.schemas.jobs import JOB_EXAMPLE, JobId
from retrieval.registry.jobs import Job

router = APIRouter(prefix="/api/v1/uploads", tags=["ingest"], dependencies=SECURITY)
VERSION = "1.0.0"
PART, BYTES = "application/offset+octet-stream", "application/octet-stream"
"""The type that tus demands, and the one that generators of clients know; the description names the second."""
_HEADERS = {"tus-resumable": VERSION, "cache-control": "no-store"}
_METADATA_BYTES = 4_096
UploadId = Annotated[JobId, InPath(description="id of an upload, which is its job's", examples=[JOB_EXAMPLE])]
_CREATION = {
    "parameters": [
        {
            "name": "Upload-Length",
            "in": "header",
            "required": True,
            "schema": {
                "type": "integer",
                "minimum": 0,
                "description": "bytes of the whole file",
                "examples": [73400320],
            },
        },
        {
            "name": "Upload-Metadata",
            "in": "header",
            "required": True,
            "schema": {
                "type": "string",
                "description": "`filename` and, where wanted, `label`, `collection`, `groups` (a list with commas),"
                " each with its value in Base64, separated by commas",
                "examples": ["filename cmVwb3J0LnBkZg==,label cHVibGlj"],
            },
        },
    ]
}
_CONTINUATION = {
    "parameters": [
        {
            "name": "Upload-Offset",
            "in": "header",
            "required": True,
            "schema": {
                "type": "integer",
                "minimum": 0,
                "description": "where the part goes on",
                "examples": [33488896],
            },
        }
    ],
    "requestBody": {"required": True, "content": {BYTES: {"schema": {"type": "string", "format": "binary"}}}},
}


@router.post(
    "",
    operation_id="createUpload",
    summary="Begin to send a file in parts",
    status_code=201,
    response_class=Response,
    responses=errors(400, 401, 403, 413, 415, 422, 500, 503),
    openapi_extra=_CREATION,
)
async def create_upload(call: Writing, request: Request) -> Response:
    """Begin to send a file in parts; `Location` names the upload. Needs `corpus.ingest`, and a label that policy lets
    the caller see."""
    ingest = await _ingest(call, request)
    length = _number(request, "upload-length")
    if length > ingest.desk.settings.file_bytes:
        raise PayloadTooLarge(f"A file may have at most {ingest.desk.settings.file_bytes} bytes.")
    told = _metadata(request.headers.get("upload-metadata", ""))
    name = safe_name(told.get("filename", ""))
    ingest.desk.require_kind(name)
    groups = group_names([each for each in told.get("groups", "").split(",") if each])
    async with ingest.desk.room(length):
        job = await new_job(ingest, Placing(told.get("collection") or None, told.get("label") or None, groups))
        uploads = ingest.desk.uploads
        await begin(uploads, ingest.jobs, job)
        sent = uploads.sent_file(name, source_of(job.tenant, job.owner, job.collection or "", name), length)
        await asyncio.to_thread(uploads.spool(OPEN, job.job_id, sent).create)
        await asyncio.to_thread(uploads.describe, job.job_id, [sent])
    if length == 0:
        await _complete(ingest, job)
    return Response(
        status_code=201, headers=_HEADERS | {"location": f"/api/v1/uploads/{job.job_id}", "upload-offset": "0"}
    )


@router.get(
    "/{upload_id}",
    operation_id="getUploadOffset",
    summary="How much of a file is here",
    response_class=Response,
    responses=errors(400, 401, 403, 404, 422, 503),
)
async def upload_offset(upload_id: UploadId, call: Calling, request: Request) -> Response:
    """How much of an upload is here (`Upload-Offset`); asked with HEAD. Needs `corpus.ingest`."""
    ingest = await _ingest(call, request)
    await ingest.own_job(upload_id)
    for state in (OPEN, READY):
        for sent in await asyncio.to_thread(ingest.desk.uploads.files, state, upload_id):
            try:
                size = await asyncio.to_thread(ingest.desk.uploads.spool(state, upload_id, sent).size)
            except FileNotFoundError:  # it became whole meanwhile, or was ingested
                continue
            return Response(headers=_HEADERS | {"upload-offset": str(size), "upload-length": str(sent.length)})
    raise NoSuchThing("There is no such upload.")


@router.patch(
    "/{upload_id}",
    operation_id="continueUpload",
    summary="Send the next part",
    status_code=204,
    response_class=Response,
    responses=errors(400, 401, 403, 404, 408, 409, 413, 415, 422, 500, 503),
    openapi_extra=_CONTINUATION,
)
async def continue_upload(upload_id: UploadId, call: Writing, request: Request) -> Response:
    """The next part of a file, where the last one ended; what came of a part that was cut off is kept. With the last
    byte the job is ready. Needs `corpus.ingest`."""
    ingest = await _ingest(call, request)
    if request.headers.get("content-type") not in (PART, BYTES):
        raise UnsupportedMediaType(f"The content type must be {PART} or {BYTES}.")
    job = await ingest.own_job(upload_id)
    found = await asyncio.to_thread(ingest.desk.uploads.files, OPEN, upload_id)
    if not found or job.is_final:
        raise NoSuchThing("There is no such upload.")
    async with ingest.desk.sending.one():
        size = await _append(ingest, job, found[0], request)
    return Response(status_code=204, headers=_HEADERS | {"upload-offset": str(size)})


@router.delete(
    "/{upload_id}",
    operation_id="endUpload",
    summary="Give up an upload",
    status_code=204,
    response_class=Response,
    responses=errors(400, 401, 403, 404, 422, 503),
)
async def end_upload(upload_id: UploadId, call: Writing, request: Request) -> Response:
    """Give up an upload that is not whole; nothing of it is kept. Needs `corpus.ingest`."""
    ingest = await _ingest(call, request)
    job = await ingest.own_job(upload_id)
    if job.state != "arriving":
        raise NoSuchThing("There is no such upload.")
    await ingest.forget(job)
    return Response(status_code=204, headers=_HEADERS)


async def _ingest(call: Call, request: Request) -> IngestCall:
    call.caller.require(INGEST)
    if request.headers.get("tus-resumable", VERSION) != VERSION:
        raise MalformedBody(f"This server speaks tus {VERSION}.")
    return await ingest_call(call, request)


async def _append(ingest: IngestCall, job: Job, sent: SentFile, request: Request) -> int:
    """Adds the body to the file, and completes the job with its last byte, before another request can hold the file;
    gives its size then."""
    spool = ingest.desk.uploads.spool(OPEN, job.job_id, sent)
    opening = spool.appending(offset=_number(request, "upload-offset"), length=sent.length)
    file = await asyncio.to_thread(opening.__enter__)
    server = ingest.call.system.configuration.settings.server
    left = sent.length - file.size
    try:
        async for piece in body_of(request, most=left, idle_s=server.admission.body_ms / 1000):
            await asyncio.to_thread(file.write, piece)
        if file.size == sent.length:
            await _complete(ingest, job)
    finally:
        await asyncio.to_thread(opening.__exit__, None, None, None)
    return file.size


async def _complete(ingest: IngestCall, job: Job) -> None:
    ledger = ingest.call.system.services.ledger
    await queue(ingest.desk.uploads, ingest.jobs, job, ledger, request_id=ingest.call.request_id)
    ingest.desk.wake()


def _number(request: Request, header: str) -> int:
    text = request.headers.get(header, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise RequestRejected("A header is not valid.", [FieldProblem(header, "number", "not a whole number")])
    return int(text)


def _metadata(header: str) -> Mapping[str, str]:
    """The pairs of `Upload-Metadata`. Raises RequestRejected."""
    wrong = RequestRejected("A header is not valid.", [FieldProblem("upload-metadata", "form", "not pairs in Base64")])
    if len(header) > _METADATA_BYTES:
        raise wrong
    found: dict[str, str] = {}
    for pair in filter(None, (each.strip() for each in header.split(","))):
        name, _, value = pair.partition(" ")
        try:
            text = base64.b64decode(value, validate=True).decode()
        except (binascii.Error, ValueError):
            raise wrong from None
        if name in found:
            raise wrong
        found[name] = text
    return found
