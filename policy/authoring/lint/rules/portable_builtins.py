"""Built-in functions that the embedded engine does not have, or that do not mean the same to every engine.

`PORTABLE` was measured: what OPA compiles into a module without asking its host, less what differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.sources import Sources, calls, name_of, walk

ID = "portable-builtins"
ADVICE = (
    "Use the functions that are compiled into the module and mean the same everywhere; put what needs others (time,"
    " text, network) into the facts of the input."
)

_PORTABLE = """
abs and array.concat array.flatten array.reverse array.slice assign bits.and bits.lsh bits.negate bits.or
bits.rsh bits.xor concat contains count endswith eq equal format_int graph.reachable gt gte internal.member_2
internal.member_3 intersection is_array is_boolean is_null is_number is_object is_set is_string json.filter
json.remove lt lte max min minus mul neq numbers.range object.filter object.get object.keys object.remove
object.union object.union_n or plus product regex.match regex.is_valid rem replace sort split startswith
strings.replace_n sum trim trim_left trim_prefix trim_right trim_space trim_suffix type_name union
"""
PORTABLE = frozenset(_PORTABLE.split())

_TEXT = "engines count and fold characters beyond ASCII differently"
_FRACTION = "it can make a fraction, see the rule `fraction`"
UNLIKE: Mapping[str, str] = {
    **dict.fromkeys(("lower", "upper", "indexof", "substring", "strings.reverse"), _TEXT),
    **dict.fromkeys(("div", "round", "ceil", "floor", "to_number"), _FRACTION),
    "regex.find_all_string_submatch_n": "engines differ in what an empty group is",
    "glob.match": "engines differ in delimiters and classes",
    "json.marshal": "sets and numbers are written differently",
    "json.unmarshal": "numbers are read differently",
    "internal.template_string": "values are written differently; a rule says codes, not sentences",
    "net.cidr_contains": "addresses are not facts of a policy input",
    "net.cidr_intersects": "addresses are not facts of a policy input",
    "print": "it does nothing in the module; take it out",
    "internal.print": "it does nothing in the module; take it out",
    "trace": "it does nothing in the module; take it out",
    "sprintf": "values are written differently; a rule says codes, not sentences",
    "walk": "it walks in another order; name the fields",
}
_SPACES = """
base64 base64url crypto glob graphql hex http io json net opa providers rand rego semver time units urlquery uuid yaml
strings regex object array bits numbers graph internal
"""
HOST = frozenset(_SPACES.split())
"""Prefixes of the names of built-in functions, up to the first dot."""


def find(sources: Sources) -> Iterator[Finding]:
    for module in sources.modules:
        for rule in module.rules:
            for each in walk(rule.node):
                if each.get("type") == "templatestring":
                    yield module.finding(ID, each, f"a template string: {UNLIKE['internal.template_string']}")
            for operator, _ in calls(rule.node):
                name = name_of(operator)
                if name in UNLIKE:
                    if name not in ("div", "round", "ceil", "floor", "to_number"):
                        yield module.finding(ID, operator, f"`{name}`: {UNLIKE[name]}")
                elif name not in PORTABLE and not sources.rule_at(sources.path(module, operator))[0]:
                    yield module.finding(
                        ID, operator, f"`{name}` is not compiled into the module: there it has no value"
                    )


RULE = LintRule(ID, ADVICE, find)
