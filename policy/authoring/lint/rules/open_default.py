"""A default that allows: whatever no rule speaks of passes."""

from __future__ import annotations

from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.sources import Node, Sources, walk

ID = "open-default"
ADVICE = "Let the default deny (`default allow := false`), and let rules allow what they can prove."


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            if rule.is_default and _allows(rule.head.get("value", {})):
                yield module.finding(ID, rule.node, f"the default of `{rule.name}` allows")


def _allows(value: Node) -> bool:
    if value.get("type") == "boolean":
        return value["value"] is True
    return any(each.get("type") == "string" and str(each["value"]).startswith("allow") for each in walk(value))


RULE = LintRule(ID, ADVICE, find)
