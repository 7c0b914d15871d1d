"""Requests that callers make of jobs: to ingest files under access facts that policy lets them see, to see their own
jobs, to end one, to try again. The command line asks as the owner of the home, who sees and may do all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ai.case.case import Services
from ai.governance.scoping import NO_PROMPT, class_facts
from api.errors import ActionForbidden, FieldProblem, KeyReused, NoSuchThing, RequestRejected
from api.jobs.uploads import KEPT, OPEN, READY, SentFile, Uploads
from ledger.canonical import canonical_json
from ledger.ledger import Ledger
from ledger.model import Kind
from policy.model import RequestFacts, Subject
from retrieval.errors import IngestError, LabelMissing
from retrieval.ingest.label import AccessTerms, visibility_of
from retrieval.ingest.report import NOTE
from retrieval.ingest.values import Access, SourceSpec
from retrieval.registry.jobs import Job, SqlJobs
from retrieval.scope import VisibilityClass

INGEST, CURATE = "corpus.ingest", "registry.curate"
VERSION = "exhibit.upload/1"
_ABSENT = "There is no such job."


@dataclass(frozen=True, slots=True)
class Placing:
    """The access facts that sent files are to have; None where the caller leaves one to its default."""

    collection: str | None = None
    label: str | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asker:
    """A caller who asks: a subject, its request, and the services that decide and record."""

    subject: Subject
    request_id: str
    services: Services

    async def admits(self, visibility: VisibilityClass) -> bool:
        """True if the query point lets the subject see the class, whether there is anything in it or not."""
        services = self.services
        decision = await services.points(services.clock_ms()).query(
            request=RequestFacts(id=self.request_id),
            subject=self.subject,
            prompt=NO_PROMPT,
            classes=class_facts([visibility]),
        )
        return decision.allowed and visibility.class_id in decision.classes

    async def may_see(self, job: Job) -> bool:
        """True for the subject's own jobs and, with the capability to curate, for sent files of a class that it may
        see. Files that were named on the machine are told on the corpus page, each inside its own scope."""
        if job.tenant != self.subject.tenant:
            return False
        if job.owner == self.subject.id:
            return True
        if CURATE not in self.subject.capabilities or job.origin != "upload":
            return False
        return await self.admits(class_of(job))


def class_of(job: Job) -> VisibilityClass:
    """The class that a job of sent files puts them in."""
    return VisibilityClass(tenant=job.tenant, collection=job.collection or "", label=job.label or "", groups=job.groups)


async def placed(wanted: Placing, asker: Asker, terms: AccessTerms) -> VisibilityClass:
    """The class that files are to be in: what is not said is defaulted as on the command line. Raises RequestRejected
    for a collection or label that cannot be, and where there is none; ActionForbidden for a class that policy does not
    let the subject see."""
    source = SourceSpec(Path("file"), "file", "file", access=Access(groups=wanted.groups))
    try:
        found = visibility_of(
            source, tenant=asker.subject.tenant, collection=wanted.collection, label=wanted.label, terms=terms
        )
    except LabelMissing:
        raise RequestRejected(
            "A label is needed.", [FieldProblem("label", "missing", "neither named nor the collection's default")]
        ) from None
    except IngestError:
        wrong = "label" if wanted.label is not None and wanted.label not in terms.labels else "collection"
        raise RequestRejected(
            "The access facts are not valid.", [FieldProblem(wrong, "unknown", f"not a {wrong} that there may be")]
        ) from None
    if not await asker.admits(found):
        raise ActionForbidden("Policy does not let you see what would be under these access facts.")
    return found


async def begin(uploads: Uploads, jobs: SqlJobs, job: Job) -> Path:
    """A new job whose bytes arrive from now on, and the folder for them."""
    await jobs.put(replace(job, state="arriving"))
    return await asyncio.to_thread(uploads.begin, job.job_id)


async def queue(uploads: Uploads, jobs: SqlJobs, job: Job, ledger: Ledger, *, request_id: str) -> Job:
    """Puts a job whose bytes are all here on the ledger, then among those that are done. Raises LedgerUnavailable: then
    it is not begun."""
    files = await asyncio.to_thread(uploads.files, OPEN, job.job_id)
    entry_id = await _record(uploads, job, files, ledger, request_id=request_id)
    await asyncio.to_thread(uploads.move, job.job_id, OPEN, READY)
    return await jobs.put(replace(job, state="queued", files=len(files), entry_id=entry_id))


async def _record(
    uploads: Uploads, job: Job, files: Sequence[SentFile], ledger: Ledger, *, request_id: str, again: str | None = None
) -> str:
    state, kept_by = (OPEN, job.job_id) if again is None else (KEPT, again)

    def told() -> list[dict[str, Any]]:
        return [
            {
                "source_id": each.source_id,
                "bytes": each.length,
                "sha256": uploads.spool(state, kept_by, each).sha256(),
            }
            for each in files
        ]

    detail = {
        "v": VERSION,
        "job_id": job.job_id,
        "who": job.owner,
        "collection": job.collection,
        "label": job.label,
        "groups": list(job.groups),
        "files": await asyncio.to_thread(told),
    }
    recorded = await ledger.record(
        Kind.CONFIG, tenant=job.tenant, request_id=request_id, parts={"detail": canonical_json(detail)}
    )
    return recorded.entry_id


async def try_again(uploads: Uploads, jobs: SqlJobs, job: Job, new_id: str, ledger: Ledger, *, request_id: str) -> Job:
    """A new job of the files that an ended one did not take in. Raises NoSuchThing where none of them is kept."""
    files = await asyncio.to_thread(uploads.files, KEPT, job.job_id)
    if not files:
        raise NoSuchThing("No file of this job waits for another try.")
    again = Job(new_id, job.tenant, job.owner, "upload", job.collection, job.label, job.groups, files=len(files))
    entry_id = await _record(uploads, again, files, ledger, request_id=request_id, again=job.job_id)
    await jobs.put(replace(again, state="arriving", entry_id=entry_id))
    try:
        await asyncio.to_thread(uploads.take_again, job.job_id, new_id)
    except NoSuchThing:  # somebody else tries again
        await jobs.cancel(new_id)
        raise
    return await jobs.put(replace(again, state="queued", entry_id=entry_id))


async def end(uploads: Uploads, jobs: SqlJobs, job: Job) -> Job:
    """Ends a job: at once if it has not begun, else as soon as the worker looks; what it took in stays. Raises
    KeyReused where it has ended."""
    if job.is_final:
        raise KeyReused("The job has ended.")
    ended = await jobs.cancel(job.job_id)
    if ended is None:
        raise NoSuchThing(_ABSENT)
    if ended.state == "cancelled":
        await asyncio.to_thread(uploads.remove, job.job_id)
    return ended


async def job_document(job: Job, jobs: SqlJobs, uploads: Uploads) -> dict[str, Any]:
    """A job with the fate of each file, as JSON values."""
    rows = [file_document(each.file.path, each.file, each.updated_ms) for each in await jobs.files(job)]
    if not rows and job.origin == "upload" and not job.is_final:
        sent = [each for state in (OPEN, READY) for each in await asyncio.to_thread(uploads.files, state, job.job_id)]
        rows = [_waiting(each, job.updated_ms) for each in sent]
    return job_facts(job) | {"files": rows}


def job_facts(job: Job) -> dict[str, Any]:
    """The facts of a job that are shown, without its files."""
    told = ("job_id", "origin", "collection", "label", "state", "error_code", "entry_id", "created_ms", "updated_ms")
    facts = {name: getattr(job, name) for name in told}
    return facts | {"groups": list(job.groups), "file_count": job.files, "cancelled": job.cancelled}


def file_document(path: str, row: Any, updated_ms: int) -> dict[str, Any]:
    """The facts of a file that are shown: its name, not its place. That a known one keeps other access facts is its
    owner's to know, who sees them."""
    told = ("source_id", "state", "stage", "document_id", "passages", "observations", "features")
    silent = row.error_code == NOTE and row.state == "skipped"
    return {
        "name": Path(path).name,
        **{name: getattr(row, name) for name in told},
        "error_code": None if silent else row.error_code,
        "error_message": None if silent else row.error_message,
        "updated_ms": updated_ms,
    }


def _waiting(sent: SentFile, updated_ms: int) -> dict[str, Any]:
    counts = {"passages": 0, "observations": 0, "features": 0}
    empty = {"document_id": None, "error_code": None, "error_message": None}
    known = {"name": sent.name, "source_id": sent.source_id, "state": "queued", "stage": ""}
    return known | counts | empty | {"updated_ms": updated_ms}
