"""A field that no input, no data and no object of the bundle has: a slip of the pen that never holds.

`opa check` sees such fields on `input` itself; on the argument of a function it cannot.
"""

from __future__ import annotations

from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.rules.portable_builtins import HOST, PORTABLE, UNLIKE
from policy.authoring.lint.sources import Sources, shown, walk

ID = "unknown-field"
ADVICE = "Input fields are declared in schemas/input.schema.json, those of the data in schemas/config.schema.json."


def find(sources: Sources) -> Iterator[Finding]:
    own = frozenset(_made(sources))
    for module in sources.modules:
        for rule in module.rules:
            for each in walk(rule.node):
                if each.get("type") != "ref" or sources.path(module, each)[0] != "$":
                    continue
                for part in each["value"][1:]:
                    unknown = part["type"] == "string" and part["value"] not in sources.fields | own
                    if unknown and not _is_operator(each):
                        yield module.finding(ID, part, f"`{shown(each)}`: nothing has a field {part['value']!r}")


def _made(sources: Sources) -> Iterator[str]:
    """The keys of the objects that the bundle makes."""
    for module in sources.modules:
        for each in walk([rule.node for rule in module.rules]):
            if each.get("type") == "object":
                yield from (str(key["value"]) for key, _ in each["value"] if key.get("type") == "string")


def _is_operator(ref: dict[str, object]) -> bool:
    """Built-in functions with a dot in their name are refs too."""
    text = shown(ref)
    return text in PORTABLE or text in UNLIKE or text.split(".")[0] in HOST


RULE = LintRule(ID, ADVICE, find)
