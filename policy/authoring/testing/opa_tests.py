"""The bundle's own tests (`opa test`), with the rules that each is about and the values where it failed.

A test says in its METADATA which rules it is about: `custom: {rules: [Q11, Q12]}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from policy.authoring.metadata import annotations_in
from policy.authoring.opa import Opa

State = Literal["passed", "failed", "error", "skipped"]
_HEADING = re.compile(r"^(data\.[\w.\[\]\"]+): (FAIL|ERROR)\b")


@dataclass(frozen=True, slots=True)
class OwnTest:
    """One test: `detail` shows the failing expression with the values that it had."""

    name: str
    file: str
    row: int
    state: State
    seconds: float
    rules: tuple[str, ...]
    detail: str = ""


def run_own_tests(opa: Opa, root: Path, *, only: str = "") -> tuple[OwnTest, ...]:
    """Every test below `root` whose name matches the regular expression `only`. Raises OpaFailed where the sources
    cannot be compiled."""
    chosen = ("--run", only) if only else ()
    text = opa.run("test", "-b", ".", "--format", "json", *chosen, cwd=root, accept=(0, 2))
    found: list[dict[str, Any]] = json.loads(text or b"[]") or []
    about = _subjects(opa, root)
    bad = [each for each in found if each.get("fail") or each.get("error")]
    details = _details(opa, root, chosen) if bad else {}
    return tuple(sorted((_test(each, about, details) for each in found), key=lambda each: (each.file, each.row)))


def _test(
    each: Mapping[str, Any], about: Mapping[tuple[str, int], tuple[str, ...]], details: Mapping[str, str]
) -> OwnTest:
    place = each["location"]
    name = f"{each['package']}.{each['name']}"
    state: State = "passed"
    if each.get("skip"):
        state = "skipped"
    elif each.get("error"):
        state = "error"
    elif each.get("fail"):
        state = "failed"
    return OwnTest(
        name=name,
        file=str(place["file"]),
        row=int(place["row"]),
        state=state,
        seconds=int(each.get("duration", 0)) / 1e9,
        rules=about.get((str(place["file"]), int(place["row"])), ()),
        detail=details.get(name) or (json.dumps(each["error"]) if each.get("error") else ""),
    )


def _subjects(opa: Opa, root: Path) -> dict[tuple[str, int], tuple[str, ...]]:
    """Which rules each test is about, by its file and row."""
    found = {}
    for each in annotations_in(opa, root):
        rules = each["custom"].get("rules", ())
        if isinstance(rules, list):
            found[str(each["file"]), int(each["row"])] = tuple(str(rule) for rule in rules)
    return found


def _details(opa: Opa, root: Path, chosen: tuple[str, ...]) -> dict[str, str]:
    """Values that OPA shows at each failing expression, by test."""
    shown = opa.run("test", "-b", ".", "--var-values", *chosen, cwd=root, accept=(0, 2)).decode("utf-8", "replace")
    _, _, failures = shown.partition("FAILURES\n")
    details: dict[str, list[str]] = {}
    name = ""
    for line in failures.splitlines():
        if heading := _HEADING.match(line):
            name = heading[1]
        elif name and line.startswith("  "):
            details.setdefault(name, []).append(line[2:].expandtabs(4).rstrip())
        elif line.startswith("----"):
            name = "" if details else name
    return {test: "\n".join(lines) for test, lines in details.items()}
