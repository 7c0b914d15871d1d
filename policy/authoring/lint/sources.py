"""The bundle's sources as `opa parse` gives them, with the names resolved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from policy.authoring.lint.findings import Finding
from policy.authoring.opa import Opa
from policy.bundles.bundle import SHIPPED
from policy.data import DATA_PATH

Node = dict[str, Any]
Path_ = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One definition of a rule (or a branch after `else`); `custom` is what its METADATA say."""

    name: str
    node: Node
    custom: Mapping[str, Any]
    title: str
    is_else: bool = False

    @property
    def speaks(self) -> bool:
        """True if it makes reasons or obligations: by its METADATA, by its name, or by what its head is made of."""
        named = self.name == "deny" or self.name.endswith(("_reasons", "_obligations", "violation"))
        keys = {
            key.get("value") for each in walk(self.head) if each.get("type") == "object" for key, _ in each["value"]
        }
        return self.is_set and (bool(self.custom.get("severity")) or named or bool(keys & {"rule", "op"}))

    @property
    def head(self) -> Node:
        """The head."""
        found: Node = self.node["head"]
        return found

    @property
    def body(self) -> list[Node]:
        """The expressions."""
        return list(self.node.get("body", ()))

    @property
    def is_function(self) -> bool:
        """True if it takes arguments."""
        return bool(self.head.get("args"))

    @property
    def is_set(self) -> bool:
        """True if it collects: `contains`, or an object by key."""
        return "key" in self.head or len(self.head.get("ref", ())) > 1

    @property
    def is_default(self) -> bool:
        """True if it is a `default`."""
        return bool(self.node.get("default"))

    @property
    def excuses(self) -> Mapping[str, Any]:
        """Lint rule to reason."""
        found = self.custom.get("lint", {})
        return found if isinstance(found, Mapping) else {"": ""}


@dataclass(frozen=True, slots=True)
class Module:
    """One file. `imports` maps each alias to its path; `package` begins with `data`."""

    file: str
    package: tuple[str, ...]
    imports: Mapping[str, tuple[str, ...]]
    rules: tuple[Rule, ...]

    def finding(self, rule: str, node: Node, message: str) -> Finding:
        """A finding at the place of a node."""
        place = next((each["location"] for each in walk(node) if "location" in each), {"row": 1, "col": 1})
        return Finding(self.file, int(place["row"]), int(place["col"]), rule, message)


@dataclass(frozen=True, slots=True)
class Sources:
    """All files that are no tests. `data` is the policy's data; `fields` are the names of all input and data fields."""

    modules: tuple[Module, ...]
    data: Mapping[str, Any]
    fields: frozenset[str]
    definitions: Mapping[tuple[str, ...], Sequence[Rule]] = field(default_factory=dict)

    def excused(self, finding: Finding) -> bool:
        """True if the METADATA of the rule around a finding excuse it."""
        rules = [rule for module in self.modules if module.file == finding.file for rule in module.rules]
        around = [rule for rule in rules if _row(rule.node) <= finding.row]
        return bool(around) and finding.rule in max(around, key=lambda rule: _row(rule.node)).excuses

    def path(self, module: Module, ref: Node) -> Path_:
        """Where a ref leads: `data.kfm.config.labels` as a tuple, from `input`, `data`, or `$` and a local name; None
        for what is only known when it runs."""
        parts = [ref] if ref["type"] == "var" else list(ref["value"])
        name = str(parts[0]["value"])
        rest = tuple(str(each["value"]) if each["type"] == "string" else None for each in parts[1:])
        if name in ("input", "data"):
            return (name, *rest)
        if name in module.imports:
            return (*module.imports[name], *rest)
        if (*module.package, name) in self.definitions:
            return (*module.package, name, *rest)
        return ("$", name, *rest)

    def stated(self, module: Module, body: Sequence[Node]) -> frozenset[str]:
        """The terms that have a value when the body holds: those of its positive expressions, and those that every
        definition of a function of the bundle states of its arguments."""
        positive = [each.get("terms") for each in body if not each.get("negated")]
        found = {shown(each) for terms in positive for each in _needed(terms) if each.get("type") == "ref"}
        for operator, arguments in calls([{"terms": terms} for terms in positive]):
            if operator.get("type") in ("ref", "var"):
                found |= self._by_function(module, operator, arguments)
        return frozenset(found)

    def _by_function(self, module: Module, operator: Node, arguments: Sequence[Node]) -> set[str]:
        rules, _ = self.rule_at(self.path(module, operator))
        each_states = []
        for rule in rules:
            names = {str(p["value"]): shown(a) for p, a in zip(rule.head.get("args", ()), arguments, strict=False)}
            terms = [e.get("terms") for e in rule.body if not e.get("negated")]
            refs = [r for r in _needed(terms) if r.get("type") == "ref" and str(r["value"][0]["value"]) in names]
            each_states.append(
                {names[str(r["value"][0]["value"])] + shown(r)[len(str(r["value"][0]["value"])) :] for r in refs}
            )
        return set.intersection(*each_states) if each_states else set()

    def rule_at(self, path: Path_) -> tuple[Sequence[Rule], Path_]:
        """The definitions that a path leads to, and what is left of it; none where it leads to data or the input."""
        for length in range(len(path), 1, -1):
            found = self.definitions.get(tuple(str(each) for each in path[:length]))
            if found:
                return found, path[length:]
        return (), path


def read_sources_of(opa: Opa, root: Path) -> Sources:
    """Parse everything below `root`. Raises OpaFailed."""
    texts = {
        p.relative_to(root).as_posix(): p for p in sorted(root.rglob("*.rego")) if not p.name.endswith("_test.rego")
    }
    arguments = ("parse", "--format", "json", "--json-include", "locations,-comments")
    parsed = {name: json.loads(opa.run(*arguments, name, cwd=root)) for name in texts}
    data = root / DATA_PATH
    return sources_from(parsed, json.loads(data.read_bytes()) if data.is_file() else {})


def sources_from(parsed: Mapping[str, Node], data: Mapping[str, Any]) -> Sources:
    """Sources from parsed files by name, and the policy's data."""
    modules = tuple(_module(name, ast) for name, ast in parsed.items())
    definitions: dict[tuple[str, ...], list[Rule]] = {}
    for module in modules:
        for rule in module.rules:
            definitions.setdefault((*module.package, rule.name), []).append(rule)
    schemas = [json.loads((SHIPPED / "schemas" / f"{name}.schema.json").read_bytes()) for name in ("input", "config")]
    fields = frozenset(name for schema in schemas for name in _properties(schema))
    return Sources(modules, data, fields, definitions)


def walk(node: object) -> Iterator[Node]:
    """A node and all nodes inside it, from the top."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            if isinstance(value, dict | list):
                yield from walk(value)
    elif isinstance(node, list):
        for each in node:
            yield from walk(each)


def _needed(node: object) -> Iterator[Node]:
    """The nodes that must have a value for the whole to have one: a comprehension has one, however empty."""
    if isinstance(node, dict):
        if not str(node.get("type", "")).endswith("comprehension"):
            yield node
            for value in node.values():
                yield from _needed(value)
    elif isinstance(node, list):
        for each in node:
            yield from _needed(each)


def calls(node: object) -> Iterator[tuple[Node, list[Node]]]:
    """Every call inside a node: its operator and its arguments."""
    for each in walk(node):
        terms = each.get("terms")
        if isinstance(terms, list):
            yield terms[0], terms[1:]
        elif each.get("type") == "call":
            yield each["value"][0], each["value"][1:]


def name_of(operator: Node) -> str:
    """`internal.member_2` and the like, as written."""
    parts = [operator] if operator["type"] == "var" else operator["value"]
    return ".".join(str(each["value"]) for each in parts)


def shown(term: object) -> str:
    """A term as text, the same for equal terms."""
    if not isinstance(term, dict):
        return json.dumps(term)
    value = term.get("value")
    match term.get("type"):
        case "ref" if isinstance(value, list):
            first, *rest = value
            return shown(first) + "".join(f".{e['value']}" if e["type"] == "string" else f"[{shown(e)}]" for e in rest)
        case "var":
            return str(value)
        case "call" if isinstance(value, list):
            return f"{name_of(value[0])}({', '.join(map(shown, value[1:]))})"
        case _:
            return json.dumps(value, sort_keys=True, default=str)


def _module(name: str, ast: Node) -> Module:
    package = tuple(str(each["value"]) for each in ast["package"]["path"])
    imports = {}
    for each in ast.get("imports", ()):
        path = tuple(str(part["value"]) for part in each["path"]["value"])
        imports[each.get("alias") or path[-1]] = path
    rules = tuple(made for node in ast.get("rules", ()) for made in _rules(node))
    return Module(name, package, imports, rules)


def _rules(node: Node) -> Iterator[Rule]:
    """A definition and its `else` branches."""
    notes = [each for each in node.get("annotations", ()) if each.get("scope") in ("rule", "document")]
    custom: dict[str, Any] = {}
    for note in notes:
        custom |= note.get("custom", {})
    title = next((str(note["title"]) for note in notes if note.get("title")), "")
    following: Node | None = node
    while following is not None:
        alone = {key: value for key, value in following.items() if key not in ("annotations", "else")}
        yield Rule(str(following["head"]["ref"][0]["value"]), alone, custom, title, following is not node)
        following = following.get("else")


def _row(node: Node) -> int:
    return int(node["location"]["row"])


def _properties(schema: object) -> Iterator[str]:
    for each in walk(schema):
        properties = each.get("properties")
        if isinstance(properties, dict):
            yield from properties
