"""`exhibit policy coverage`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import emit, table
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import Candidate, chosen_bundle
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from policy.authoring.testing.coverage import Coverage


def coverage(
    *,
    policy: Candidate = None,
    minimum: Annotated[
        int,
        typer.Option("--min", min=0, max=100, help="Least percentage, of the whole and of every rule with an id."),
    ] = 0,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Which lines of each rule the bundle's tests and vectors evaluate, by rule id. Exit code 1: less than the minimum.
    Needs `opa`."""
    from policy.authoring.opa import find_opa
    from policy.authoring.testing.coverage import covered
    from policy.authoring.testing.vectors import read_vectors, vectors_folder

    opa = find_opa()
    _, folder = chosen_bundle(policy, home)
    found = covered(opa, folder / "rego", read_vectors(vectors_folder(folder)))
    document = _document(found, minimum)
    emit(document, as_json=as_json, render=lambda: _text(document))
    if document["below"]:
        raise typer.Exit(EXIT_FAILED)


def _document(found: Coverage, minimum: int) -> dict[str, Any]:
    rules = [asdict(each) | {"covered_milli": each.milli} for each in found.rules]
    named = [each for each in found.rules if " " not in each.id]
    below = [each.id for each in named if each.milli < minimum * 10]
    below += ["the whole bundle"] if found.milli < minimum * 10 else []
    return {"covered_milli": found.milli, "minimum_milli": minimum * 10, "below": below, "rules": rules}


def _text(document: dict[str, Any]) -> str:
    rows = (
        [each["id"], each["lines"], f"{each['covered_milli'] / 10:.1f}", " ".join(map(str, each["missed"]))]
        for each in sorted(document["rules"], key=lambda each: str(each["id"]))
        if each["missed"] or " " not in each["id"]
    )
    below = "".join(f"\nFAILED  below {document['minimum_milli'] // 10} %: {name}" for name in document["below"])
    whole = f"{document['covered_milli'] / 10:.1f} % of all lines"
    return f"{table(['rule', 'lines', '%', 'missed rows'], rows)}\n{whole}{below}"
