"""Mutants of a bundle: its rules, each with one condition taken away, one comparison turned, one set widened.

Places come from the syntax tree that `opa parse` gives with locations, so a mutant differs from the bundle in just the
text of one expression. What does not compile is no mutant.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy.authoring.opa import Opa

_TURNED = {
    "==": ("!=",),
    "!=": ("==",),
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
}
_OPERATORS = {"equal": "==", "neq": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}

Node = dict[str, Any]
Place = tuple[str, str]


@dataclass(frozen=True, slots=True, order=True)
class Mutant:
    """One change: at `row` and `col` (from 1) of `file`, in the rule of that name, `before` is replaced by `after`."""

    file: str
    row: int
    col: int
    rule: str
    kind: str
    before: str
    after: str

    @property
    def name(self) -> str:
        """The key that identifies it while its rule stays as it is, wherever that moves to."""
        return f"{self.file} {self.rule}: {self.kind}: {' '.join(self.before.split())} -> {self.after}"

    def applied(self, text: str) -> str:
        """The file's text with the change. Raises ValueError where the text is another."""
        start = _offset(text, self.row, self.col)
        if not text.startswith(self.before, start):
            raise ValueError(f"{self.file}:{self.row} does not read {self.before!r}")
        return text[:start] + self.after + text[start + len(self.before) :]


def mutants_of(opa: Opa, root: Path) -> tuple[Mutant, ...]:
    """Every mutant of the rules below `root`, in order of place. Raises OpaFailed."""
    files = [path for path in sorted(root.rglob("*.rego")) if not path.name.endswith("_test.rego")]
    return tuple(sorted({each for path in files for each in _of_file(opa, root, path.relative_to(root).as_posix())}))


def _of_file(opa: Opa, root: Path, file: str) -> Iterator[Mutant]:
    options = ("--format", "json", "--json-include", "locations,-comments")
    tree = json.loads(opa.run("parse", *options, file, cwd=root))
    text = (root / file).read_text("utf-8")
    for rule in tree.get("rules", ()):
        place = (file, _name(rule))
        for found in (*_of_node(place, rule), *_default(place, rule)):
            if text.startswith(found.before, _offset(text, found.row, found.col)):
                yield found


def _name(rule: Node) -> str:
    return str(rule.get("head", {}).get("ref", [{}])[0].get("value", ""))


def _of_node(within: Place, node: Any) -> Iterator[Mutant]:
    """The mutants of every body in the tree, and of every comparison."""
    if isinstance(node, list):
        for each in node:
            yield from _of_node(within, each)
    if not isinstance(node, dict):
        return
    if isinstance(node.get("body"), list):
        yield from _of_body(within, node["body"])
    for each in node.values():
        yield from _of_node(within, each)


def _of_body(within: Place, body: list[Node]) -> Iterator[Mutant]:
    conditions = [each for each in body if _is_condition(each)]
    for each in conditions:
        text = _text(each)
        yield _mutant(within, each, "condition deleted", "true")
        if each.get("negated"):
            yield _mutant(within, each, "negation deleted", text.removeprefix("not").lstrip())
        yield from _of_comparison(within, each)
        yield from _of_membership(within, each)
    if conditions:
        yield _mutant(within, conditions[-1], "clause deleted", "false")


def _of_comparison(within: Place, expression: Node) -> Iterator[Mutant]:
    operator = _called(expression)
    sign = _OPERATORS.get(operator[0])
    place = operator[1]
    if sign and place and _text(place) == sign:
        for turned in _TURNED[sign]:
            yield _mutant(within, place, "comparison turned", turned)


def _of_membership(within: Place, expression: Node) -> Iterator[Mutant]:
    """`x in set` holds for every text."""
    if _called(expression)[0] == "member_2" and not expression.get("negated"):
        member = _text(expression["terms"][1])
        yield _mutant(within, expression, "set widened", f"is_string({member})")


def _default(within: Place, rule: Node) -> Iterator[Mutant]:
    value = rule.get("head", {}).get("value", {})
    if rule.get("default") and value.get("value") is False and _text(value) == "false":
        yield _mutant(within, value, "default turned", "true")


def _is_condition(expression: Node) -> bool:
    """True if the expression only tests: it binds nothing, and is no `true` that stands for an absent body."""
    terms = expression.get("terms")
    if not _text(expression) or expression.get("with"):
        return False
    if isinstance(terms, dict):
        return "symbols" not in terms and terms.get("type") != "boolean"
    return _called(expression)[0] not in ("assign", "eq")


def _called(expression: Node) -> tuple[str, Node | None]:
    """The name of the operator or function that the expression calls, and its node; empty where it calls none."""
    terms = expression.get("terms")
    if not isinstance(terms, list) or not terms or terms[0].get("type") != "ref":
        return "", None
    return str(terms[0]["value"][-1].get("value", "")), terms[0]


def _text(node: Node) -> str:
    return base64.b64decode(node.get("location", {}).get("text", "")).decode("utf-8", "replace")


def _mutant(within: Place, node: Node, kind: str, after: str) -> Mutant:
    file, rule = within
    at = node["location"]
    return Mutant(file, int(at["row"]), int(at["col"]), rule, kind, _text(node), after)


def _offset(text: str, row: int, col: int) -> int:
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: row - 1]) + col - 1
