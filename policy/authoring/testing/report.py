"""The results of a run of tests: by test, by engine and vector, by rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from xml.etree import ElementTree

from policy.authoring.testing.access_table import FILE, CellResult
from policy.authoring.testing.opa_tests import OwnTest
from policy.authoring.testing.vectors import VectorResult
from policy.rules import RuleInfo

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule: its own tests, and the vectors in which it must speak and must stay silent, passed and failed."""

    id: str
    title: str
    tests: int
    vectors: int
    silent: int
    failed: int


@dataclass(frozen=True, slots=True)
class TestReport:
    """`own` is None where the `opa` program is missing; `vectors` by the engine's name; `canary` are findings,
    `table` the cells of the access table, if the bundle has one."""

    __test__ = False  # not for pytest

    bundle_digest: str
    rules: tuple[RuleInfo, ...]
    own: tuple[OwnTest, ...] | None
    vectors: Mapping[str, Sequence[VectorResult]]
    canary: tuple[str, ...]
    table: tuple[CellResult, ...] = ()

    def failed(self) -> list[str]:
        """One line for each thing that failed, engines together."""
        lines = [f"{each.name} ({each.state})" for each in self.own or () if each.state in ("failed", "error")]
        wrong: dict[str, list[str]] = {}
        for engine, results in self.vectors.items():
            for result in results:
                if not result.passed:
                    wrong.setdefault(f"{result.vector.group}: {result.vector.name}", []).append(engine)
        lines += [f"{name} on {', '.join(engines)}" for name, engines in wrong.items()]
        lines += [f"{FILE}: {each}" for each in self.table if not each.passed]
        return lines + [f"canary: {each}" for each in self.canary]

    def by_rule(self) -> tuple[RuleResult, ...]:
        """Every rule of the bundle, also one that nothing tests."""
        return tuple(self._of(rule) for rule in self.rules)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "bundle_digest": self.bundle_digest,
            "engines": list(self.vectors),
            "own_tests": None if self.own is None else [asdict(each) for each in self.own],
            "vectors": [_vector(engine, each) for engine, found in self.vectors.items() for each in found],
            "canary": list(self.canary),
            "table": [asdict(each) | {"passed": each.passed} for each in self.table],
            "rules": [asdict(each) for each in self.by_rule()],
            "failed": self.failed(),
        }

    def junit(self) -> str:
        """As JUnit XML: one suite for the own tests, one for each engine, one for the access table if
        there is one, one for the canary."""
        root = ElementTree.Element("testsuites", name="policy")
        cases = [(each.name, each.seconds, _why(each)) for each in self.own or ()]
        _suite(root, "opa test", cases)
        for engine, results in self.vectors.items():
            named = ((f"{r.vector.group}: {r.vector.name}", 0.0, "\n".join(r.differences())) for r in results)
            _suite(root, f"vectors on {engine}", list(named))
        if self.table:
            _suite(root, "access table", _cells(self.table))
        _suite(root, "canary", [("the empty input and each guard", 0.0, "\n".join(self.canary))])
        ElementTree.indent(root)
        return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"

    def _of(self, rule: RuleInfo) -> RuleResult:
        own = [each for each in self.own or () if rule.id in each.rules]
        results = [each for found in self.vectors.values() for each in found if each.vector.group != "allow_answer"]
        about = [each for each in results if rule.id in each.vector.rules]
        bad = [each for each in about if not each.passed]
        engines = max(1, len(self.vectors))
        return RuleResult(
            id=rule.id,
            title=rule.title,
            tests=len(own),
            vectors=len(about) // engines,
            silent=(len(results) - len(about)) // engines,
            failed=sum(each.state in ("failed", "error") for each in own) + len(bad),
        )


def _vector(engine: str, result: VectorResult) -> dict[str, Any]:
    return {
        "engine": engine,
        "point": result.vector.group,
        "name": result.vector.name,
        "rules": sorted(result.vector.rules),
        "passed": result.passed,
        "differences": list(result.differences()),
    }


def _cells(table: Sequence[CellResult]) -> list[tuple[str, float, str]]:
    return [(f"{each.principal}, {each.resource}", 0.0, "" if each.passed else str(each)) for each in table]


def _why(test: OwnTest) -> str:
    return (test.detail or test.state) if test.state in ("failed", "error") else ""


def _suite(root: ElementTree.Element, name: str, cases: Sequence[tuple[str, float, str]]) -> None:
    failures = sum(bool(why) for _, _, why in cases)
    suite = ElementTree.SubElement(root, "testsuite", name=name, tests=str(len(cases)), failures=str(failures))
    for case, seconds, why in cases:
        made = ElementTree.SubElement(suite, "testcase", classname=name, name=_xml(case), time=f"{seconds:.6f}")
        if why:
            ElementTree.SubElement(made, "failure", message=_xml(why.splitlines()[0])).text = _xml(why)


def _xml(text: str) -> str:
    """The text with a sign in the place of each character that no XML may hold: odd values are what tests are about."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
