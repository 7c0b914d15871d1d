"""`/api/v1/documents`: files in a form, to be taken in by a job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from api.errors import ActionForbidden, FieldProblem, PayloadTooLarge, RequestRejected
from api.http.callers import SECURITY, Calling, Writing
from api.http.ingest import IngestCall, group_names, ingest_call
from api.http.sending import Part, parts_of
from api.jobs.asking import INGEST, Placing, begin, job_document, placed, queue
from api.jobs.uploads import OPEN, SentFile, safe_name, source_of
from api.schemas.errors import errors
from api.schemas.jobs import IngestTerms, JobResponse
from api.wiring import new_id
from retrieval.ingest.label import DEFAULT_COLLECTION
from retrieval.registry.jobs import Job

router = APIRouter(prefix="/api/v1/documents", tags=["ingest"], dependencies=SECURITY)
_FIELD_BYTES = 512
_FIELDS = ("label", "collection", "group")
FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "label": {"type": "string", "description": "sensitivity label", "example": "public"},
                        "collection": {"type": "string", "description": "collection; `default` if absent"},
                        "group": {"type": "array", "items": {"type": "string"}, "description": "groups that may read"},
                        "file": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "the files, after the other fields",
                        },
                    },
                }
            }
        },
    }
}


@router.get(
    "/terms",
    operation_id="getIngestTerms",
    summary="What may be sent, and under which labels",
    responses=errors(401, 403, 503),
)
async def terms(call: Calling, request: Request) -> IngestTerms:
    """The terms of ingest for the caller: what may be sent, how large, and under which labels; policy is asked about
    each. Needs `corpus.ingest`."""
    call.caller.require(INGEST)
    ingest = await ingest_call(call, request)
    known, settings = ingest.terms, ingest.desk.settings
    labels = [label for label in known.labels if await _may(ingest, Placing(label=label))]
    return IngestTerms(
        collection=DEFAULT_COLLECTION,
        labels=labels,
        default_label=known.default_labels.get(DEFAULT_COLLECTION),
        kinds=list(ingest.desk.kinds),
        file_bytes=settings.file_bytes,
        request_bytes=settings.request_bytes,
        request_files=settings.request_files,
    )


async def _may(ingest: IngestCall, wanted: Placing) -> bool:
    try:
        await placed(wanted, ingest.asker, ingest.terms)
    except ActionForbidden:
        return False
    return True


@router.post(
    "",
    operation_id="sendDocuments",
    summary="Send files to be ingested",
    status_code=202,
    response_model=JobResponse,
    responses=errors(400, 401, 403, 408, 413, 415, 422, 500, 503),
    openapi_extra=FORM,
)
async def send(call: Writing, request: Request) -> JSONResponse:
    """Files of a form become a job, which takes them in. Its fields come before its files. Nothing is kept of a form
    that is refused. Needs `corpus.ingest`, and a label that policy lets the caller see."""
    call.caller.require(INGEST)
    ingest = await ingest_call(call, request)
    settings = ingest.desk.settings
    length = request.headers.get("content-length", "")
    most = int(length[:20]) if length.isdigit() else settings.request_bytes
    async with ingest.desk.sending.one(), ingest.desk.room(most):
        job = await _received(ingest, request)
    ledger = call.system.services.ledger
    try:
        queued = await queue(ingest.desk.uploads, ingest.jobs, job, ledger, request_id=call.request_id)
    except BaseException:
        await ingest.forget(job)
        raise
    ingest.desk.wake()
    told = await job_document(queued, ingest.jobs, ingest.desk.uploads)
    return JSONResponse(told, 202, headers={"location": f"/api/v1/jobs/{queued.job_id}"})


async def _received(ingest: IngestCall, request: Request) -> Job:
    """The job of a form, with all its bytes under the home."""
    form = _Form(ingest)
    server = ingest.call.system.configuration.settings.server
    try:
        heard = parts_of(request, most=ingest.desk.settings.request_bytes, idle_s=server.admission.body_ms / 1000)
        async for each in heard:
            if isinstance(each, Part):
                await form.begin(each)
            elif each is None:
                await form.end()
            else:
                await form.add(each)
        return await form.finish()
    except BaseException:
        await form.drop()
        raise


class _Form:
    """A form as it arrives: fields in memory, files under the home."""

    def __init__(self, ingest: IngestCall) -> None:
        self._ingest = ingest
        self._fields: dict[str, list[str]] = {}
        self._files: list[SentFile] = []
        self._job: Job | None = None
        self._part: Part | None = None
        self._text = b""
        self._open = ExitStack()
        self._write: Callable[[bytes], None] | None = None
        self._length = 0

    async def begin(self, part: Part) -> None:
        """A part begins. Raises RequestRejected, and for the first file as `placed`."""
        self._part, self._text, self._length = part, b"", 0
        if part.file is None:
            if part.name not in _FIELDS or self._job is not None:
                why = "not a field of this form" if self._job is None else "comes after a file"
                raise RequestRejected("The form is not valid.", [FieldProblem(part.name[:40], "unexpected", why)])
            return
        if part.name != "file" or len(self._files) >= self._ingest.desk.settings.request_files:
            raise RequestRejected(
                "The form is not valid.", [FieldProblem("file", "unexpected", "too many, or misnamed")]
            )
        name = safe_name(part.file)
        if name in {each.name for each in self._files}:
            raise RequestRejected("Two files have one name.", [FieldProblem("file", "repeated", "sent twice")])
        self._ingest.desk.require_kind(name)
        job = self._job or await self._placed()
        uploads, source = self._ingest.desk.uploads, source_of(job.tenant, job.owner, job.collection or "", name)
        self._files.append(uploads.sent_file(name, source))
        spool = uploads.spool(OPEN, job.job_id, self._files[-1])
        await asyncio.to_thread(spool.create)
        opened = self._open.enter_context(spool.appending(offset=0, length=self._ingest.desk.settings.file_bytes))
        self._write = opened.write

    async def add(self, data: bytes) -> None:
        """Bytes of the part. Raises PayloadTooLarge."""
        if self._write is None:
            self._text += data
            if len(self._text) > _FIELD_BYTES:
                raise PayloadTooLarge("A field of the form is too long.")
            return
        self._length += len(data)
        await asyncio.to_thread(self._write, data)

    async def end(self) -> None:
        """The part has ended. Raises RequestRejected for a field that is no text."""
        if self._write is not None:
            self._write = None
            await asyncio.to_thread(self._open.close)
            self._files[-1] = replace(self._files[-1], length=self._length)
        elif self._part is not None:
            try:
                self._fields.setdefault(self._part.name, []).append(self._text.decode())
            except UnicodeDecodeError:
                raise RequestRejected(
                    "The form is not valid.", [FieldProblem(self._part.name, "encoding", "not UTF-8")]
                ) from None

    async def finish(self) -> Job:
        """The job of the whole form. Raises RequestRejected where it has no file."""
        if self._job is None:
            raise RequestRejected("A file is needed.", [FieldProblem("file", "missing", "the form has no file")])
        await asyncio.to_thread(self._ingest.desk.uploads.describe, self._job.job_id, self._files)
        return self._job

    async def drop(self) -> None:
        """Keep nothing of it."""
        self._open.close()
        if self._job is not None:
            await self._ingest.forget(self._job)

    async def _placed(self) -> Job:
        once = {name: self._fields.get(name, []) for name in ("label", "collection")}
        for name, values in once.items():
            if len(values) > 1:
                raise RequestRejected("The form is not valid.", [FieldProblem(name, "repeated", "given twice")])
        wanted = Placing(
            collection=next(iter(once["collection"]), None) or None,
            label=next(iter(once["label"]), None) or None,
            groups=group_names([each for each in self._fields.get("group", []) if each]),
        )
        self._job = await new_job(self._ingest, wanted)
        await begin(self._ingest.desk.uploads, self._ingest.jobs, self._job)
        return self._job


async def new_job(ingest: IngestCall, wanted: Placing) -> Job:
    """A job of the caller's under these access facts. Raises as `placed`."""
    found = await placed(wanted, ingest.asker, ingest.terms)
    subject = ingest.call.caller.subject
    return Job(new_id(), subject.tenant, subject.id, "upload", found.collection, found.label, found.groups)
