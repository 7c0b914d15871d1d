"""Which lines of which rule are ever evaluated, by the bundle's own tests and by its decision vectors together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy.authoring.lint.sources import Node, read_sources_of, walk
from policy.authoring.opa import Opa
from policy.authoring.testing.vectors import Vector
from policy.model import Point

Lines = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """One rule: `id` from its METADATA, or its name with the file; `lines` are those that can be evaluated (rows from
    1), `missed` those that never were."""

    id: str
    title: str
    file: str
    lines: int
    missed: tuple[int, ...]

    @property
    def milli(self) -> int:
        """Covered lines in thousandths."""
        return 1_000 if not self.lines else 1_000 * (self.lines - len(self.missed)) // self.lines


@dataclass(frozen=True, slots=True)
class Coverage:
    """Every rule of the bundle, by file and place."""

    rules: tuple[RuleCoverage, ...]

    @property
    def milli(self) -> int:
        """Covered lines of all in thousandths."""
        lines, missed = sum(each.lines for each in self.rules), sum(len(each.missed) for each in self.rules)
        return 1_000 * (lines - missed) // max(1, lines)


def covered(opa: Opa, root: Path, vectors: Sequence[Vector]) -> Coverage:
    """The coverage of the sources below `root` by tests and vectors. Raises OpaFailed."""
    reports = [_of_tests(opa, root), *(_of_vectors(opa, root, point, vectors) for point in (*Point, "allow_answer"))]
    seen, unseen = _rows(reports, "covered"), _rows(reports, "not_covered")
    can_be = {name: seen.get(name, frozenset()) | unseen.get(name, frozenset()) for name in seen.keys() | unseen.keys()}
    return Coverage(tuple(_by_rule(opa, root, seen, can_be)))


def _of_tests(opa: Opa, root: Path) -> Mapping[str, Any]:
    text = opa.run("test", "-b", ".", "--coverage", "--format", "json", cwd=root, accept=(0, 2))
    found: Mapping[str, Any] = json.loads(text)
    return found


def _of_vectors(opa: Opa, root: Path, point: str, vectors: Sequence[Vector]) -> Mapping[str, Any]:
    inputs = [each.asked for each in vectors if each.group == point]
    query = f"[d | some asked in input; d := data.kfm.ai.{point} with input as asked]"
    arguments = ("eval", "-b", ".", "--ignore", "*_test.rego", "--stdin-input", "--coverage", "--format", "json", query)
    found = json.loads(opa.run(*arguments, cwd=root, stdin=b"[" + b",".join(inputs) + b"]"))
    report: Mapping[str, Any] = found["coverage"]
    return report


def _rows(reports: Sequence[Mapping[str, Any]], kind: str) -> dict[str, frozenset[int]]:
    rows: dict[str, set[int]] = {}
    for report in reports:
        for name, file in report["files"].items():
            for each in file.get(kind, ()):
                rows.setdefault(name, set()).update(range(each["start"]["row"], each["end"]["row"] + 1))
    return {name: frozenset(found) for name, found in rows.items()}


def _by_rule(opa: Opa, root: Path, seen: Lines, can_be: Lines) -> list[RuleCoverage]:
    """Rows belong to the rule that begins last before them."""
    found = []
    for module in read_sources_of(opa, root).modules:
        starts = sorted((_row(rule.node), rule) for rule in module.rules if not rule.is_else) if module.rules else []
        for (start, rule), end in zip(starts, [*(row for row, _ in starts[1:]), 1 << 30], strict=True):
            mine = frozenset(row for row in can_be.get(module.file, ()) if start <= row < end)
            missed = tuple(sorted(mine - seen.get(module.file, frozenset())))
            name = str(rule.custom.get("id") or f"{rule.name} ({module.file}:{start})")
            found.append(RuleCoverage(name, rule.title, module.file, len(mine), missed))
    return found


def _row(node: Node) -> int:
    return min(int(each["location"]["row"]) for each in walk(node["head"]) if "location" in each)
