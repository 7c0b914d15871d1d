"""`exhibit policy check`."""

from __future__ import annotations

from typing import Any

import typer

from api.cli.console import configuration, emit, note
from api.cli.options import AsJson, Home
from api.problems import EXIT_FAILED


def check(home: Home = None, as_json: AsJson = False) -> None:
    """The module belongs to the sources; with the opa program also: strict check, format, and the module built again.
    Exit code 1: not so."""
    from api.backends import backends_of
    from api.wiring import open_bundle
    from policy.authoring.opa import OpaMissing, find_opa

    bundle = open_bundle(backends_of(configuration(home)).policy)
    checks = {"the module was built from these sources": True}
    try:
        checks |= _authored(find_opa(), bundle.wasm)
    except OpaMissing as exc:
        note(f"Rego not checked: {exc}")
    emit(
        checks,
        as_json=as_json,
        render=lambda: "\n".join(f"{'ok' if ok else 'FAILED'}  {what}" for what, ok in checks.items()),
    )
    if not all(checks.values()):
        raise typer.Exit(EXIT_FAILED)


def _authored(opa: Any, wasm: bytes) -> dict[str, bool]:
    from policy.authoring.build import build_module
    from policy.bundle import SHIPPED

    root = SHIPPED / "rego"
    opa.run("check", "--strict", "-b", ".", cwd=root)
    unformatted = opa.run("fmt", "--list", ".", cwd=root).strip()
    return {
        "opa check --strict": True,
        "opa fmt": not unformatted,
        "the module is what the sources build": build_module(opa, root) == wasm,
    }
