"""Jobs of ingest, durable beside the store of record: what is to be taken in, for whom, and how far it has come.

The files of a job are the rows of its run (`ingest_file`). A job that is `running` while nobody holds the corpus for
ingest was cut off; whoever holds it next goes on with it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Literal

from retrieval.registry.sql.engine import Engine, Row, Session, marks
from retrieval.registry.store import FileJob

JobState = Literal["arriving", "queued", "running", "done", "failed", "cancelled"]
"""A job's way; the last three are final. `arriving`: its bytes are not all here yet."""
FINAL: frozenset[JobState] = frozenset(("done", "failed", "cancelled"))
Origin = Literal["paths", "upload"]
"""Whence the files come: paths on this machine, or bytes that were sent."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job. `owner` is the principal whose it is; `collection`, `label` and `groups` are the access facts that its
    files get where no manifest says otherwise; `files` counts them; `attempts` counts how often it was begun; times are
    UTC milliseconds."""

    job_id: str
    tenant: str
    owner: str
    origin: Origin
    collection: str | None
    label: str | None
    groups: tuple[str, ...] = ()
    files: int = 0
    state: JobState = "queued"
    run_id: str | None = None
    entry_id: str | None = None
    attempts: int = 0
    cancelled: bool = False
    error_code: str | None = None
    created_ms: int = 0
    updated_ms: int = 0

    @property
    def is_final(self) -> bool:
        """True if nothing more happens to it."""
        return self.state in FINAL


@dataclass(frozen=True, slots=True)
class FileProgress:
    """The row of one file of a job, and when it was last written."""

    file: FileJob
    updated_ms: int


_JOB = ", ".join(each.name for each in fields(Job))
_FILE = ", ".join(each.name for each in fields(FileJob))


class SqlJobs:
    """Jobs on the engine that it is given (which it closes). Every method is one transaction and raises
    `StoreUnavailable`."""

    def __init__(self, *, engine: Engine) -> None:
        self._engine = engine

    async def prepare(self) -> None:
        """Make the tables, where the store has none yet."""
        await self._engine.write(lambda s: None)

    async def put(self, job: Job) -> Job:
        """Adds a job, or rewrites all of it but whether it was cancelled."""
        made = _stamped(job)
        await self._engine.write(lambda s: _put(s, made))
        return made

    async def begin(self, job_id: str, run_id: str) -> Job | None:
        """Makes a job running, in the run that it had or in this one; None where it has ended or is to end."""
        return await self._engine.write(lambda s: _begin(s, job_id, run_id))

    async def cancel(self, job_id: str) -> Job | None:
        """Asks that a job be ended. One that has not begun has ended with this; None where there is none."""
        return await self._engine.write(lambda s: _cancel(s, job_id))

    async def job(self, job_id: str) -> Job | None:
        """The job of that id."""
        found = await self.jobs_of((job_id,))
        return found[0] if found else None

    async def jobs_of(self, job_ids: Collection[str]) -> tuple[Job, ...]:
        """Those of the ids that there are, the oldest first."""
        wanted = sorted(job_ids)
        where = f"job_id IN ({marks(len(wanted))}) ORDER BY job_id"
        return await self._engine.read(lambda s: _jobs(s, where, wanted), scope=None)

    async def newest(
        self, tenant: str, *, owner: str | None = None, limit: int, before: str | None = None
    ) -> tuple[Job, ...]:
        """The newest jobs of a tenant, of one owner or of all, the newest first; those older than `before`."""
        named = {"tenant = ?": tenant, "owner = ?": owner, "job_id < ?": before}
        wanted = {condition: value for condition, value in named.items() if value is not None}
        ordered = f"{' AND '.join(wanted)} ORDER BY job_id DESC LIMIT {limit:d}"
        given = tuple(wanted.values())
        return await self._engine.read(lambda s: _jobs(s, ordered, given), scope=None)

    async def unfinished(self, origin: Origin) -> tuple[Job, ...]:
        """The jobs of that origin that are said to be running, the oldest first."""
        where = "origin = ? AND state = 'running' ORDER BY job_id"
        return await self._engine.read(lambda s: _jobs(s, where, (origin,)), scope=None)

    async def files(self, job: Job, *, since_ms: int = 0) -> tuple[FileProgress, ...]:
        """The rows of the job's run that were written at that time or later, in order; none before it began."""
        if job.run_id is None:
            return ()
        statement = (
            f"SELECT {_FILE}, updated_ms FROM ingest_file"  # noqa: S608
            " WHERE tenant = ? AND run_id = ? AND updated_ms >= ? ORDER BY position"
        )
        given = (job.tenant, job.run_id, since_ms)
        found = await self._engine.read(lambda s: s.rows(statement, given), scope=None)
        return tuple(FileProgress(FileJob(*row[:-1]), row[-1]) for row in found)

    async def close_files(self, job: Job, *, code: str, message: str) -> None:
        """Fails every file of the job's run that has not ended."""
        statement = (
            "UPDATE ingest_file SET state = 'failed', error_code = ?, error_message = ?, document_id = NULL,"
            " updated_ms = ? WHERE tenant = ? AND run_id = ? AND state NOT IN ('done', 'skipped', 'failed')"
        )
        given = (code, message, _now_ms(), job.tenant, job.run_id or "")
        await self._engine.write(lambda s: s.run(statement, given))

    async def aclose(self) -> None:
        """Close the engine."""
        await self._engine.aclose()


def _stamped(job: Job) -> Job:
    now_ms = _now_ms()
    return Job(**{**asdict(job), "created_ms": job.created_ms or now_ms, "updated_ms": now_ms})


def _put(session: Session, job: Job) -> None:
    told = asdict(job) | {"groups": json.dumps(job.groups), "cancelled": int(job.cancelled)}
    changing = ", ".join(f"{name} = excluded.{name}" for name in told if name not in ("job_id", "cancelled"))
    session.run(
        f"INSERT INTO ingest_job ({_JOB}) VALUES ({marks(len(told))})"  # noqa: S608
        f" ON CONFLICT (job_id) DO UPDATE SET {changing}",
        tuple(told.values()),
    )


def _begin(session: Session, job_id: str, run_id: str) -> Job | None:
    session.run(
        "UPDATE ingest_job SET state = 'running', run_id = coalesce(run_id, ?), attempts = attempts + 1,"
        " updated_ms = ? WHERE job_id = ? AND cancelled = 0 AND state IN ('arriving', 'queued', 'running')",
        (run_id, _now_ms(), job_id),
    )
    found = _jobs(session, "job_id = ? AND cancelled = 0 AND state = 'running'", (job_id,))
    return found[0] if found else None


def _cancel(session: Session, job_id: str) -> Job | None:
    now_ms = _now_ms()
    session.run(
        "UPDATE ingest_job SET cancelled = 1, updated_ms = ?,"
        " state = CASE WHEN state = 'running' THEN state ELSE 'cancelled' END"
        " WHERE job_id = ? AND state IN ('arriving', 'queued', 'running')",
        (now_ms, job_id),
    )
    found = _jobs(session, "job_id = ?", (job_id,))
    return found[0] if found else None


def _jobs(session: Session, where: str, parameters: Sequence[object]) -> tuple[Job, ...]:
    found = session.rows(f"SELECT {_JOB} FROM ingest_job WHERE {where}", parameters)  # noqa: S608
    return tuple(_job(row) for row in found)


def _job(row: Row) -> Job:
    told = dict(zip((each.name for each in fields(Job)), row, strict=True))
    return Job(**{**told, "groups": tuple(json.loads(told["groups"])), "cancelled": bool(told["cancelled"])})


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
