"""What the reader may not see changes no byte of any reply: for each guard and obligation of the policy, two homes that
differ in it alone are asked the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from policy.bundle import load_bundle
from tests.withheld import ALTERED_BY, HIDDEN_BY, NOT_PAIRED, World, calls, client_of, fill, reply

COUNT = int(os.environ.get("EXHIBIT_PAIR_CALLS", "56"))


def test_every_rule_of_the_evidence_point_has_a_pair_or_a_reason() -> None:
    """A new guard or obligation cannot be forgotten here."""
    rules = load_bundle().rules
    codes = {rule.code for rule in rules if rule.id.startswith("E")}
    paired = {name.partition(",")[0] for name in (*HIDDEN_BY, *ALTERED_BY)}
    assert codes == paired | NOT_PAIRED.keys()


def test_every_handling_tag_has_a_pair() -> None:
    tags = {"culturally_sensitive": "HANDLING_REFUSED"}
    named = {name.partition(", ")[2]: name for name in (*HIDDEN_BY, *ALTERED_BY)}
    assert load_bundle().data.handling.keys() <= {*named, *tags}


async def told(folder: Path, world: World, *, versions_alike: bool) -> list[str]:
    configuration = await fill(folder, world)
    async with client_of(configuration) as client:
        return [await reply(client, call, versions_alike=versions_alike) for call in calls(COUNT)]


async def compare(pair: Callable[[], tuple[World, World]], folder: Path, *, versions_alike: bool) -> None:
    one, other = pair()
    first = await told(folder / "one", one, versions_alike=versions_alike)
    second = await told(folder / "other", other, versions_alike=versions_alike)
    asked = list(calls(COUNT))
    answered = sum(text.startswith("200") for text in first)
    assert answered > 0.8 * len(asked)  # the others are of things that must look as if they did not exist
    different = [(call, a, b) for call, a, b in zip(asked, first, second, strict=True) if a != b]
    assert not different, f"{len(different)} of {len(asked)} replies differ, first: {different[0]}"


@pytest.mark.parametrize("guard", HIDDEN_BY)
async def test_documents_that_are_withheld_change_no_reply(guard: str, tmp_path: Path) -> None:
    await compare(HIDDEN_BY[guard], tmp_path, versions_alike=False)


@pytest.mark.parametrize("guard", ALTERED_BY)
async def test_words_and_places_that_are_withheld_change_no_reply(guard: str, tmp_path: Path) -> None:
    await compare(ALTERED_BY[guard], tmp_path, versions_alike=True)
