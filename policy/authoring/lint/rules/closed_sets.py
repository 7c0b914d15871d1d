"""A comparison with a name that the data do not know: it never holds, and a negation of it always does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.sources import Node, Sources, calls, name_of

ID = "closed-sets"
ADVICE = "Labels, roles, capabilities, purposes and lifecycle states are named in data.json; compare with one of those."
_FIELDS: Mapping[str, str] = {
    "label": "labels",
    "clearance": "labels",
    "capabilities": "capabilities",
    "purpose": "purposes",
    "roles": "roles",
    "lifecycle": "lifecycle",
}
_COMPARISONS = ("equal", "eq", "neq", "internal.member_2")


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            for operator, arguments in calls(rule.node):
                if name_of(operator) not in _COMPARISONS or len(arguments) != 2:
                    continue
                for one, other in (arguments, arguments[::-1]):
                    name, word = _field(one), other.get("value")
                    if name and other.get("type") == "string" and word not in _known(sources, name):
                        yield module.finding(ID, other, f"{word!r} is not one of the {_FIELDS[name]} in the data")


def _field(term: Node) -> str:
    if term.get("type") != "ref" or term["value"][-1]["type"] != "string":
        return ""
    name = str(term["value"][-1]["value"])
    return name if name in _FIELDS else ""


def _known(sources: Sources, name: str) -> frozenset[str]:
    return frozenset(sources.data.get(_FIELDS[name], ()))


RULE = LintRule(ID, ADVICE, find)
