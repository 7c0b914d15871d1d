"""A positive statement that holds because a field is not there: what nobody examined passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.rules.negated_argument import may_be_undefined
from policy.authoring.lint.sources import Module, Node, Rule, Sources, calls, name_of, shown, walk

ID = "absent-grants"
ADVICE = (
    "A field that nobody has filled in must not be what lets an item pass, and `not item.field` holds for `false` as"
    ' well. Prove what is there (`is_number(item.field)`); where absence has a meaning, write it: `not "field" in'
    " object.keys(item)`."
)
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "equal": eq, "eq": eq, "neq": ne, "lt": lt, "lte": le, "gt": gt, "gte": ge,
}  # fmt: skip
_TURNED = {"lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            if not rule.speaks and not rule.is_default and not rule.custom.get("severity"):
                for expression in rule.body:
                    yield from _in_expression(sources, module, rule, expression)


def _in_expression(sources: Sources, module: Module, rule: Rule, expression: Node) -> Iterator[Finding]:
    terms, negated = expression.get("terms"), bool(expression.get("negated"))
    others = [each for each in rule.body if each is not expression]
    absent = _Absent(sources, module, sources.stated(module, others), _assigned(others))
    if isinstance(terms, dict) and terms.get("type") == "ref" and negated and absent.may_be(terms):
        yield module.finding(ID, terms, f"`not {shown(terms)}` holds where the field is absent, and where it is false")
    elif isinstance(terms, list) and absent.makes_true(terms, negated=negated):
        text = f"{'not ' if negated else ''}{name_of(terms[0])}"
        yield module.finding(ID, terms[0], f"`{text}` holds where a field in what it is given is absent")


def _assigned(body: Sequence[Node]) -> dict[str, Node]:
    """Local names with the terms that `:=` gives them."""
    found = {}
    for each in body:
        terms = each.get("terms")
        if isinstance(terms, list) and name_of(terms[0]) == "assign" and terms[1]["type"] == "var":
            found[str(terms[1]["value"])] = terms[2]
    return found


class _Absent:
    """The value of an expression where the fields that nothing else in its body states are absent."""

    def __init__(self, sources: Sources, module: Module, stated: frozenset[str], assigned: Mapping[str, Node]) -> None:
        self._sources, self._module, self._stated, self._assigned = sources, module, stated, assigned

    def may_be(self, ref: Node) -> bool:
        """True for a field of the input or of an argument that can be absent; rules and data are proved elsewhere."""
        name, *_ = self._sources.path(self._module, ref)
        of = self._assigned.get(str(ref["value"][0]["value"])) if name == "$" else None
        if of is not None and of.get("type") in ("ref", "var") and self._sources.path(self._module, of)[0] == "data":
            return False
        stated = shown(ref) in self._stated or name not in ("input", "$")
        return not stated and may_be_undefined(self._sources, self._module, ref)

    def makes_true(self, terms: list[Node], *, negated: bool) -> bool:
        """True if a call holds with every absent field taken as absent."""
        name = name_of(terms[0])
        if name == "object.get" and len(terms) == 4:
            found = self._value({"type": "call", "value": terms})
            return found is not _UNKNOWN and (found is False) is negated and found is not None
        if name not in _COMPARISONS or len(terms) != 3:
            return False
        one, other = terms[1], terms[2]
        if not (self._defaulted(one) or self._defaulted(other)):
            return False
        left, right = self._value(one), self._value(other)
        if left is _UNKNOWN or right is _UNKNOWN:
            return False
        try:
            return bool(_COMPARISONS[name](left, right)) is not negated
        except TypeError:
            return False

    def _defaulted(self, term: Node) -> bool:
        """True for a term that has a value although a field in it is absent."""
        named = [self._assigned[str(e["value"])] for e in walk(term) if e.get("type") == "var" and self._names(e)]
        return any(self._is_default(each) or self._is_empty(each) for each in walk([term, *named]))

    def _names(self, var: Node) -> bool:
        return str(var["value"]) in self._assigned

    def _is_default(self, term: Node) -> bool:
        return term.get("type") == "call" and name_of(term["value"][0]) == "object.get"

    def _is_empty(self, term: Node) -> bool:
        """True for a comprehension over a field that may be absent."""
        if not str(term.get("type", "")).endswith("comprehension"):
            return False
        iterated = [each["terms"]["symbols"] for each in term["value"]["body"] if "symbols" in each.get("terms", ())]
        given = [argument for _, arguments in calls(iterated) for argument in arguments]
        refs = [each for each in given if each.get("type") == "ref"]
        return any(self.may_be(each) for each in refs)

    def _value(self, term: Node) -> Any:
        kind, value = term.get("type"), term.get("value")
        found: Any = _UNKNOWN
        if kind in ("number", "string", "boolean", "null"):
            found = value
        elif kind == "var" and self._names(term):
            found = self._value(self._assigned[str(value)])
        elif self._is_empty(term) or (kind in ("array", "set", "object") and not value):
            found = (str(kind).removesuffix("comprehension"), [])
        elif kind == "call" and isinstance(value, list):
            found = self._called(name_of(value[0]), value[1:])
        return found

    def _called(self, name: str, arguments: list[Node]) -> Any:
        if name == "object.get":
            return self._value(arguments[2])
        if name == "set" and not arguments:
            return ("set", [])
        if name == "count" and isinstance(counted := self._value(arguments[0]), tuple):
            return len(counted[1])
        return _UNKNOWN


_UNKNOWN = object()

RULE = LintRule(ID, ADVICE, find)
