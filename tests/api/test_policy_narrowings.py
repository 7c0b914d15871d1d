"""What a candidate no longer permits is told beside what it newly does, and as the way back would permit it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.audit.policy.release import Candidacy, narrowings_of, trial_engines, widenings_of
from policy.bundles.bundle import SHIPPED, load_bundle
from tests.edited_bundles import edited


def less(data: dict[str, Any]) -> None:
    data["roles"]["contributor"].update(clearance="public")


def more(data: dict[str, Any]) -> None:
    data["roles"]["operator"].update(clearance="restricted")


def both(data: dict[str, Any]) -> None:
    less(data)
    more(data)


@pytest.mark.parametrize(
    ("edit", "narrows", "widens"),
    [(lambda data: None, False, False), (less, True, False), (more, False, True), (both, True, True)],
    ids=["nothing", "less", "more", "both"],
)
async def test_what_is_forbidden_is_told_apart_from_what_is_permitted(
    tmp_path: Path, edit: Callable[[dict[str, Any]], object], narrows: bool, widens: bool
) -> None:
    folder = edited(tmp_path, edit)
    forth = Candidacy(load_bundle(folder), folder, "x", load_bundle(), SHIPPED)
    back = Candidacy(load_bundle(), SHIPPED, "x", load_bundle(folder), folder)
    async with trial_engines() as opened:
        narrowings, widenings = await narrowings_of(forth, opened), await widenings_of(forth, opened)
        assert (bool(narrowings), bool(widenings)) == (narrows, widens)
        assert narrowings == await widenings_of(back, opened)
    for found, role in ((narrowings, "contributor"), (widenings, "operator")):
        assert not found or any(role in f"{each.name} {each}" for each in found), found
