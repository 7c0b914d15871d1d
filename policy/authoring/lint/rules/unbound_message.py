"""A message that reads a value which is not there: the denial it belongs to vanishes with it."""

from __future__ import annotations

from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.rules.negated_argument import may_be_undefined
from policy.authoring.lint.sources import Module, Rule, Sources, calls, shown, walk

ID = "unbound-message"
ADVICE = (
    "What a rule says (its key, its value, the arguments of the function that makes them) must have a value whenever"
    " its body holds. State first that the value is there (`is_number(finding.start)`), or say ids and codes only."
)


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            if rule.speaks and not rule.is_default:
                yield from _in_head(sources, module, rule)


def _in_head(sources: Sources, module: Module, rule: Rule) -> Iterator[Finding]:
    operators = {id(operator) for operator, _ in calls(rule.head)}
    stated = sources.stated(module, rule.body)
    said = [rule.head[part] for part in ("key", "value") if part in rule.head]
    for each in (node for part in said for node in walk(part)):
        if each.get("type") != "ref" or id(each) in operators or shown(each) in stated:
            continue
        if may_be_undefined(sources, module, each):
            yield module.finding(ID, each, f"`{shown(each)}` may have no value, and then the rule says nothing")


RULE = LintRule(ID, ADVICE, find)
