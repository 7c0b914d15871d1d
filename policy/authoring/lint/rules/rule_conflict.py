"""Two definitions of one rule that can hold at once with different values: the engine stops, and so does everyone."""

from __future__ import annotations

from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.sources import Rule, Sources

ID = "rule-conflict"
ADVICE = (
    "A rule or function with one value (`:=`) may be defined once, with `else` for the other cases; only definitions"
    " that are all `true` can stand side by side. Sets (`contains`) collect as many as there are."
)


def find(sources: Sources) -> Iterator[Finding]:
    for rules in sources.definitions.values():
        several = [rule for rule in rules if not rule.is_set and not rule.is_default and not rule.is_else]
        if len(several) > 1 and not all(_is_true(rule) for rule in several):
            for module in sources.modules:
                for rule in module.rules:
                    if any(rule is each for each in several[1:]):
                        yield module.finding(ID, rule.node, f"`{rule.name}` is defined elsewhere with another value")


def _is_true(rule: Rule) -> bool:
    value = rule.head.get("value", {"type": "boolean", "value": True})
    return value.get("type") == "boolean" and value.get("value") is True


RULE = LintRule(ID, ADVICE, find)
