"""The outcome of a job of ingest, on the ledger: who, what, how many, and which versions (ADR 0077).

The entry follows what the job did, and comes before the job's state says that it has ended, so that a job without one
is still to be ended: by whoever works next, from the rows of its run.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ledger.canonical import canonical_json
from ledger.errors import EntryConflict
from ledger.ledger import Ledger
from ledger.model import Kind
from retrieval.registry.jobs import Job, JobState, SqlJobs

if TYPE_CHECKING:
    from retrieval.registry.store import FileJob

VERSION = "exhibit.ingest/1"
_COUNTED = ("passages", "observations", "features")


async def record_ended(
    ledger: Ledger,
    job: Job,
    jobs: SqlJobs,
    *,
    state: JobState,
    error_code: str | None = None,
    corpus: str | None = None,
) -> None:
    """Record that a job has ended so; `corpus` is the hash of the corpus after a run that came to its end. A job that
    was recorded before its process was killed stays as it was told then. Raises LedgerUnavailable."""
    rows = [each.file for each in await jobs.files(job)]
    detail = {
        "v": VERSION,
        "job_id": job.job_id,
        "run_id": job.run_id,
        "who": job.owner,
        "origin": job.origin,
        "collection": job.collection,
        "label": job.label,
        "groups": list(job.groups),
        "state": state,
        "error_code": error_code,
        "corpus": corpus,
        **_told(rows),
    }
    with suppress(EntryConflict):
        await ledger.record(
            Kind.CONFIG, tenant=job.tenant, request_id=job.job_id, parts={"detail": canonical_json(detail)}
        )


def _told(rows: list[FileJob]) -> dict[str, Any]:
    """The fates of the files: how many of each, the versions that were taken in, and one digest over all rows."""
    fates = [[row.source_id, row.state, row.document_id, row.error_code] for row in rows]
    taken = [row for row in rows if row.state == "done"]
    return {
        "files": dict(Counter(row.state for row in rows)),
        "records": {name: sum(getattr(row, name) for row in taken) for name in _COUNTED},
        "errors": dict(Counter(row.error_code for row in rows if row.state == "failed" and row.error_code)),
        "documents": sorted({row.document_id for row in taken if row.document_id}),
        "rows": "sha256:" + hashlib.sha256(canonical_json(fates)).hexdigest(),
    }
