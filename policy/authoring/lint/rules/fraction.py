"""Numbers that are no integers: written, rounded and compared differently by different engines and readers."""

from __future__ import annotations

from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.sources import Sources, calls, name_of, walk

ID = "fraction"
ADVICE = "Use integers in small units (thousandths, milliseconds, metres), and multiply instead of dividing."
_FRACTIONS = frozenset({"div", "round", "ceil", "floor", "to_number"})
MAX_INTEGER = 2**53 - 1


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            for each in walk(rule.node):
                if each.get("type") == "number" and not _whole(each["value"]):
                    yield module.finding(ID, each, f"{each['value']} is not an integer within 2**53")
            for operator, _ in calls(rule.node):
                if name_of(operator) in _FRACTIONS:
                    yield module.finding(ID, operator, f"`{name_of(operator)}` can make a fraction")


def _whole(value: object) -> bool:
    return type(value) is int and abs(value) <= MAX_INTEGER


RULE = LintRule(ID, ADVICE, find)
