"""A path below `data` that leads nowhere: it has no value, and nobody says so."""

from __future__ import annotations

from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.rules.negated_argument import in_data
from policy.authoring.lint.sources import Sources, shown, walk

ID = "unknown-data"
ADVICE = "Name a rule of the bundle, or a key that is in data.json and its schema."


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            for each in walk(rule.node):
                if each.get("type") != "ref" or each["value"][0].get("type") != "var":
                    continue
                path = sources.path(module, each)
                known = path[: path.index(None)] if None in path else path
                if known[0] == "data" and not _there(sources, known):
                    yield module.finding(ID, each, f"`{shown(each)}` is neither a rule nor in the data")


def _there(sources: Sources, path: tuple[str | None, ...]) -> bool:
    if path[:3] == ("data", "kfm", "config"):
        return in_data(sources, path)
    if sources.rule_at(path)[0]:
        return True
    return any(module.package[: len(path)] == path for module in sources.modules)


RULE = LintRule(ID, ADVICE, find)
