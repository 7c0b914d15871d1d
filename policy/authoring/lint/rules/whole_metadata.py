"""A rule that speaks says who it is: id, code, severity, owner, title and a text for readers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.sources import Module, Rule, Sources, walk
from policy.authoring.metadata import KEYS
from policy.rules import SEVERITIES

ID = "whole-metadata"
ADVICE = (
    "Above the rule: `# METADATA`, a title, and under `custom` id (a letter and two digits), code, severity (deny, drop"
    " or oblige), owner and reader. Each id belongs to one rule, and every id that a rule says is declared."
)
_RULE_ID = re.compile(r"[A-Z][0-9]{2}")


def find(sources: Sources) -> Iterator[Finding]:
    declared: dict[str, str] = {}
    for module in sources.modules:
        for rule in module.rules:
            if rule.custom.keys() & {*KEYS}:
                yield from _one(module, rule, declared)
    for module in sources.modules:
        for rule in module.rules:
            for each in walk({key: rule.node[key] for key in ("head", "body") if key in rule.node}):
                word = each.get("value")
                is_id = each.get("type") == "string" and isinstance(word, str) and _RULE_ID.fullmatch(word)
                if is_id and word not in declared:
                    yield module.finding(ID, each, f"the rule id {word} is declared by no METADATA")


def _one(module: Module, rule: Rule, declared: dict[str, str]) -> Iterator[Finding]:
    missing = [key for key in KEYS if not isinstance(rule.custom.get(key), str) or not rule.custom[key]]
    missing += [] if rule.title else ["title"]
    if missing:
        yield module.finding(ID, rule.node, f"the METADATA lacks {', '.join(missing)}")
    id = str(rule.custom.get("id", ""))
    if id and not _RULE_ID.fullmatch(id):
        yield module.finding(ID, rule.node, f"{id!r} is not an id: a letter and two digits")
    if rule.custom.get("severity") not in (*SEVERITIES, None):
        yield module.finding(
            ID, rule.node, f"the severity {rule.custom['severity']!r} is not one of {', '.join(SEVERITIES)}"
        )
    place = f"{module.file}:{rule.node['location']['row']}"
    if declared.setdefault(id, place) != place and not rule.is_else:
        yield module.finding(ID, rule.node, f"the id {id} is also that of the rule at {declared[id]}")


RULE = LintRule(ID, ADVICE, find)
