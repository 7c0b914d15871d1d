"""`exhibit policy mutate`."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, emit, note
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import Candidate, chosen_bundle, wrong_use
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from policy.authoring.testing.mutants import Mutant
    from policy.authoring.testing.mutation import MutationReport
    from policy.bundles.bundle import Bundle


def mutate(
    *,
    policy: Candidate = None,
    sample: Annotated[
        int, typer.Option("--sample", min=0, help="Only so many, evenly spread over the rules; 0: all of them.")
    ] = 0,
    least: Annotated[
        float, typer.Option("--min-score", min=0, max=1, help="Exit code 1 below this share of noticed mutants.")
    ] = 0.9,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="How many at a time.")] = 2,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Change the rules one condition at a time and see whether vectors and canary notice. Needs the opa program."""
    bundle, folder = chosen_bundle(policy, home)
    started = time.perf_counter()
    with wrong_use():
        report = asyncio.run(_run(bundle, folder, sample, jobs))
    note(f"{len(report.tried)} mutants in {time.perf_counter() - started:.0f} s")
    document = _document(report, bundle.digest)
    emit(document, as_json=as_json, render=lambda: _text(report))
    if report.score_milli < least * 1_000:
        raise typer.Exit(EXIT_FAILED)


async def _run(bundle: Bundle, folder: Path, sample: int, jobs: int) -> MutationReport:
    from api.wiring import open_embedded
    from policy.authoring.opa import find_opa
    from policy.authoring.testing.mutants import mutants_of
    from policy.authoring.testing.mutation import mutate as run
    from policy.authoring.testing.mutation import read_explained
    from policy.authoring.testing.vectors import read_vectors, vectors_folder

    opa, vectors = find_opa(), vectors_folder(folder)
    everything = mutants_of(opa, folder / "rego")
    chosen = everything if not sample else _spread(everything, sample)
    return await run(
        chosen,
        bundle=bundle,
        root=folder / "rego",
        vectors=read_vectors(vectors),
        opa=opa,
        open_engine=open_embedded,
        explained=read_explained(vectors / "mutants.toml"),
        jobs=jobs,
    )


def _spread(mutants: tuple[Mutant, ...], count: int) -> tuple[Mutant, ...]:
    count = min(count, len(mutants))
    return tuple(mutants[i * len(mutants) // count] for i in range(count))


def _document(report: MutationReport, digest: str) -> dict[str, Any]:
    from policy.authoring.testing.mutation import Fate

    return {
        "bundle_digest": digest,
        "score": report.score_milli / 1_000,
        **{str(fate): len(report.having(fate)) for fate in Fate},
        "unexplained": len(report.unexplained),
        "survivors": [
            {"mutant": each.mutant.name, "file": each.mutant.file, "row": each.mutant.row, "why": each.why or None}
            for each in report.having(Fate.SURVIVED)
        ],
    }


def _text(report: MutationReport) -> str:
    from policy.authoring.testing.mutation import Fate

    lines = []
    for each in report.having(Fate.SURVIVED):
        lines.append(f"{bold('survived')}  {each.mutant.file}:{each.mutant.row} {each.mutant.name.partition(' ')[2]}")
        lines.append(f"          {each.why or 'not explained'}")
    killed, survived = len(report.having(Fate.KILLED)), len(report.having(Fate.SURVIVED))
    lines.append(f"score {report.score_milli / 1_000:.3f}: {killed} of {killed + survived} mutants were noticed")
    lines.append(
        f"{len(report.unexplained)} survivors are not explained; {len(report.having(Fate.STILLBORN))} did not compile"
    )
    return "\n".join(lines)
