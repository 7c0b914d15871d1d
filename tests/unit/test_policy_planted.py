"""Planted regressions of data and expectations, one by one and together: each thing that one of them opens has a name,
without which nothing is published. Those of rules are in tests/services/test_policy_planted.py."""

from __future__ import annotations

import copy
import json
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.authoring.widening.data import data_widenings
from policy.authoring.widening.expectations import removed_expectations
from policy.bundles.bundle import DATA_PATH, SHIPPED, Bundle, load_bundle
from policy.data import PolicyData
from policy.errors import BundleRejected

IN_FORCE = load_bundle()
DATA: dict[str, Any] = json.loads((SHIPPED / "rego" / DATA_PATH).read_text("utf-8"))
RANKS: dict[str, int] = DATA["labels"]
Data = dict[str, Any]


@dataclass(frozen=True)
class Plant:
    """One regression: a change of the data, and the beginning of a name that must then be accepted."""

    name: str
    change: Callable[[Data], object]


def of_names() -> Iterator[Plant]:
    """Other names of roles, and names that were none."""
    roles = DATA["roles"]
    for name in (*roles, *DATA["aliases"], "guest", "root"):
        now = roles.get(DATA["aliases"].get(name, name), roles["public_viewer"])
        for role, held in roles.items():
            if name not in roles and RANKS[held["clearance"]] > RANKS[now["clearance"]]:
                yield Plant(
                    f"role {name}: clearance {held['clearance']}", lambda d, a=name, r=role: d["aliases"].update({a: r})
                )


def of_roles() -> Iterator[Plant]:
    """Capabilities, clearances and permissions of roles, and roles that are new."""
    roles, capabilities = DATA["roles"], DATA["capabilities"]
    for name, role in roles.items():
        for capability in sorted(set(capabilities) - set(role["capabilities"])):
            yield Plant(
                f"role {name}: capability {capability}",
                lambda d, n=name, c=capability: d["roles"][n]["capabilities"].append(c),
            )
        for label in (
            each for each in RANKS if RANKS[each] > RANKS[role["clearance"]] and name != DATA["default_role"]
        ):
            yield Plant(f"role {name}: clearance {label}", lambda d, n=name, v=label: d["roles"][n].update(clearance=v))
        if "ai.query" not in role["permissions"]:
            yield Plant(
                f"role {name}: permission ai.query", lambda d, n=name: d["roles"][n]["permissions"].append("ai.query")
            )
        new = f"friend_of_{name}"
        if RANKS[role["clearance"]]:
            yield Plant(f"role {new}: clearance", lambda d, n=name, f=new: d["roles"].update({f: d["roles"][n]}))


def of_labels_and_purposes() -> Iterator[Plant]:
    """Labels that change places, purposes that ask for less."""
    for low, high in ((a, b) for a in RANKS for b in RANKS if RANKS[a] < RANKS[b] and a != "public"):
        yield Plant(f"label {high}: lower", lambda d, a=low, b=high: d["labels"].update({a: RANKS[b], b: RANKS[a]}))
    for purpose, needs in DATA["purposes"].items():
        for label in (each for each in RANKS if RANKS[each] < RANKS[needs["clearance"]]):
            yield Plant(
                f"purpose {purpose}: needs {label}", lambda d, p=purpose, v=label: d["purposes"][p].update(clearance=v)
            )
    yield Plant("purpose anything: new", lambda d: d["purposes"].update(anything={"clearance": "public"}))


def of_handling() -> Iterator[Plant]:
    """Tags that go, that somebody else satisfies, or that are met by less."""
    for tag, handling in DATA["handling"].items():
        yield Plant(f"handling {tag}: removed", lambda d, t=tag: d["handling"].pop(t))
        yield Plant(f"handling {tag}: satisfied by", lambda d, t=tag: d["handling"][t].update(capability="trace"))
        yield Plant(f"handling {tag}: satisfied by", lambda d, t=tag: d["handling"][t].update(group="everyone"))
        if handling["obligation"] is None or handling["obligation"]["op"] != "datamark":
            weak = {"op": "datamark", "params": {}}
            yield Plant(f"handling {tag}: met by", lambda d, t=tag, w=weak: d["handling"][t].update(obligation=w))
    for params in ({"metres": 1, "decimals": 5}, {"metres": 10_000, "decimals": 5}, {"metres": 9_999, "decimals": 1}):
        yield Plant(
            "handling sensitive_location: met by",
            lambda d, p=params: d["handling"]["sensitive_location"]["obligation"].update(params=p),
        )
    for minimum in (1, 9):
        yield Plant(
            "handling aggregate_only: met by",
            lambda d, m=minimum: d["handling"]["aggregate_only"]["obligation"].update(params={"minimum": m}),
        )


def of_limits_and_claims() -> Iterator[Plant]:
    """Thresholds, leaks that are none any more, claims that are tolerated."""
    for value in (0, 499):
        yield Plant("limit support_milli: lower", lambda d, v=value: d["limits"].update(support_milli=v))
    for name in ("datamark_milli", "injection_milli"):
        for more in (1, 200):
            yield Plant(
                f"limit {name}: higher", lambda d, n=name, m=more: d["limits"].update({n: DATA["limits"][n] + m})
            )
    for leak in DATA["leaks"]:
        yield Plant(f"leak {leak}: removed", lambda d, v=leak: d["leaks"].remove(v))
    for kind in ("figure", "superlative", "comparison", "event", "prose"):
        for label in RANKS:
            more = {"verdict": "not_in_source", "kinds": [kind], "label": label, "purposes": ["general"]}
            yield Plant("claims: tolerates not_in_source", lambda d, m=more: d["claims"]["tolerated"].append(m))


def of_appeals() -> Iterator[Plant]:
    """Kinds of appeal that stay, collections that are trusted."""
    for kind in ("contact", "credentials", "imperative", "link", "payment"):
        yield Plant(f"appeals: tolerates {kind}", lambda d, k=kind: d["appeals"]["tolerated"].append(k))
    for name in ("kansas", "uploads"):
        yield Plant(f"appeals: trusts {name}", lambda d, n=name: d["appeals"]["trust"].update({n: 1}))


def of_notices() -> Iterator[Plant]:
    """Sources of which an answer does not say that it rests on them, a phrase that says something else, and a purpose
    that is taken for the stated one."""
    first = DATA["notice"]["label"]
    for label in (each for each in RANKS if RANKS[each] > RANKS[first]):
        yield Plant(f"notice: from {label}", lambda d, v=label: d["notice"].update(label=v))
    yield Plant("notice: says ABSTAIN", lambda d: d["notice"].update(catalogue="ABSTAIN"))
    for purpose in (each for each in DATA["purposes"] if each != DATA["default_purpose"]):
        yield Plant(f"default purpose: {purpose}", lambda d, v=purpose: d.update(default_purpose=v))


KINDS = (of_names, of_roles, of_labels_and_purposes, of_handling, of_limits_and_claims, of_appeals, of_notices)
PLANTS = tuple(plant for kind in KINDS for plant in kind())


def names_of(*plants: Plant) -> set[str]:
    """The widenings of the shipped data with these changes; BundleRejected for data that nobody could publish."""
    data = copy.deepcopy(DATA)
    for plant in plants:
        plant.change(data)
    text = json.dumps(data).encode()
    return {each.name for each in data_widenings(IN_FORCE, _with(text))}


def _with(text: bytes) -> Bundle:
    return replace(IN_FORCE, data=PolicyData.parse(text), data_json=text)


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(PLANTS) >= 120


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_what_a_plant_opens_is_named(plant: Plant) -> None:
    assert [name for name in names_of(plant) if name.startswith(plant.name)]


@settings(max_examples=60, deadline=None)
@given(
    plants=st.lists(st.sampled_from(PLANTS), min_size=2, max_size=4, unique_by=lambda each: each.name.partition(":")[0])
)
def test_of_several_plants_in_one_edit_none_is_hidden_by_another(plants: list[Plant]) -> None:
    if len({plant.name.partition(" ")[0] for plant in plants}) < len(plants):
        return  # two of one kind may undo each other: a role that a second one lifts, two ranks of a label
    try:
        found = names_of(*plants)
    except (BundleRejected, KeyError):
        return  # such data are no policy
    for plant in plants:
        if plant.name.startswith("role") and any(each.name.startswith("label") for each in plants):
            continue  # a clearance says something else where the labels have changed places, and that is named
        assert [name for name in found if name.startswith(plant.name)], (plant.name, sorted(found))


@pytest.mark.parametrize("state", ["draft", "withdrawn", "superseded", "erased"])
def test_no_data_can_let_through_what_is_not_active(state: str) -> None:
    with pytest.raises(BundleRejected):
        names_of(Plant(state, lambda d: d["lifecycle"].append(state)))


# --------------------------------------------------------------------------------------------------- thinned expectations


VECTORS = {
    group: [case["name"] for case in json.loads((SHIPPED / "vectors" / f"{group}.json").read_text("utf-8"))["cases"]]
    for group in ("query", "evidence", "answer")
}
TESTS = sorted((SHIPPED / "rego").rglob("*_test.rego"))
INVARIANTS = [
    row["title"]
    for rows in tomllib.loads((SHIPPED / "vectors" / "invariants.toml").read_text("utf-8")).values()
    if isinstance(rows, list)
    for row in rows
    if isinstance(row, dict)
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("thinned")
    for part in ("rego", "vectors"):
        shutil.copytree(SHIPPED / part, folder / part)
    return folder


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_each_expectation_that_goes_is_named_and_no_other(base: Path, data: st.DataObject) -> None:
    group = data.draw(st.sampled_from(sorted(VECTORS)))
    gone = data.draw(st.sets(st.sampled_from(VECTORS[group]), max_size=5))
    titles = data.draw(st.sets(st.sampled_from(INVARIANTS), max_size=3))
    file = data.draw(st.none() | st.sampled_from(TESTS))
    vectors, invariants = base / "vectors" / f"{group}.json", base / "vectors" / "invariants.toml"
    kept = {path: path.read_text("utf-8") for path in (vectors, invariants)}
    document = json.loads(kept[vectors])
    document["cases"] = [case for case in document["cases"] if case["name"] not in gone]
    head, *tables = kept[invariants].split("\n[[")
    test = None if file is None else base / file.relative_to(SHIPPED)
    try:
        vectors.write_text(json.dumps(document), "utf-8")
        invariants.write_text(
            "\n[[".join([head, *(each for each in tables if not any(f'"{title}"' in each for title in titles))]),
            "utf-8",
        )
        if test is not None:
            kept[test] = test.read_text("utf-8")
            test.unlink()
        found = {each.name for each in removed_expectations(SHIPPED, base)}
    finally:
        for path, text in kept.items():
            path.write_text(text, "utf-8")
    assert {f"vector {group}/{name}: removed" for name in gone} == {each for each in found if each.startswith("vector")}
    assert {f"invariant {title}: removed" for title in titles} == {each for each in found if each.startswith("inv")}
    assert any(each.startswith("test ") for each in found) is (file is not None)
