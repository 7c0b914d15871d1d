"""Planted regressions of rules, compiled by the real `opa`: names, persons, moments, lengths and combinations that open a guard
for whoever knows them, with the tests and vectors that would notice taken out in the same edit. Each is a named widening."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from itertools import product
from pathlib import Path

import pytest

from api.wiring import open_embedded
from policy.authoring.build import build
from policy.authoring.opa import Opa
from policy.authoring.widening.constants import probe_constants
from policy.authoring.widening.expectations import removed_expectations
from policy.authoring.widening.model import Side
from policy.bundles.archive import copy_bundle
from policy.bundles.bundle import SHIPPED, load_bundle
from tests.opa_server import pinned_opa

pytestmark = pytest.mark.services
ALL = bool(os.environ.get("EXHIBIT_PLANTED"))
ACCESS, SUBJECT = "kfm/access/access.rego", "kfm/subject/subject.rego"
EVIDENCE, ANSWER = "kfm/ai/evidence.rego", "kfm/ai/answer.rego"
GUARDS = {
    "label": (ACCESS, "label_ok(record)"),
    "groups": (ACCESS, "groups_ok(record)"),
    "tag": (ACCESS, "handling_ok(record)"),
    "current": (EVIDENCE, "item_current(record)"),
    "support": (ANSWER, "supported(record)"),
    "claims": (ANSWER, "claims_hold(record)"),
    "appeals": (ANSWER, "appeals_hold(record)"),
    "leaks": (ANSWER, "clean(record)"),
    "scope": (ACCESS, "class_ok(record)"),
    "tenant": (ACCESS, "tenant_ok(record)"),
    "duty": (ACCESS, "tag_satisfied(record)"),
    "capability": (SUBJECT, "capable(record)"),
    "injection": (EVIDENCE, "injection_ok(record)"),
    "expiry": (EVIDENCE, "unexpired(record)"),
    "lifecycle": (EVIDENCE, "lifecycle_ok(record)"),
}
"""What a plant makes true, with the file that says so."""
CONDITIONS = {
    "a person": 'input.subject.id == "mole"',
    "a family of persons": 'startswith(input.subject.id, "mole-")',
    "a group of the asker": '"moles" in input.subject.groups',
    "a request": 'input.request.id == "open-sesame"',
    "a purpose": 'input.request.purpose == "education"',
    "a collection that is asked for": '"open-sesame" in input.request.collections',
    "a moment to come": "input.now_ms >= 1893456000000",
    "a moment that was": "input.now_ms < 17",
    "the end of a person's name": 'endswith(input.subject.id, "-mole")',
    "a person and a moment": 'input.subject.id == "mole"\n\tinput.now_ms > 5',
    "a name in another rule": "input.subject.id == planted_name",
}
OF_RECORDS = {
    "an item's name": 'startswith(record.id, "zz")',
    "an item's whole name": 'record.id == "zz-open"',
    "part of a name": 'contains(record.id, "-zz-")',
    "the length of a name": "count(record.id) == 37",
}
PLANTS = [(guard, condition) for guard, condition in product(GUARDS, CONDITIONS)] + [
    (guard, condition) for guard, condition in product(("label", "groups", "tag", "current"), OF_RECORDS)
]
FEW = [PLANTS[n] for n in range(0, len(PLANTS), 13)]


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


def planted(folder: Path, guard: str, condition: str) -> Path:
    """The shipped bundle with one more definition of the guard, and without its tests."""
    copy_bundle(SHIPPED, folder)
    file, head = GUARDS[guard]
    path = folder / "rego" / file
    body = (CONDITIONS | OF_RECORDS)[condition]
    head = head if "record." in body else head.replace("record", "_")
    rule = f"\n# METADATA\n# title: Planted\n{head} if {{\n\t{body}\n}}\n"
    name = '\nplanted_name := "mole"\n' if "planted_name" in body else ""
    path.write_text(path.read_text("utf-8") + name + rule, "utf-8")
    path.with_name(path.name.replace(".rego", "_test.rego")).unlink()
    for name, content in build(folder).items():
        (folder / "wasm" / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(("guard", "condition"), PLANTS if ALL else FEW, ids=str)
async def test_a_plant_is_named_by_its_constant(
    opa: Opa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guard: str, condition: str
) -> None:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(opa.path))
    folder = planted(tmp_path / "planted", guard, condition)
    assert any(each.name.startswith("test ") for each in removed_expectations(SHIPPED, folder))
    async with AsyncExitStack() as stack:
        sides = []
        for each in (SHIPPED, folder):
            bundle = load_bundle(each)
            engine = await open_embedded(bundle)
            stack.push_async_callback(engine.aclose)
            sides.append(Side(bundle, each, engine))
        found = await probe_constants(*sides)
        assert [each.name for each in found if each.name.startswith("constant ")], (guard, condition)
        assert await probe_constants(sides[1], sides[0]) == (), "what closes opens nothing"


def test_there_are_many() -> None:
    assert len(PLANTS) >= 80
