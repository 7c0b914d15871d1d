"""Patterns whose classes depend on the engine's tables of characters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.sources import Sources, calls, name_of

ID = "regex-classes"
ADVICE = (
    "Write the characters out (`[0-9A-Za-z_]`), all of them ASCII and with their case; the pattern must be a constant."
)
_TABLES = re.compile(r"\\[wWdDsSbBpP]|\(\?[a-z]*i|\[\[:|[^\x00-\x7f]")


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            for operator, arguments in calls(rule.node):
                if not name_of(operator).startswith("regex.") or not arguments:
                    continue
                pattern = arguments[0]
                if pattern.get("type") != "string":
                    yield module.finding(ID, operator, "the pattern is not a constant")
                elif _TABLES.search(str(pattern["value"])):
                    yield module.finding(ID, pattern, "the pattern uses classes that engines fill differently")


RULE = LintRule(ID, ADVICE, find)
