"""Decision vectors: inputs with the decision that must come back, on whichever engine.

A file `<point>.json` holds `base`, an allowed input, and `cases`, each a patch of the base and the decision in brief,
one line per reason and obligation. `allow_answer.json` holds inputs with true or false. They lie beside the rules, in
`vectors/` of the bundle's folder; where a bundle has none the shipped ones hold.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy.authoring.lattice.deciding import Decide, Outcome
from policy.bundles.bundle import SHIPPED
from policy.canonical import canonical
from policy.errors import InputRejected
from policy.model import Point

Allows = Callable[[Sequence[bytes]], Awaitable[list[object]]]
"""The answer of requirement 003's rule to each input."""


class VectorsInvalid(InputRejected):
    """Files that hold no decision vectors."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One engine as the vectors see it."""

    name: str
    decide: Decide
    allows: Allows


@dataclass(frozen=True, slots=True)
class Vector:
    """`group` is the file's name, `expected` the decision in brief, or a boolean."""

    group: str
    name: str
    asked: bytes
    expected: object

    @property
    def rules(self) -> frozenset[str]:
        """The ids of the rules that must speak."""
        return rules_of(self.expected)


@dataclass(frozen=True, slots=True)
class VectorResult:
    """`got` is as `expected`, or one word for what was no decision."""

    vector: Vector
    got: object

    @property
    def passed(self) -> bool:
        """True if the decision is the expected one."""
        return type(self.got) is type(self.vector.expected) and self.got == self.vector.expected

    def differences(self) -> tuple[str, ...]:
        """One line per fact: `- expected`, `+ got`."""
        wanted, got = _lines(self.vector.expected), _lines(self.got)
        return (
            *(f"- {line}" for line in wanted if line not in got),
            *(f"+ {line}" for line in got if line not in wanted),
        )


def vectors_folder(bundle: Path) -> Path:
    """The bundle's own vectors, or the shipped ones."""
    own = bundle / "vectors"
    return own if own.is_dir() else SHIPPED / "vectors"


def read_vectors(folder: Path) -> tuple[Vector, ...]:
    """Every vector below `folder`. Raises VectorsInvalid."""
    if not folder.is_dir():
        raise VectorsInvalid(f"{folder} is not a folder with decision vectors")
    found: list[Vector] = []
    for point in Point:
        document = _read(folder / f"{point}.json")
        found += [_vector(f"{point}.json", str(point), document.get("base"), case) for case in document["cases"]]
    allows = folder / "allow_answer.json"
    if allows.is_file():
        found += [_allowing(case) for case in _read(allows)["cases"]]
    return tuple(found)


async def run_vectors(evaluator: Evaluator, vectors: Sequence[Vector]) -> tuple[VectorResult, ...]:
    """Each vector on one engine, in order."""
    results: dict[int, VectorResult] = {}
    for group in dict.fromkeys(each.group for each in vectors):
        numbered = [(i, each) for i, each in enumerate(vectors) if each.group == group]
        got = await _answers(evaluator, group, [each.asked for _, each in numbered])
        results |= {i: VectorResult(each, told) for (i, each), told in zip(numbered, got, strict=True)}
    return tuple(results[i] for i in range(len(vectors)))


async def _answers(evaluator: Evaluator, group: str, inputs: Sequence[bytes]) -> list[object]:
    if group == "allow_answer":
        return await evaluator.allows(inputs)
    return [brief(each) for each in await evaluator.decide(Point(group), inputs)]


def patched(document: Mapping[str, Any], patch: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """A copy with `["set", path, value]` and `["delete", path]` carried out; a path is keys joined by slashes, one past
    the end appends. Raises LookupError, TypeError and ValueError where a path leads nowhere."""
    changed = copy.deepcopy(dict(document))
    for operation, path, *value in patch:
        *parents, last = path.split("/")
        place: Any = changed
        for name in parents:
            place = place[int(name)] if isinstance(place, list) else place[name]
        key = int(last) if isinstance(place, list) else last
        if operation == "delete":
            del place[key]
        elif isinstance(place, list) and key == len(place):
            place.append(value[0])
        else:
            place[key] = value[0]
    return changed


def brief(outcome: Outcome) -> object:
    """A decision as the vectors write it: one line per fact, sorted; a word stays a word."""
    if isinstance(outcome, str):
        return outcome
    reasons = [f"{e['rule']} {e['code']} {e['severity']} {_about(e)}" for e in outcome["reasons"]]
    obligations = [f"{e['rule']} {e['op']} {_about(e)}" for e in outcome["obligations"]]
    return {
        "effect": outcome["effect"],
        "admit": sorted(outcome["admit"]),
        "reasons": sorted(reasons),
        "obligations": sorted(obligations),
    }


def rules_of(told: object) -> frozenset[str]:
    """The ids of the rules that speak in a decision in brief."""
    if not isinstance(told, Mapping):
        return frozenset()
    return frozenset(line.split(" ", 1)[0] for key in ("reasons", "obligations") for line in told[key])


def _about(each: Mapping[str, Any]) -> str:
    params = f" {json.dumps(each['params'], sort_keys=True)}" if each["params"] else ""
    return f"{each['target']['kind']}:{each['target']['ref']}{params}"


def _lines(told: object) -> list[str]:
    if not isinstance(told, Mapping):
        return [json.dumps(told)]
    listed = [line for key in ("reasons", "obligations") for line in told[key]]
    return [f"effect {told['effect']}", *(f"admit {id}" for id in told["admit"]), *listed]


def _read(path: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if not isinstance(document["cases"], list) or not document["cases"]:
            raise TypeError("cases")
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise VectorsInvalid(f"{path} holds no decision vectors: {type(exc).__name__}") from None
    return document


def _vector(file: str, group: str, base: Any, case: Any) -> Vector:
    try:
        expected = {key: case["decision"][key] for key in ("effect", "admit", "reasons", "obligations")}
        return Vector(group, str(case["name"]), canonical(patched(base, case["patch"])), expected)
    except (LookupError, TypeError, ValueError, InputRejected) as exc:
        name = case.get("name", "?") if isinstance(case, dict) else "?"
        raise VectorsInvalid(f"{file}: the case {name!r} cannot be read: {type(exc).__name__}") from None


def _allowing(case: Any) -> Vector:
    try:
        return Vector(
            "allow_answer", str(case.get("name", json.dumps(case["input"]))), canonical(case["input"]), case["result"]
        )
    except (LookupError, TypeError, AttributeError, InputRejected) as exc:
        raise VectorsInvalid(f"allow_answer.json: a case cannot be read: {type(exc).__name__}") from None
