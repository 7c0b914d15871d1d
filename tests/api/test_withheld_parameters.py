"""Every parameter of every surface is tried on what is withheld, and none of them tells it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from api.home.configuration import load
from api.http.app import create_app
from tests.withheld import ALTERED_BY, HIDDEN_BY, Unguarded, World, calls, differences, fill, oracles, together, told
from tests.withheld_parameters import NOT_VARIED, fits, parameters, untried, varied

ASKED = varied()
EVERY = (*calls(200), *oracles(), *ASKED)
DESCRIBED = create_app(load({}, home=Path("nowhere"))).openapi()


def test_every_parameter_is_tried_or_has_a_reason() -> None:
    assert untried(DESCRIBED, EVERY) == []


def test_every_reason_is_of_something_that_there_is() -> None:
    assert {route for route, _ in parameters(DESCRIBED)} | {name for _, name in parameters(DESCRIBED)} >= {*NOT_VARIED}


@pytest.mark.parametrize(
    ("route", "name"),
    [(route, name) for route, name in dict.fromkeys(parameters(DESCRIBED)) if name.count(".") < 1][::9],
)
def test_a_parameter_that_nobody_tries_is_found(route: str, name: str) -> None:
    """By one that is added to the description, and by every call that states one taken away."""
    more = copy.deepcopy(DESCRIBED)
    path = route.partition(" ")[2]
    for operation in more["paths"][path].values():
        operation.setdefault("parameters", []).append({"name": "brand_new", "in": "query"})
    left_out = {each.partition(":")[0] for each in untried(more, EVERY)}
    without = untried(DESCRIBED, [call for call in EVERY if not fits(route, call)])
    if name in NOT_VARIED or route in NOT_VARIED or not any(fits(route, call) for call in EVERY):
        return
    assert route in left_out
    assert f"{route}: {name}" in without


@pytest.mark.parametrize("pairs", [HIDDEN_BY, ALTERED_BY], ids=["hidden", "altered"])
async def test_no_parameter_tells_what_is_withheld(
    pairs: Mapping[str, Callable[[], tuple[World, World]]], tmp_path: Path
) -> None:
    """Everything that any guard withholds at once, asked by every parameter."""
    alike = pairs is ALTERED_BY
    homes = [
        await fill(tmp_path / str(n), world) for n, world in enumerate(together([pair() for pair in pairs.values()]))
    ]
    first, second = [await told(home, ASKED, versions_alike=alike) for home in homes]
    found = differences(ASKED, first, second)
    assert not found, f"{len(found)} of {len(ASKED)} replies differ:\n" + "\n".join(found[:5])
    reader = Unguarded(role="admin", groups=("insiders", "data_stewards", "cultural_review"))
    few = ASKED[::4]
    first, second = [await told(home, few, versions_alike=alike, reader=reader) for home in homes]
    assert differences(few, first, second), "nothing tells the homes apart, with or without the guards"
