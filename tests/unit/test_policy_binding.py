"""Shipped invariants bind every bundle: what is left out of its file, weakened in it or lifted over it holds all the same,
unless it is removed by name and with a reason."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.authoring.lattice.binding import Removal, binding_invariants, removals
from policy.authoring.lattice.claims import parse_unreleased
from policy.authoring.lattice.domain import Domain
from policy.authoring.lattice.invariants import InvariantsInvalid, parse_invariants
from policy.authoring.widening.expectations import removed_expectations
from policy.bundles.bundle import SHIPPED, load_bundle

SHIPPED_TEXT = (SHIPPED / "vectors" / "invariants.toml").read_text("utf-8")
HEAD, *TABLES = SHIPPED_TEXT.split("\n[[")
TITLES = [tomllib.loads("[[" + each)[each.partition("]]")[0]][0]["title"] for each in TABLES]
REMOVED = '\n[[removed]]\ntitle = "{title}"\nwhy = "{why}"\n'
CULTURAL = "Culturally sensitive material is for the cultural review, whatever the role"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for part in ("rego", "vectors"):
        shutil.copytree(SHIPPED / part, tmp_path / part)
    return tmp_path


def stated(folder: Path, text: str) -> None:
    (folder / "vectors" / "invariants.toml").write_text(text, "utf-8")


def bound(folder: Path) -> list[str]:
    """The titles of what binds, once read over the shipped data."""
    document = binding_invariants(folder)
    found = (*parse_invariants(document, Domain.of(load_bundle())), *parse_unreleased(document))
    return sorted(each.title for each in found)


def test_the_shipped_ones_bind_once(folder: Path) -> None:
    assert bound(folder) == sorted(TITLES)
    (folder / "vectors" / "invariants.toml").unlink()
    assert bound(folder) == sorted(TITLES)


@given(kept=st.sets(st.integers(0, len(TABLES) - 1)))
def test_whatever_is_left_out_binds(tmp_path_factory: pytest.TempPathFactory, kept: set[int]) -> None:
    folder = tmp_path_factory.mktemp("thinned")
    shutil.copytree(SHIPPED / "vectors", folder / "vectors")
    stated(folder, "\n[[".join([HEAD, *(TABLES[n] for n in sorted(kept))]))
    assert bound(folder) == sorted(TITLES)


def test_a_weaker_one_of_the_same_title_stands_beside_the_shipped_one(folder: Path) -> None:
    stated(
        folder,
        SHIPPED_TEXT.replace('tag = "culturally_sensitive"', 'tag = "culturally_sensitive"\nrole = ["operator"]'),
    )
    assert bound(folder).count(CULTURAL) == 2


def test_one_that_is_removed_by_name_binds_no_more_and_is_named(folder: Path) -> None:
    stated(
        folder, "\n[[".join([HEAD, *(t for t in TABLES if CULTURAL not in t)]) + REMOVED.format(title=CULTURAL, why="W")
    )
    assert CULTURAL not in bound(folder)
    assert removals(folder) == (Removal(CULTURAL, "W"),)
    assert f"invariant {CULTURAL}: removed" in {each.name for each in removed_expectations(SHIPPED, folder)}


def test_a_removal_is_named_though_the_bundle_in_force_did_not_state_it_either(folder: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    for part in ("rego", "vectors"):
        shutil.copytree(folder / part, before / part)
    thinned = "\n[[".join([HEAD, *(t for t in TABLES if CULTURAL not in t)])
    stated(before, thinned)
    stated(folder, thinned + REMOVED.format(title=CULTURAL, why="W"))
    assert {each.name for each in removed_expectations(before, folder)} == {f"invariant {CULTURAL}: removed"}
    assert {each.name for each in removed_expectations(folder, folder)} == set()


def test_another_reason_is_another_removal(folder: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    stated(folder, SHIPPED_TEXT + REMOVED.format(title=CULTURAL, why="W"))
    for part in ("rego", "vectors"):
        shutil.copytree(folder / part, before / part)
    stated(folder, SHIPPED_TEXT + REMOVED.format(title=CULTURAL, why="V"))
    assert {each.name for each in removed_expectations(before, folder)} == {f"invariant {CULTURAL}: removed"}


@pytest.mark.parametrize(
    "more",
    [
        REMOVED.format(title="Nothing of the kind", why="W"),
        REMOVED.format(title=CULTURAL, why=""),
        REMOVED.format(title=CULTURAL, why="  "),
        f'\n[[removed]]\ntitle = "{CULTURAL}"\n',
        '\n[[removed]]\nwhy = "W"\n',
        REMOVED.format(title=CULTURAL, why="W") + "more = 1\n",
        f'\n[[removed]]\ntitle = "{CULTURAL}"\nwhy = 1\n',
        "\n[sometimes]\n",
        "\n[[",
    ],
)
def test_a_removal_that_names_nothing_or_gives_no_reason_is_refused(folder: Path, more: str) -> None:
    stated(folder, SHIPPED_TEXT + more)
    with pytest.raises(InvariantsInvalid):
        bound(folder)


def lifted(ladder: str) -> str:
    return f'schema = "exhibit.policy.invariants/1"\nladder = {ladder}\n'


@pytest.mark.parametrize(
    "ladder",
    [
        '[["contributor"], ["maintainer"], ["admin", "public_viewer", "auditor", "policy_author", "operator"]]',
        '[["admin", "public_viewer", "auditor", "policy_author", "operator", "contributor", "maintainer"]]',
        '[["public_viewer", "auditor", "policy_author", "operator"], ["maintainer"], ["contributor"], ["admin"]]',
    ],
)
def test_a_ladder_that_lifts_a_role_over_an_invariant_is_refused(folder: Path, ladder: str) -> None:
    stated(folder, lifted(ladder))
    with pytest.raises(InvariantsInvalid, match="ladder"):
        bound(folder)


def test_a_ladder_in_another_order_is_meant_where_it_is_removed_by_name(folder: Path) -> None:
    ladder = '[["public_viewer", "auditor", "policy_author", "operator"], ["maintainer"], ["contributor"], ["admin"]]'
    stated(folder, lifted(ladder) + REMOVED.format(title="ladder", why="Contributors lead here"))
    assert bound(folder) == sorted(TITLES)
    assert "invariant ladder: removed" in {each.name for each in removed_expectations(SHIPPED, folder)}


def test_a_finer_ladder_needs_no_removal(folder: Path) -> None:
    ladder = '[["public_viewer", "operator"], ["auditor", "policy_author"], ["contributor"], ["maintainer"], ["admin"]]'
    stated(folder, lifted(ladder))
    assert bound(folder) == sorted(TITLES)


@pytest.mark.parametrize("text", ["never = 1", 'never = ["x"]', 'schema = "exhibit.policy.invariants/2"'])
def test_a_file_of_another_form_is_refused(folder: Path, text: str) -> None:
    stated(folder, text)
    with pytest.raises(InvariantsInvalid):
        bound(folder)
