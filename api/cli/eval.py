"""`exhibit eval`: quality on public data sets that lie in a folder."""

from __future__ import annotations

import asyncio
import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from api.cli.console import emit, note
from api.cli.options import AsJson
from api.problems import EXIT_FAILED

app = typer.Typer(help="Measure quality.", add_completion=False, rich_markup_mode=None)


@app.command()
def evaluate(
    data: Annotated[Path, typer.Argument(help="Folder with a folder per data set (docs/benchmarks.md).")],
    *,
    only: Annotated[list[str] | None, typer.Option("--only", help="One part; may be repeated.")] = None,
    work: Annotated[Path | None, typer.Option("--work", help="Folder for the corpora, kept.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Folder for eval.json, eval.md and figures.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless all is there and every goal met.")] = False,
    as_json: AsJson = False,
) -> None:
    """Retrieval, calibration, abstention, support, routing, place linking and figures as of a date, on the data sets of
    a folder, with confidence intervals.

    A part without data is named in the report. Exit code 3 where there are data for none, or for one named by --only.
    """
    from api.eval.run import all_met, figures, markdown
    from api.eval.run import evaluate as run

    with ExitStack() as stack:
        folder = work or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exhibit-eval-")))
        found = asyncio.run(run(data, folder.absolute(), tuple(only or ()), note))
    if report is not None:
        report.mkdir(parents=True, exist_ok=True)
        (report / "eval.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (report / "eval.md").write_text(markdown(found), "utf-8")
        for name, drawn in figures(found).items():
            (report / name).write_text(drawn, "utf-8")
    emit(found, as_json=as_json, render=lambda: markdown(found))
    if check and not all_met(found):
        raise typer.Exit(EXIT_FAILED)
