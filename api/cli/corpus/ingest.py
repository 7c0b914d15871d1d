"""`exhibit ingest`: documents into the folder."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import configuration, emit, note, table
from api.cli.options import AsJson, Home, Tenant
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from retrieval.ingest.explain import Explanation
    from retrieval.ingest.report import IngestReport, Progress
    from retrieval.registry.store import FileJob

_LISTINGS = {
    "passages": "passages",
    "observations": "observations",
    "features": "features",
    "entities": "entities",
    "relationships": "relationships",
    "outside": "stretches of text in no record",
    "unsearchable": "records that no search finds, because they read like instructions",
}
app = typer.Typer(help="Ingest documents.", add_completion=False, rich_markup_mode=None)


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
    resume: Annotated[bool, typer.Option("--resume", help="Resume where the last run stopped.")] = False,
    sync: Annotated[
        bool, typer.Option("--sync", help="With one folder: also withdraw sources whose files are no longer in it.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every file, even if its size and times have not changed.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --sync: show the plan, change nothing.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what would be made of the files; ingest nothing.")
    ] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Ingest text, tables and features of the kinds that docs/ingest.md lists. A file that fails does not stop the
    others; the exit code is then 1."""
    if not paths and manifest is None:
        raise typer.BadParameter("name files, folders or a manifest")
    if sync and (manifest is not None or len(paths or ()) != 1):
        raise typer.BadParameter("--sync takes one folder")
    if dry_run and not sync:
        raise typer.BadParameter("--dry-run shows the plan of --sync")
    if explain and (sync or resume or verify):
        raise typer.BadParameter("--explain ingests nothing: leave out --sync, --resume and --verify")
    if explain:
        chosen = {"manifest": manifest, "collection": collection, "label": label, "tenant": tenant}
        _explain(home, paths or [], as_json=as_json, **chosen)
        return
    plan = asyncio.run(_plan(home, (paths or [])[0], tenant, verify=verify)) if sync else None
    if plan is not None and dry_run:
        emit(plan, as_json=as_json, render=lambda: plan_text(plan))
        return
    report = asyncio.run(
        take_in(
            configuration(home),
            paths or [],
            manifest=manifest,
            collection=collection,
            label=label,
            tenant=tenant,
            resume=resume,
            verify=verify,
        )
    )
    withdrawn = asyncio.run(_withdraw(home, plan["withdrawn"], tenant)) if plan else []
    told = report_json(report) | ({"withdrawn": withdrawn} if plan is not None else {})
    gone = "".join(f"\nwithdrawn: {name}" for name in withdrawn)
    emit(told, as_json=as_json, render=lambda: report_text(report) + gone)
    if report.failed or report.cut:
        raise typer.Exit(EXIT_FAILED)


def _explain(home: Path | None, paths: Sequence[Path], *, as_json: bool, **chosen: Any) -> None:
    """Shows what would be made of files; the exit code is that of taking them in."""
    from api.wiring import explain_files

    told = explain_files(configuration(home), paths, **chosen)
    document = {"files": [asdict(each) for each in told]}
    emit(document, as_json=as_json, render=lambda: "\n\n".join(map(explanation_text, told)))
    if not all(each.is_whole for each in told):
        raise typer.Exit(EXIT_FAILED)


def explanation_text(told: Explanation) -> str:
    """An explanation for people: the file, then a line for each kind of thing that it holds, with examples."""
    label = f", label {told.label}" if told.label else ""
    kind = told.media_type or "not read"
    lines = [f"{Path(told.path).name}: source {told.source_id}, {kind}, collection {told.collection}{label}"]
    for name, words in _LISTINGS.items():
        listing = getattr(told, name)
        if listing.count:
            more = " | …" if listing.count > len(listing.examples) else ""
            lines.append(f"  {listing.count} {words}: {' | '.join(listing.examples)}{more}")
    lines += [f"  left out: {each}" for each in told.left_out]
    lines += [f"  note: {each}" for each in told.notes]
    if told.error_code:
        lines.append(f"  refused, {told.error_code}: {told.error_message}")
    return "\n".join(lines)


async def _plan(home: Path | None, root: Path, tenant: str, *, verify: bool) -> dict[str, Any]:
    """The changes that a synchronisation would make. A home without a corpus holds nothing yet."""
    from api.errors import HomeUnusable
    from api.home.folder import DIGEST_CACHE
    from api.wiring import open_indexes, require_corpus
    from retrieval.errors import IndexNotReady
    from retrieval.ingest.digest_cache import DigestCache, KnownDigests
    from retrieval.ingest.sync import sync_plan

    configured, held = configuration(home), ()
    known = KnownDigests() if verify else DigestCache(configured.home / DIGEST_CACHE, seal=configured.seal).of(tenant)
    try:
        require_corpus(configured)
    except (IndexNotReady, HomeUnusable):
        return asdict(await sync_plan(root, held, known))
    async with open_indexes(configured) as (store, _, _indexes):
        return asdict(await sync_plan(root, await store.stored_files(tenant), known))


async def _withdraw(home: Path | None, source_ids: Sequence[str], tenant: str) -> list[str]:
    """Withdraws sources whose files are gone, each on the ledger first."""
    from api.audit.life.sources import SourceChange, change_source

    for source_id in source_ids:
        change = SourceChange("withdraw", source_id, tenant, "its file no longer exists")
        await change_source(configuration(home), change)
    return list(source_ids)


def plan_text(plan: Mapping[str, Any]) -> str:
    """A plan for people: what would be done, then how many files stay as they are."""
    words = {"added": "add", "changed": "change", "withdrawn": "withdraw"}
    lines = [f"{word} {Path(each).name}" for name, word in words.items() for each in plan[name]]
    return "\n".join([*lines, f"{len(plan['unchanged'])} unchanged"])


async def take_in(
    configured: Any, paths: list[Path], *, tenant: str = "default", quiet: bool = False, **chosen: Any
) -> IngestReport:
    """Run one ingest with a progress bar on stderr."""
    from api.jobs.work import take_in_paths

    with _progress(quiet=quiet) as progress:
        return await take_in_paths(configured, paths, tenant=tenant, progress=progress, **chosen)


def report_json(report: IngestReport) -> dict[str, Any]:
    """The report as a document."""
    return {
        "run_id": report.run_id,
        "files": [asdict(file) for file in report.files],
        "superseded": list(report.superseded),
        "manifest_hash": report.manifest_hash,
    }


def report_text(report: IngestReport) -> str:
    """A row for each file; a refusal that several files share is one line below them."""
    refusals = Counter((f.error_code, f.error_message) for f in report.files if f.state == "failed")
    shared = {refusal: count for refusal, count in refusals.items() if count > 1}
    rows = [
        [
            Path(f.path).name,
            f.state,
            f.passages,
            f.observations,
            f.features,
            _refusal(f, shared),
        ]
        for f in report.files
    ]
    lines = table(["file", "state", "passages", "observations", "features", "error"], rows)
    told = "".join(f"\n\n{code}, {count} files: {message}" for (code, message), count in shared.items())
    return f"{lines}{told}\n\ncorpus {report.manifest_hash}"


def _refusal(file: FileJob, shared: Mapping[tuple[str | None, str | None], int]) -> str:
    if not file.error_code:
        return ""
    told_below = (file.error_code, file.error_message) in shared
    return file.error_code if told_below else f"{file.error_code}: {file.error_message}"


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
