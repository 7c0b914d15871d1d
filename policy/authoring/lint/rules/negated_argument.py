"""`not f(input.missing)`: an argument without a value leaves the whole rule without one, and the denial vanishes."""

from __future__ import annotations

from collections.abc import Iterator

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.sources import Module, Node, Rule, Sources, name_of, shown, walk

ID = "negated-argument"
ADVICE = (
    "A negated call whose argument is undefined is itself undefined, on both engines: the rule does not speak, and what"
    " it would have denied passes. Pass the whole object to a positive helper (`not tenant_ok(item)`), or state first"
    " that the value is there (`is_string(item.kind)`)."
)
_SAFE = ("equal", "eq")


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            for body in _bodies(rule.node):
                yield from _in_body(sources, module, body)


def _in_body(sources: Sources, module: Module, body: list[Node]) -> Iterator[Finding]:
    stated = sources.stated(module, body)
    for each in body:
        terms = each.get("terms")
        if not each.get("negated") or not isinstance(terms, list):
            continue
        safe = name_of(terms[0]) in _SAFE and all(argument["type"] != "call" for argument in terms[1:])
        for ref in (r for argument in terms[1:] for r in _refs(argument)):
            if not safe and shown(ref) not in stated and may_be_undefined(sources, module, ref):
                text = f"`{shown(ref)}` may have no value, and then `not {name_of(terms[0])}(...)` has none either"
                yield module.finding(ID, ref, text)


def may_be_undefined(sources: Sources, module: Module, ref: Node) -> bool:
    """True if a term can have no value when everything around it has one."""
    path = sources.path(module, ref)
    if path[0] in ("input", "$"):
        return len(path) > (1 if path[0] == "input" else 2)
    if path[:3] == ("data", "kfm", "config"):
        return not in_data(sources, path)
    rules, rest = sources.rule_at(path)
    return bool(rest) or not _always(rules)


def in_data(sources: Sources, path: tuple[str | None, ...]) -> bool:
    """True if a path below `data.kfm.config` is there in the data."""
    place: object = sources.data
    for key in path[3:]:
        if not isinstance(place, dict) or key not in place:
            return False
        place = place[key]
    return True


def _always(rules: object) -> bool:
    """Sets and objects are at least empty; a default, or a definition without a body, always has a value."""
    found: list[Rule] = list(rules)  # type: ignore[call-overload]
    return any(rule.is_set or rule.is_function or rule.is_default or _unconditional(rule) for rule in found)


def _unconditional(rule: Rule) -> bool:
    return not rule.body or all(_is_true(each.get("terms")) for each in rule.body)


def _is_true(terms: object) -> bool:
    return isinstance(terms, dict) and terms.get("type") == "boolean" and terms.get("value") is True


def _refs(argument: Node) -> Iterator[Node]:
    """The refs and names that an argument is made of; a comprehension is never undefined."""
    if str(argument.get("type", "")).endswith("comprehension"):
        return
    if argument.get("type") in ("ref", "var"):
        yield argument
    elif argument.get("type") == "call":
        for each in argument["value"][1:]:
            yield from _refs(each)
    elif isinstance(argument.get("value"), list):
        for each in argument["value"]:
            for part in each if isinstance(each, list) else [each]:
                yield from _refs(part)


def _bodies(node: Node) -> Iterator[list[Node]]:
    """The rule's body and those of comprehensions and `every` inside it."""
    for each in walk(node):
        if isinstance(each.get("body"), list):
            yield each["body"]


RULE = LintRule(ID, ADVICE, find)
