"""`exhibit policy test`."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import dim, emit, note, table
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import Candidate, chosen_bundle, chosen_folder
from api.cli.policy.engines import opa_if_there
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from policy.authoring.testing.report import TestReport
    from policy.bundles.bundle import Bundle

LOOK_EVERY_S = 0.5


def test(
    *,
    policy: Candidate = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="Folder with decision vectors; default: the bundle's.")
    ] = None,
    run: Annotated[str, typer.Option("--run", help="Only own tests whose name matches this expression.")] = "",
    by_rule: Annotated[bool, typer.Option("--by-rule", help="Show the results of every rule.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Run again whenever a file of the bundle changes.")] = False,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write the results as JUnit XML.")] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """The bundle's own tests, then its decision vectors and the canary on every engine that is here. Exit code 1:
    something failed. Without the `opa` program: vectors and canary on the embedded engine."""

    def once() -> bool:
        report = _once(policy, vectors, run, home)
        if junit is not None:
            _write(junit, report.junit())
        emit(report.document(), as_json=as_json, render=lambda: _text(report, by_rule=by_rule))
        return not report.failed()

    if watch:
        _watch(once, chosen_folder(policy, home))
    elif not once():
        raise typer.Exit(EXIT_FAILED)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as exc:
        raise typer.BadParameter(f"{path} cannot be written: {exc.strerror}") from None


def _once(policy: Path | None, vectors: Path | None, run: str, home: Path | None) -> TestReport:
    bundle, folder = chosen_bundle(policy, home)
    return asyncio.run(run_tests(bundle, folder, vectors=vectors, run=run))


async def run_tests(bundle: Bundle, folder: Path, *, vectors: Path | None = None, run: str = "") -> TestReport:
    """Everything that a bundle is tested with."""
    from api.errors import RequestRejected
    from policy.authoring.lattice.domain import Domain
    from policy.authoring.testing.canary import canary
    from policy.authoring.testing.opa_tests import run_own_tests
    from policy.authoring.testing.report import TestReport
    from policy.authoring.testing.vectors import read_vectors, run_vectors, vectors_folder

    cases = read_vectors(vectors or vectors_folder(folder))
    from api.audit.policy.release import evaluators, tried_table

    opa = opa_if_there()
    own = None if opa is None else await asyncio.to_thread(run_own_tests, opa, folder / "rego", only=run)
    if run and not own:
        raise RequestRejected(
            "--run needs the opa program" if own is None else f"none of the bundle's own tests matches {run!r}"
        )
    cells = await tried_table(bundle, vectors or vectors_folder(folder))
    async with evaluators(bundle, folder, opa) as engines:
        results = {each.name: await run_vectors(each, cases) for each in engines}
        found = await canary(engines[0].decide, Domain.of(bundle))
    return TestReport(bundle.digest, bundle.rules, own, results, tuple(map(str, found)), cells)


def _text(report: TestReport, *, by_rule: bool) -> str:
    lines = []
    if by_rule:
        rows = ([r.id, r.title, r.tests, r.vectors, r.silent, r.failed] for r in report.by_rule())
        lines.append(table(["rule", "title", "tests", "speaks in", "silent in", "failed"], rows))
    for each in report.own or ():
        if each.state in ("failed", "error"):
            lines += [f"FAILED  {each.name}  {dim(' '.join(each.rules))}", _indented(each.detail)]
    for engine, results in report.vectors.items():
        for result in results:
            if not result.passed:
                lines += [f"FAILED  {result.vector.group}: {result.vector.name}, on {engine}"]
                lines += [_indented("\n".join(result.differences()))]
    lines += [f"FAILED  {each}" for each in report.table if not each.passed]
    lines += [f"FAILED  canary: {each}" for each in report.canary]
    return "\n".join([*lines, *_summary(report)])


def _summary(report: TestReport) -> Iterator[str]:
    if report.own is not None:
        good = sum(each.state == "passed" for each in report.own)
        yield f"{good} of {len(report.own)} own tests passed"
    for engine, results in report.vectors.items():
        yield f"{sum(each.passed for each in results)} of {len(results)} decisions as expected on {engine}"
    if report.table:
        yield f"{sum(each.passed for each in report.table)} of {len(report.table)} cells of the access table as stated"
    yield "the canary lives" if not report.canary else f"the canary found {len(report.canary)} faults"


def _indented(text: str) -> str:
    return "\n".join(f"        {line}" for line in text.splitlines())


def _watch(once: Callable[[], bool], folder: Path) -> None:
    """Until interrupted. A bundle that cannot be built is a result too, and so are tests that cannot be read."""
    from api.errors import RequestRejected
    from api.problems import problem_of
    from policy.errors import PolicyError

    note(f"watching {folder}; stop with Ctrl-C")
    for _ in changes(folder):
        try:
            once()
        except (PolicyError, RequestRejected) as exc:
            print(f"FAILED  {problem_of(exc).local}")
        sys.stdout.flush()


def changes(folder: Path, *, every_s: float = LOOK_EVERY_S) -> Iterator[None]:
    """Now, and again after each change of a file of the bundle below `folder`."""
    before: dict[Path, int] | None = None
    while True:
        found = {}
        for path in folder.rglob("*"):
            if path.suffix in (".rego", ".json", ".toml"):
                with suppress(FileNotFoundError):  # editors put a new file in the place of the old one
                    found[path] = path.stat().st_mtime_ns
        if found != before:
            before = found
            yield
        time.sleep(every_s)
