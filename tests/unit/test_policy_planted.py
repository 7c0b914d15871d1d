"""Planted regressions of data and expectations, one by one and together: each thing that one of them opens has a name,
without which nothing is published. A whole publication of each is in tests/api/test_policy_planted.py, those of rules in
tests/services/test_policy_planted.py."""

from __future__ import annotations

import copy
import json
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.authoring.widening.data import data_widenings
from policy.authoring.widening.expectations import removed_expectations
from policy.bundles.bundle import SHIPPED, Bundle, load_bundle
from policy.data import PolicyData
from policy.errors import BundleRejected
from tests.policy_plants.of_data import CHANGES, DATA, Change

IN_FORCE = load_bundle()


def names_of(*plants: Change) -> set[str]:
    """The widenings of the shipped data with these changes; BundleRejected for data that nobody could publish."""
    data = copy.deepcopy(DATA)
    for plant in plants:
        plant.change(data)
    text = json.dumps(data).encode()
    return {each.name for each in data_widenings(IN_FORCE, _with(text))}


def _with(text: bytes) -> Bundle:
    return replace(IN_FORCE, data=PolicyData.parse(text), data_json=text)


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(CHANGES) >= 120


@pytest.mark.parametrize("plant", CHANGES, ids=lambda plant: plant.name)
def test_what_a_plant_opens_is_named(plant: Change) -> None:
    assert [name for name in names_of(plant) if name.startswith(plant.name)]


@settings(max_examples=60, deadline=None)
@given(
    plants=st.lists(
        st.sampled_from(CHANGES), min_size=2, max_size=4, unique_by=lambda each: each.name.partition(":")[0]
    )
)
def test_of_several_plants_in_one_edit_none_is_hidden_by_another(plants: list[Change]) -> None:
    if len({plant.name.partition(" ")[0] for plant in plants}) < len(plants):
        return  # two of one kind may undo each other: a role that a second one lifts, two ranks of a label
    try:
        found = names_of(*plants)
    except (BundleRejected, KeyError):
        return  # such data are no policy
    for plant in plants:
        if plant.name.startswith(("role", "notice")) and any(each.name.startswith("label") for each in plants):
            continue  # a clearance or a notice says something else where labels have changed places, and that is named
        assert [name for name in found if name.startswith(plant.name)], (plant.name, sorted(found))


@pytest.mark.parametrize("state", ["draft", "withdrawn", "superseded", "erased"])
def test_no_data_can_let_through_what_is_not_active(state: str) -> None:
    with pytest.raises(BundleRejected):
        names_of(Change(state, lambda d: d["lifecycle"].append(state)))


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
