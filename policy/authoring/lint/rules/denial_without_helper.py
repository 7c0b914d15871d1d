"""A denial on a fact that must be there to deny: without the fact there is no denial."""

from __future__ import annotations

from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.sources import Module, Node, Rule, Sources

ID = "denial-without-helper"
ADVICE = (
    "Deny where a positive statement cannot be proved (`not subject.identified`), never where a bad value is seen: what"
    " is missing is not a bad value. Where another rule denies the missing value, say so in the METADATA:"
    " `lint: {denial-without-helper: ...}`."
)
_SEVERITIES = ("deny", "drop")


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            denies = rule.custom.get("severity") in _SEVERITIES and not rule.is_default
            if denies and not any(_negates_helper(sources, module, each) for each in rule.body):
                yield module.finding(ID, rule.node, f"{_named(rule)} negates no positive helper")


def _negates_helper(sources: Sources, module: Module, expression: Node) -> bool:
    """`not helper`, `not helper(x)`, `not helper[x]`, `not x in helper`, helper being a rule of the bundle."""
    if not expression.get("negated"):
        return False
    terms = expression["terms"]
    named = terms if isinstance(terms, list) else [terms]
    refs = [each for each in named if each.get("type") in ("ref", "var")]
    return any(sources.rule_at(sources.path(module, each))[0] for each in refs)


def _named(rule: Rule) -> str:
    return str(rule.custom.get("id") or rule.name)


RULE = LintRule(ID, ADVICE, find)
