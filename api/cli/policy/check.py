"""`exhibit policy check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import dim, emit
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import Candidate, chosen_folder
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from policy.authoring.checking import CheckResult


def check(
    *,
    policy: Candidate = None,
    data: Annotated[bool, typer.Option("--data", help="Only what needs no `opa` program.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """The data by their schema; the module by its sources; with `opa`: strict compiler, input paths by their schema,
    format, lint with advice, and the module built again. Exit code 1: something is wrong; 8: there is no `opa`."""
    from policy.authoring.checking import advice_for, check_data, check_module, check_sources
    from policy.authoring.opa import find_opa

    folder = chosen_folder(policy, home)
    opa = None if data else find_opa()
    checks = (check_data(folder), check_module(folder), *(check_sources(opa, folder) if opa else ()))
    document = {
        "folder": str(folder),
        "checks": [{"name": c.name, "passed": c.passed, "problems": list(c.problems)} for c in checks],
        "advice": advice_for(checks),
    }
    emit(document, as_json=as_json, render=lambda: _text(checks, document))
    if not all(each.passed for each in checks):
        raise typer.Exit(EXIT_FAILED)


def _text(checks: tuple[CheckResult, ...], document: dict[str, Any]) -> str:
    lines = []
    for each in checks:
        lines.append(f"{'ok    ' if each.passed else 'FAILED'}  {each.name}")
        lines += [f"        {problem}" for problem in each.problems]
    return "\n".join([*lines, *(dim(f"{id}: {text}") for id, text in document["advice"].items())])
