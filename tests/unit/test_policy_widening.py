"""Widenings between bundles: each way to open the house by data, by a constant, or by a thinned expectation is named."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.authoring.widening.constants import constants_of
from policy.authoring.widening.data import data_widenings
from policy.authoring.widening.expectations import removed_expectations
from policy.bundles.bundle import DATA_PATH, SHIPPED, Bundle, load_bundle
from policy.data import PolicyData

IN_FORCE = load_bundle()
DATA: dict[str, Any] = json.loads((SHIPPED / "rego" / DATA_PATH).read_text("utf-8"))
Change = Callable[[dict[str, Any]], object]


def with_data(document: dict[str, Any]) -> Bundle:
    text = json.dumps(document).encode()
    return replace(IN_FORCE, data=PolicyData.parse(text), data_json=text)


def names(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {widening.name for widening in data_widenings(with_data(before), with_data(after))}


OPENING: dict[str, tuple[Change, str]] = {
    "an alias": (lambda d: d["aliases"].update(viewer="admin"), "role viewer: clearance restricted"),
    "a new alias": (lambda d: d["aliases"].update(guest="maintainer"), "role guest: clearance confidential"),
    "a capability": (
        lambda d: d["roles"]["public_viewer"]["capabilities"].append("pii"),
        "role public_viewer: capability pii",
    ),
    "a capability of whoever is unknown": (
        lambda d: d["roles"]["public_viewer"]["capabilities"].append("pii"),
        "role unknown: capability pii",
    ),
    "a clearance": (
        lambda d: d["roles"]["auditor"].update(clearance="internal"),
        "role auditor: clearance internal",
    ),
    "a permission": (
        lambda d: d["roles"]["operator"]["permissions"].append("ai.query"),
        "role operator: permission ai.query",
    ),
    "a new role": (
        lambda d: d["roles"].update(friend=copy.deepcopy(d["roles"]["admin"])),
        "role friend: clearance restricted",
    ),
    "labels that change places": (
        lambda d: d["labels"].update(confidential=3, restricted=2),
        "label restricted: lower",
    ),
    "a purpose that needs less": (
        lambda d: d["purposes"].update(review={"clearance": "public"}),
        "purpose review: needs public",
    ),
    "a new purpose": (lambda d: d["purposes"].update(fun={"clearance": "public"}), "purpose fun: new"),
    "a tag that goes": (lambda d: d["handling"].pop("pii"), "handling pii: removed"),
    "a tag that anyone satisfies": (
        lambda d: d["handling"]["culturally_sensitive"].update(group="everyone"),
        "handling culturally_sensitive: satisfied by everyone",
    ),
    "a weaker obligation": (
        lambda d: d["handling"]["sensitive_location"]["obligation"]["params"].update(metres=1),
        "handling sensitive_location: met by generalise_geometry",
    ),
    "less support": (lambda d: d["limits"].update(support_milli=0), "limit support_milli: lower"),
    "more injection": (lambda d: d["limits"].update(injection_milli=1000), "limit injection_milli: higher"),
    "a leak that is none": (lambda d: d["leaks"].pop(), f"leak {DATA['leaks'][-1]}: removed"),
}


@pytest.mark.parametrize("how", OPENING)
def test_what_opens_is_named(how: str) -> None:
    change, name = OPENING[how]
    after = copy.deepcopy(DATA)
    change(after)
    assert name in names(DATA, after)


@pytest.mark.parametrize("how", OPENING)
def test_the_way_back_is_not_that_widening(how: str) -> None:
    change, name = OPENING[how]
    after = copy.deepcopy(DATA)
    change(after)
    assert name not in names(after, DATA) or name.startswith(("handling", "label"))


def test_the_same_data_open_nothing() -> None:
    assert names(DATA, copy.deepcopy(DATA)) == set()


@given(
    role=st.sampled_from(sorted(DATA["roles"])),
    capabilities=st.sets(st.sampled_from(sorted(DATA["capabilities"]))),
    clearance=st.sampled_from(sorted(DATA["labels"])),
)
def test_every_gain_of_a_role_is_named_and_nothing_else(role: str, capabilities: set[str], clearance: str) -> None:
    after = copy.deepcopy(DATA)
    if role == DATA["default_role"]:
        clearance = DATA["roles"][role]["clearance"]  # it must have the lowest
    after["roles"][role] |= {"capabilities": sorted(capabilities), "clearance": clearance}
    gained = capabilities - set(DATA["roles"][role]["capabilities"])
    found = {name for name in names(DATA, after) if name.startswith(f"role {role}: ")}
    higher = DATA["labels"][clearance] > DATA["labels"][DATA["roles"][role]["clearance"]]
    assert found == {f"role {role}: capability {each}" for each in gained} | (
        {f"role {role}: clearance {clearance}"} if higher else set()
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for part in ("rego", "vectors"):
        shutil.copytree(SHIPPED / part, tmp_path / part)
    return tmp_path


def removed(folder: Path) -> set[str]:
    return {widening.name for widening in removed_expectations(SHIPPED, folder)}


def test_the_same_expectations_are_none_the_less(folder: Path) -> None:
    assert removed(folder) == set()


def test_a_vector_a_test_and_an_invariant_that_go_are_named(folder: Path) -> None:
    vectors = folder / "vectors" / "query.json"
    document = json.loads(vectors.read_text("utf-8"))
    gone = document["cases"].pop()["name"]
    vectors.write_text(json.dumps(document))
    assert removed(folder) == {f"vector query/{gone}: removed"}
    tests = folder / "rego" / "kfm" / "access" / "access_test.rego"
    text = tests.read_text("utf-8")
    first = text[text.index("\ntest_") + 1 :].split(" ", 1)[0]
    tests.write_text(text.replace(f"\n{first} ", f"\nno_{first} "))
    assert f"test kfm/access/access.{first}: removed" in removed(folder)
    invariants = folder / "vectors" / "invariants.toml"
    tables = invariants.read_text("utf-8").split("\n[[")
    invariants.write_text("\n[[".join(tables[:-1]))
    assert any(name.startswith("invariant ") for name in removed(folder))


def test_an_expectation_that_is_turned_is_named(folder: Path) -> None:
    vectors = folder / "vectors" / "allow_answer.json"
    document = json.loads(vectors.read_text("utf-8"))
    case = next(each for each in document["cases"] if each["result"] is False)
    case["result"] = True
    vectors.write_text(json.dumps(document))
    assert [name for name in removed(folder) if name.endswith(": changed")]


def test_an_added_expectation_is_not_a_widening(folder: Path) -> None:
    tests = folder / "rego" / "kfm" / "access" / "access_test.rego"
    tests.write_text(tests.read_text("utf-8") + "\ntest_more if true\n")
    assert removed(folder) == set()


@pytest.mark.parametrize(
    ("rego", "texts", "numbers"),
    [
        ('allow if startswith(item.id, "zz")', {"zz"}, set()),
        ("allow if input.now_ms > 1893456000000", set(), {1_893_456_000_000}),
        ('allow if input.subject.id == "mole" # "not this" 7', {"mole"}, set()),
        ('x := `raw "text"`', {'raw "text"'}, set()),
        ('x := "a # b"', {"a # b"}, set()),
        ("x := a1 + 22", set(), {22}),
        ('x := ""', set(), set()),
    ],
)
def test_constants_are_those_outside_comments(rego: str, texts: set[str], numbers: set[int]) -> None:
    assert constants_of(rego) == (texts, numbers)
