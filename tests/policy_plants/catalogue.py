"""The catalogue: every plant, of every kind, counted in one place.

Each plant is an edit of a copy of the shipped bundle, with the names (or their beginnings) of which one must be accepted
for each thing that it opens. The order is mixed, so that any first part of it holds plants of all kinds.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from pathlib import Path

from policy.bundles.bundle import DATA_PATH, SHIPPED
from tests.policy_plants.of_data import CHANGES, DATA, Change, Data
from tests.policy_plants.of_rules import PLANTS as RULES
from tests.policy_plants.of_rules import plant_rule

KINDS = ("alias", "capability", "data", "expectation", "rule", "combination")


@dataclass(frozen=True)
class Plant:
    """`opens` are beginnings of names of widenings: of each, one must be told. `new_rules` needs a module of its own."""

    kind: str
    name: str
    edit: Callable[[Path], object]
    opens: tuple[str, ...]
    new_rules: bool = False

    @property
    def place(self) -> str:
        """Where it stands in the mixed order."""
        return sha256(f"{self.kind}/{self.name}".encode()).hexdigest()


def edit_data(*changes: Callable[[Data], object]) -> Callable[[Path], None]:
    """An edit of the bundle's data."""

    def edit(folder: Path) -> None:
        path = folder / "rego" / DATA_PATH
        data = json.loads(path.read_text("utf-8"))
        for change in changes:
            change(data)
        path.write_text(json.dumps(data, indent=2), "utf-8")

    return edit


def _data() -> Iterator[Plant]:
    """Each change of data. Two that open the same in different ways are told apart by a number."""
    seen = Counter[str]()
    for change in CHANGES:
        seen[change.name] += 1
        kind = "capability" if ": capability " in change.name else "alias" if _is_alias(change) else "data"
        yield Plant(kind, f"{change.name} #{seen[change.name]}", edit_data(change.change), (change.name,))
    for name, role in (("viewer", "auditor"), ("public", "policy_author"), ("guest", "operator")):
        gained = sorted(set(DATA["roles"][role]["capabilities"]) - set(DATA["roles"]["public_viewer"]["capabilities"]))
        change_alias = edit_data(lambda d, n=name, r=role: d["aliases"].update({n: r}))  # type: ignore[misc]
        yield Plant("alias", f"{name} is {role}", change_alias, tuple(f"role {name}: capability {c}" for c in gained))


def _is_alias(change: Change) -> bool:
    return change.name.startswith("role ") and change.name.split(":")[0].removeprefix("role ") not in DATA["roles"]


def _remove_case(group: str, name: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "vectors" / f"{group}.json"
        document = json.loads(path.read_text("utf-8"))
        document["cases"] = [case for case in document["cases"] if case["name"] != name]
        path.write_text(json.dumps(document), "utf-8")

    return edit


def remove_invariant(folder: Path, title: str, why: str) -> None:
    """Take the invariant of that title out of the bundle below `folder`, the shipped one too."""
    path = folder / "vectors" / "invariants.toml"
    head, *tables = path.read_text("utf-8").split("\n[[")
    kept = [each for each in tables if f"title = {json.dumps(title)}" not in each or each.startswith("removed")]
    removed = f"removed]]\ntitle = {json.dumps(title)}\nwhy = {json.dumps(why)}\n"
    path.write_text("\n[[".join([head, *kept, removed]), "utf-8")


def remove_test(folder: Path, file: str, name: str) -> None:
    """Take one of the bundle's own tests out."""
    path = folder / "rego" / file
    path.write_text(re.sub(rf"\n{name} if \{{\n.*?\n\}}\n", "\n", path.read_text("utf-8"), flags=re.DOTALL), "utf-8")


def _expectations() -> Iterator[Plant]:
    """Some of the vectors of each point, and every invariant."""
    for group in ("query", "evidence", "answer"):
        cases = json.loads((SHIPPED / "vectors" / f"{group}.json").read_text("utf-8"))["cases"]
        for case in cases[:: max(1, len(cases) // 4)]:
            opens = (f"vector {group}/{case['name']}: removed",)
            yield Plant("expectation", f"vector {group}/{case['name']}", _remove_case(group, case["name"]), opens)
    text = (SHIPPED / "vectors" / "invariants.toml").read_text("utf-8")
    for title in re.findall(r'^title = "(.*)"$', text, re.MULTILINE):
        edit = lambda folder, t=title: remove_invariant(folder, t, "it stood in the way")  # noqa: E731
        yield Plant("expectation", f"invariant {title}", edit, (f"invariant {title}: removed",))


def _rules() -> Iterator[Plant]:
    for guard, condition in RULES:
        edit = lambda folder, g=guard, c=condition: plant_rule(folder, g, c)  # noqa: E731
        yield Plant("rule", f"{guard} for {condition}", edit, ("constant ", "test "), new_rules=True)


def _combinations() -> Iterator[Plant]:
    """Changes of data of different kinds in one edit, some with a rule beside them."""
    firsts: dict[str, Change] = {}
    for change in CHANGES:
        firsts.setdefault(change.name.split(" ")[0], change)
    usable = [each for key, each in firsts.items() if key != "label"]  # what a clearance says changes with the labels
    for one, other in combinations(usable, 2):
        edit = edit_data(one.change, other.change)
        yield Plant("combination", f"{one.name} and {other.name}", edit, (one.name, other.name))
    for n, change in enumerate(usable):
        guard, condition = RULES[7 * n % len(RULES)]
        both = lambda folder, c=change, g=guard, k=condition: (edit_data(c.change)(folder), plant_rule(folder, g, k))  # noqa: E731
        name = f"{change.name} and {guard} for {condition}"
        yield Plant("combination", name, both, (change.name, "constant ", "test "), new_rules=True)


CATALOGUE: tuple[Plant, ...] = tuple(
    sorted((*_data(), *_expectations(), *_rules(), *_combinations()), key=lambda plant: plant.place)
)
