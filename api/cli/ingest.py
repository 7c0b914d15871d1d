"""`exhibit ingest`: documents into the folder."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import configuration, emit, note, table
from api.cli.options import AsJson, Home, Tenant
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from retrieval.ingest.pipeline import IngestReport, Progress

app = typer.Typer(help="Take in documents.", add_completion=False, rich_markup_mode=None)


@app.command()
def ingest(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders.")] = None,
    *,
    manifest: Annotated[
        Path | None, typer.Option("--manifest", help="Manifest with titles, licences and access facts.")
    ] = None,
    collection: Annotated[
        str | None, typer.Option("--collection", help="Collection, where the manifest names none.")
    ] = None,
    label: Annotated[str | None, typer.Option("--label", help="Label, where the manifest names none.")] = None,
    tenant: Tenant = "default",
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the last run ended.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Take in Markdown, text, HTML, PDF, CSV, TSV and GeoJSON. A file that fails does not stop the rest; exit code 1
    says that one did."""
    if not paths and manifest is None:
        raise typer.BadParameter("name files, folders or a manifest")
    report = asyncio.run(
        take_in(
            configuration(home),
            paths or [],
            manifest=manifest,
            collection=collection,
            label=label,
            tenant=tenant,
            resume=resume,
        )
    )
    emit(report_json(report), as_json=as_json, render=lambda: report_text(report))
    if report.failed:
        raise typer.Exit(EXIT_FAILED)


async def take_in(
    configured: Any, paths: list[Path], *, tenant: str = "default", quiet: bool = False, **chosen: Any
) -> IngestReport:
    """Run one ingest with a progress bar on stderr."""
    from api.wiring import open_ingest

    async with open_ingest(configured) as ingest:
        with _progress(quiet=quiet) as progress:
            return await ingest.run(paths, tenant=tenant, progress=progress, **chosen)


def report_json(report: IngestReport) -> dict[str, Any]:
    """The report as a document."""
    return {
        "run_id": report.run_id,
        "files": [asdict(file) for file in report.files],
        "superseded": list(report.superseded),
        "manifest_hash": report.manifest_hash,
    }


def report_text(report: IngestReport) -> str:
    rows = [
        [
            Path(f.path).name,
            f.state,
            f.passages,
            f.observations,
            f.features,
            f"{f.error_code}: {f.error_message}" if f.error_code else "",
        ]
        for f in report.files
    ]
    lines = table(["file", "state", "passages", "observations", "features", "error"], rows)
    return f"{lines}\n\ncorpus {report.manifest_hash}"


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Progress | None]:
    """A bar on a terminal; a line per finished file otherwise."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield (
            lambda job: (
                note(f"{job.state}: {Path(job.path).name}") if job.state in ("done", "skipped", "failed") else None
            )
        )
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("ingest", total=None)
        seen: dict[int, bool] = {}

        def show(job: Any) -> None:
            seen[job.position] = job.state in ("done", "skipped", "failed")
            name = Path(job.path).name
            bar.update(
                task,
                total=max(len(seen), job.position + 1),
                completed=sum(seen.values()),
                description=f"{job.stage or 'queued'} {name}",
            )

        yield show
