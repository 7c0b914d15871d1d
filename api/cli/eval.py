"""`exhibit eval`: quality on public data sets that lie in a folder."""

from __future__ import annotations

import asyncio
import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from api.cli.console import configuration, emit, note
from api.cli.options import AsJson, Home
from api.problems import EXIT_FAILED


class _DataUnlessNamed(TyperGroup):
    """`exhibit eval DATA` measures on the data sets of a folder; `exhibit eval drafting` is a command of its own."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The named command, else the one for data."""
        named = bool(args) and args[0] in self.commands
        return super().resolve_command(ctx, args if named else ["data", *args])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Options before the folder belong to the command for data, but for `--help` alone."""
        if args and args != ["--help"] and args[0] not in self.commands:
            args = ["data", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_DataUnlessNamed, help="Measure quality.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


@app.command("drafting")
def drafting(
    *,
    per_kind: Annotated[int, typer.Option("--per-kind", help="Drafts of each kind.", min=1, max=1000)] = 40,
    seed: Annotated[int, typer.Option("--seed", help="Another sample.")] = 1,
    made: Annotated[bool, typer.Option("--made", help="Over made tables of another country, not the home.")] = False,
    squad: Annotated[Path | None, typer.Option("--squad", help="Over the texts and questions of a SQuAD file.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Folder for drafting.json and drafting.md.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless every goal is met.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Wrong drafts of many kinds, made from right ones over a corpus, through the whole product: how many are released,
    and how many right ones are kept, by kind, with confidence intervals."""
    from api.measure.eval.drafting.run import measure
    from api.measure.eval.tables import markdown_of

    if made and squad is not None:
        raise typer.BadParameter("--made and --squad are two corpora; name one")
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exhibit-drafting-")))
        corpus = configuration(home) if not (made or squad) else None
        found = asyncio.run(measure(corpus, work, squad=squad, per_kind=per_kind, seed=seed, tell=note))
    if report is not None:
        report.mkdir(parents=True, exist_ok=True)
        (report / "drafting.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (report / "drafting.md").write_text(markdown_of(found) + "\n", "utf-8")
    emit(found, as_json=as_json, render=lambda: markdown_of(found))
    if check and not all(each["met"] for each in found["goals"].values()):
        raise typer.Exit(EXIT_FAILED)


@app.command("data", hidden=True)
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
    from api.measure.eval.run import all_met, figures, markdown
    from api.measure.eval.run import evaluate as run

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
