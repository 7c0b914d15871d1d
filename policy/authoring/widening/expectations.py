"""Expectations that an author took away: decision vectors, own tests and invariants that the bundle in force has."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from policy.authoring.lattice.binding import removals
from policy.authoring.testing.vectors import read_vectors, vectors_folder
from policy.authoring.widening.model import Widening
from policy.bundles.bundle import SHIPPED

_TEST = re.compile(r"^(test_\w+)", re.MULTILINE)


def removed_expectations(before: Path, after: Path) -> Iterator[Widening]:
    """By name: those of `before` that `after` lacks, or expects otherwise. Adding one is never a widening."""
    vectors = {(v.group, v.name): v for v in read_vectors(vectors_folder(after))}
    for vector in read_vectors(vectors_folder(before)):
        found = vectors.get((vector.group, vector.name))
        if found is None:
            yield Widening(f"vector {vector.group}/{vector.name}: removed", "the decision is not expected any more")
        elif (found.asked, found.expected) != (vector.asked, vector.expected):
            yield Widening(f"vector {vector.group}/{vector.name}: changed", "another decision, or input, is expected")
    for test in sorted(_tests(before) - _tests(after)):
        yield Widening(f"test {test}: removed", "the bundle's own test was removed")
    kept = _invariants(after)
    for title, stated in sorted(_invariants(before).items()):
        if kept.get(title) != stated:
            word = "changed" if title in kept else "removed"
            yield Widening(f"invariant {title}: {word}", "the bundle does not state it any more")
    for removal in sorted(set(removals(after)) - set(removals(before)), key=lambda each: each.title):
        yield Widening(f"invariant {removal.title}: removed", f"the shipped one does not bind: {removal.why}")


def _tests(folder: Path) -> frozenset[str]:
    root = folder / "rego"
    return frozenset(
        f"{path.relative_to(root).as_posix().removesuffix('_test.rego')}.{name}"
        for path in root.rglob("*_test.rego")
        for name in _TEST.findall(path.read_text("utf-8"))
    )


def _invariants(folder: Path) -> dict[str, Any]:
    """Each invariant by its title, and the ladder of roles."""
    own = folder / "vectors" / "invariants.toml"
    document = tomllib.loads((own if own.is_file() else SHIPPED / "vectors" / "invariants.toml").read_text("utf-8"))
    ladder = {"ladder": document.pop("ladder", None)}
    document.pop("removed", None)
    tables = {kind: rows for kind, rows in document.items() if isinstance(rows, list)}
    return ladder | {str(row["title"]): {"kind": kind} | row for kind, rows in tables.items() for row in rows}
