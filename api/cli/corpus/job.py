"""`exhibit job`: jobs of ingest, as the owner of the home sees them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer

from api.cli.console import configuration, emit, kept_home, note, table
from api.cli.options import AsJson, Home, Tenant

app = typer.Typer(
    help="List ingest jobs; run, end or repeat them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
JobId = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]


@app.command("list")
def list_jobs(
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="Maximum number of jobs.")] = 50,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """The newest jobs, with their state, owner and number of files."""
    found = asyncio.run(_listed(home, tenant, limit))
    rows = [[j["job_id"], j["state"], j["origin"], j["owner"], j["file_count"], j["error_code"] or ""] for j in found]
    emit(found, as_json=as_json, render=lambda: table(["job", "state", "origin", "owner", "files", "error"], rows))


@app.command()
def show(job: JobId, home: Home = None, as_json: AsJson = False) -> None:
    """One job with the state of each file. Exit code 3: no such job."""
    found = asyncio.run(_shown(home, job))
    rows = [
        [f["name"], f["state"], f["stage"], f["error_code"] or "", f["error_message"] or ""] for f in found["files"]
    ]
    text = table(["file", "state", "stage", "code", "message"], rows)
    emit(found, as_json=as_json, render=lambda: f"{found['state']}\n{text}")


@app.command()
def cancel(job: JobId, home: Home = None, as_json: AsJson = False) -> None:
    """End a job; what it has ingested stays. Exit code 5: the job has already ended."""
    found = asyncio.run(_cancelled(home, job))
    emit(found, as_json=as_json, render=lambda: f"{found['state']}" + (", to be ended" if found["cancelled"] else ""))


@app.command()
def retry(job: JobId, home: Home = None, as_json: AsJson = False) -> None:
    """Make a new job of the sent files that a job did not ingest. Exit code 3: none of them is kept."""
    found = asyncio.run(_retried(home, job))
    note(f"recorded as {found['entry_id']}")
    emit(found, as_json=as_json, render=lambda: found["job_id"])


@app.command()
def work(
    *,
    once: Annotated[bool, typer.Option("--once", help="Stop when no job is ready.")] = False,
    home: Home = None,
) -> None:
    """Run jobs whose files are in this home, until stopped. Several workers may share a home whose stores are on
    servers; one works at a time, and another one continues if it is killed."""
    from api.jobs.work import keep_working, work_off

    configured = kept_home(home)
    if once:
        note(f"{asyncio.run(work_off(configured))} jobs ended")
        return
    asyncio.run(keep_working(configured, asyncio.Event()))


async def _listed(home: Any, tenant: str, limit: int) -> list[dict[str, Any]]:
    from api.jobs.asking import job_facts
    from api.wiring import open_job_store, require_corpus

    configured = configuration(home)
    require_corpus(configured)
    async with open_job_store(configured) as jobs:
        await jobs.prepare()
        return [job_facts(each) | {"owner": each.owner} for each in await jobs.newest(tenant, limit=limit)]


async def _shown(home: Any, job_id: str) -> dict[str, Any]:
    from api.jobs.asking import job_document

    async with _opened(home, job_id) as (jobs, uploads, job, _):
        return await job_document(job, jobs, uploads) | {"owner": job.owner}


async def _cancelled(home: Any, job_id: str) -> dict[str, Any]:
    from api.jobs.asking import end, job_facts

    async with _opened(home, job_id) as (jobs, uploads, job, _):
        return job_facts(await end(uploads, jobs, job))


async def _retried(home: Any, job_id: str) -> dict[str, Any]:
    from api.jobs.asking import job_facts, try_again
    from api.wiring import new_id
    from api.wiring.ledger.log import log_to_write

    async with _opened(home, job_id) as (jobs, uploads, job, configured), log_to_write(configured) as ledger:
        return job_facts(await try_again(uploads, jobs, job, new_id(), ledger, request_id=new_id()))


@asynccontextmanager
async def _opened(home: Any, job_id: str) -> AsyncIterator[tuple[Any, Any, Any, Any]]:
    """The jobs and the sent bytes of a home, one job, and the configuration. Raises NoSuchThing."""
    from api.errors import NoSuchThing
    from api.jobs.uploads import Uploads
    from api.wiring import open_job_store, require_corpus

    configured = configuration(home)
    require_corpus(configured)
    async with open_job_store(configured) as jobs:
        await jobs.prepare()
        job = await jobs.job(job_id)
        if job is None:
            raise NoSuchThing(f"there is no job {job_id}")
        yield jobs, Uploads(configured.home, configured.seal), job, configured
