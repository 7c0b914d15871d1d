"""`exhibit policy lattice`."""

from __future__ import annotations

import asyncio
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import emit, note, table
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import Candidate, chosen_bundle
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from policy.authoring.lattice.lattice import Lattice
    from policy.bundles.bundle import Bundle


def lattice(
    *,
    policy: Candidate = None,
    invariants: Annotated[
        Path | None,
        typer.Option("--invariants", help="File of invariants; default: the bundle's and the shipped ones."),
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Decide every cell of role, groups, label, handling, tenant, lifecycle, and every claim that an answer can hold,
    and hold the invariants against them. Exit code 1: one does not hold; a counterexample is printed."""
    from policy.authoring.lattice.binding import binding_invariants

    if invariants is not None and not invariants.is_file():
        raise typer.BadParameter(f"{invariants} is not a file of invariants")
    bundle, folder = chosen_bundle(policy, home)
    stated = binding_invariants(folder) if invariants is None else _stated(invariants)
    document = asyncio.run(_run(bundle, stated))
    emit(document, as_json=as_json, render=lambda: _text(document))
    if document["broken"]:
        raise typer.Exit(EXIT_FAILED)


def _stated(file: Path) -> Mapping[str, Any]:
    """The document of a file of invariants. Raises InvariantsInvalid."""
    from policy.authoring.lattice.invariants import InvariantsInvalid

    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise InvariantsInvalid(f"{file.name} cannot be read: {exc}") from exc


async def _run(bundle: Bundle, stated: Mapping[str, Any]) -> dict[str, Any]:
    from api.wiring import open_embedded
    from policy.authoring.lattice.claims import broken_claims, decide_claims, parse_unreleased
    from policy.authoring.lattice.domain import Domain
    from policy.authoring.lattice.invariants import broken, parse_invariants
    from policy.authoring.lattice.lattice import decide_lattice

    domain = Domain.of(bundle)
    rules, over_claims = parse_invariants(stated, domain), parse_unreleased(stated)
    engine = await open_embedded(bundle)
    started = time.perf_counter()
    try:
        found = await decide_lattice(engine, domain)
        claims = await decide_claims(engine, domain)
    finally:
        await engine.aclose()
    seconds = time.perf_counter() - started
    note(f"{found.cells:,} cells in {seconds:.1f} s")
    wrong = [
        {"title": b.title, "kind": b.kind, "checked": b.checked, "count": b.count, "examples": b.examples}
        for b in (*broken(found, rules), *broken_claims(claims, over_claims))
    ]
    return {
        "bundle_digest": bundle.digest,
        "cells": found.cells,
        "visible": int(found.visible.sum()),
        "claims": len(claims),
        "invariants": len(rules) + len(over_claims),
        "broken": wrong,
        "visible_by_role_and_label": _by_role(found),
    }


def _by_role(found: Lattice) -> dict[str, dict[str, int]]:
    """How many cells of each label each role sees."""
    sums = found.visible.sum(axis=(1, 3, 4, 5, 6, 7))
    labels = [str(label) for label in found.axes["label"]]
    return {
        str(role): dict(zip(labels, (int(n) for n in row), strict=True))
        for role, row in zip(found.axes["role"], sums, strict=True)
    }


def _text(document: Mapping[str, Any]) -> str:
    by_role = document["visible_by_role_and_label"]
    labels = list(next(iter(by_role.values())))
    lines = [table(["visible cells", *labels], ([role, *row.values()] for role, row in by_role.items())), ""]
    for each in document["broken"]:
        lines.append(f"BROKEN  {each['title']}: {each['count']:,} of {each['checked']:,}")
        lines += [f"        {' | '.join(_cell(cell) for cell in example)}" for example in each["examples"]]
    holding = document["invariants"] - len(document["broken"])
    return "\n".join([*lines, f"{holding} of {document['invariants']} invariants hold in {document['cells']:,} cells"])


def _cell(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in cell.items())


def _value(value: object) -> str:
    if isinstance(value, tuple | list):
        return "+".join(map(str, value)) or "-"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
