"""What the reader may not see changes no byte of any reply: for each guard and obligation of the policy, two homes that
differ in it alone are asked the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from api.home.configuration import load
from api.http.app import create_app
from policy.bundles.bundle import load_bundle
from tests.edited_bundles import edited
from tests.withheld import (
    ALTERED_BY,
    HIDDEN_BY,
    NOBODY,
    NOT_ASKED,
    NOT_PAIRED,
    OF_THE_LOG,
    OPEN_TO_ALL,
    QUESTIONS,
    REFUSED_BY,
    SEEN,
    UNGUARDED,
    Unguarded,
    World,
    calls,
    differences,
    fill,
    oracles,
    together,
    told,
)
from tests.withheld_parameters import fits, varied

ORACLES = oracles()
OF_AN_ANSWER = ("/package", "/computations/{entry}/1", "/index.json", "/audit/{entry}.csv")
"""What the reader must have got, so that there was something to compare."""
COUNT = int(os.environ.get("EXHIBIT_PAIR_CALLS", "165"))


def test_every_rule_has_a_pair_or_a_reason() -> None:
    """A new guard or obligation cannot be forgotten here: the rules are read from the METADATA of the bundle."""
    paired = {name.partition(",")[0] for name in (*HIDDEN_BY, *ALTERED_BY, *REFUSED_BY)}
    assert {rule.code for rule in load_bundle().rules} == paired | NOT_PAIRED.keys()
    assert not paired & NOT_PAIRED.keys()


def test_every_handling_tag_has_a_pair() -> None:
    tags = {"culturally_sensitive": "HANDLING_REFUSED"}
    named = {name.partition(", ")[2]: name for name in (*HIDDEN_BY, *ALTERED_BY)}
    assert load_bundle().data.handling.keys() <= {*named, *tags}


async def compare(name: str, folder: Path, *, versions_alike: bool) -> None:
    """The pair's replies are equal, and are not for a reader whom its guard lets through."""
    one, other = {**HIDDEN_BY, **ALTERED_BY, **REFUSED_BY}[name]()
    homes = await fill(folder / "one", one), await fill(folder / "other", other)
    asked = list(calls(COUNT))
    first, second = [await told(home, asked, versions_alike=versions_alike) for home in homes]
    assert all(text.startswith("200") for text in first[: len(QUESTIONS)])
    if name not in REFUSED_BY:
        assert {text[:3] for call, text in zip(asked, first, strict=True) if call.path.endswith(OF_AN_ANSWER)} == {
            "200"
        }
    found = differences(asked, first, second)
    assert not found, f"{len(found)} of {len(asked)} replies differ:\n" + "\n".join(found[:5])
    if (reader := UNGUARDED[name]).by_key:
        await differ(homes, reader=reader, versions_alike=versions_alike)


async def differ(homes: Sequence[Any], *, versions_alike: bool, reader: Unguarded = NOBODY) -> None:
    asked = (*SEEN, *OF_THE_LOG)
    first, second = [await told(home, asked, versions_alike=versions_alike, reader=reader) for home in homes]
    n = len(SEEN)
    assert differences(SEEN, first[:n], second[:n]), "nothing tells the homes apart, with or without the guard"
    if reader.tenant == NOBODY.tenant and not versions_alike:  # the same documents are counted the same
        assert differences(OF_THE_LOG, first[n:], second[n:]), "nothing of the log tells them apart"


@pytest.mark.parametrize("guard", HIDDEN_BY)
async def test_documents_that_are_withheld_change_no_reply(guard: str, tmp_path: Path) -> None:
    await compare(guard, tmp_path, versions_alike=False)


@pytest.mark.parametrize("guard", REFUSED_BY)
async def test_documents_of_a_reader_who_is_refused_change_no_reply(guard: str, tmp_path: Path) -> None:
    await compare(guard, tmp_path, versions_alike=False)


@pytest.mark.parametrize("guard", ALTERED_BY)
async def test_words_and_places_that_are_withheld_change_no_reply(guard: str, tmp_path: Path) -> None:
    await compare(guard, tmp_path, versions_alike=True)


@pytest.mark.parametrize("pairs", [HIDDEN_BY, ALTERED_BY], ids=["hidden", "altered"])
async def test_oracles_gain_nothing(pairs: Mapping[str, Callable[[], tuple[World, World]]], tmp_path: Path) -> None:
    """Everything that any guard withholds at once, asked for a little at a time."""
    alike = pairs is ALTERED_BY
    homes = [
        await fill(tmp_path / str(n), world) for n, world in enumerate(together([pair() for pair in pairs.values()]))
    ]
    first, second = [await told(home, ORACLES, versions_alike=alike) for home in homes]
    found = differences(ORACLES, first, second)
    assert not found, f"{len(found)} of {len(ORACLES)} replies differ:\n" + "\n".join(found[:5])
    reader = Unguarded(role="admin", groups=("insiders", "data_stewards", "cultural_review"))
    first, second = [await told(home, ORACLES, versions_alike=alike, reader=reader) for home in homes]
    assert differences(ORACLES, first, second), "nothing tells the homes apart, with or without the guards"


def test_every_pair_has_its_guard_taken_out() -> None:
    assert UNGUARDED.keys() == {*HIDDEN_BY, *ALTERED_BY, *REFUSED_BY}


@pytest.mark.parametrize(
    "guard", [name for name, each in UNGUARDED.items() if each.worlds not in (None, OPEN_TO_ALL.worlds)]
)
async def test_documents_that_the_guard_lets_through_are_seen(guard: str, tmp_path: Path) -> None:
    pair = UNGUARDED[guard].worlds
    assert pair is not None
    homes = [await fill(tmp_path / str(n), world) for n, world in enumerate(pair())]
    await differ(homes, versions_alike=False)


async def test_documents_without_a_time_or_a_withdrawal_are_seen(tmp_path: Path) -> None:
    assert OPEN_TO_ALL.worlds is not None
    homes = [await fill(tmp_path / str(n), world) for n, world in enumerate(OPEN_TO_ALL.worlds())]
    await differ(homes, versions_alike=False)


@pytest.mark.parametrize("guard", [name for name, each in UNGUARDED.items() if each.data])
async def test_texts_that_other_data_of_the_policy_let_through_are_seen(guard: str, tmp_path: Path) -> None:
    change = UNGUARDED[guard].data
    assert change is not None
    bundle = edited(tmp_path / "policy", change)
    pair = {**HIDDEN_BY, **ALTERED_BY}[guard]()
    environment = {"EXHIBIT_POLICY__BUNDLE": str(bundle)}
    homes = [await fill(tmp_path / str(n), world, environment) for n, world in enumerate(pair)]
    await differ(homes, versions_alike=True)


def test_every_route_is_asked_or_has_a_reason() -> None:
    """A new surface cannot be forgotten here."""
    described = create_app(load({}, home=Path("nowhere"))).openapi()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    every = [*calls(200), *varied()]
    asked = {route for route in routes if any(fits(route, call) for call in every)}
    assert routes - asked == NOT_ASKED.keys()
