"""An input tried: every rule of its point, and of the request and each item the smallest change that turns its fate.
Each flip that is told is made again from its pointers and decided by the same route."""

from __future__ import annotations

import copy
from typing import Any

import httpx
import pytest

from api.audit.policy.flips import fates
from tests.api.conftest import Connect
from tests.api_world import DIARY, POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
P = "/api/v1/policy"


async def recorded(
    connect: Connect, point: str, *, question: str = POPULATION, asker: str = "auditor"
) -> dict[str, Any]:
    """The input of a point for a recorded question."""
    asked = await connect(asker).post("/api/v1/ai/query", json={"question": question})
    entry = asked.json()["provenance"]["entry_id"]
    found = (await connect("everything").get(f"{P}/decisions/{entry}")).json()["decisions"]
    given: dict[str, Any] = next(each["input"] for each in found if each["point"] == point)
    return given


async def tried(client: httpx.AsyncClient, point: str, given: object) -> dict[str, Any]:
    response = await client.post(f"{P}/evaluate", json={"point": point, "input": given})
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    return told


def with_sets(given: dict[str, Any], flip: dict[str, Any]) -> dict[str, Any]:
    made: Any = copy.deepcopy(given)
    for change in flip["changes"]:
        for pointer, value in change["sets"].items():
            *path, last = pointer.split("/")[1:]
            place = made
            for part in path:
                place = place[int(part)] if isinstance(place, list) else place[part]
            place[last] = value
    whole: dict[str, Any] = made
    return whole


async def holds(client: httpx.AsyncClient, point: str, given: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The flips of an input by item, each of which does what it says when it is made."""
    told = await tried(client, point, given)
    found = {(each["item"]["kind"], each["item"]["ref"]): each for each in told["flips"]}
    was = fates(given, told)
    for item, flip in found.items():
        changed = with_sets(given, flip)
        again = await tried(client, point, changed)
        assert again["stamp"]["input"] == flip["input_digest"]
        assert (was[item], fates(changed, again)[item]) == (flip["before"], flip["becomes"])
        assert flip["before"] != flip["becomes"]
    return found


def label(given: dict[str, Any], n: int, name: str) -> dict[str, Any]:
    edited = copy.deepcopy(given)
    edited["evidence"][n]["label"] = name
    return edited


async def test_every_item_of_an_edited_input_has_its_smallest_change(connect: Connect) -> None:
    client, given = connect("everything"), await recorded(connect, "evidence")
    assert len(given["evidence"]) > 1
    first = given["evidence"][0]["id"]
    kept = await holds(client, "evidence", given)
    assert kept["evidence", first]["before"] == "kept"
    edited = label(given, 0, "restricted")
    flips = await holds(client, "evidence", edited)
    assert (flips["evidence", first]["before"], flips["evidence", first]["becomes"]) == ("dropped", "kept")
    [change] = flips["evidence", first]["changes"]
    assert change["what"] in {"role", "label"}
    assert set(flips) >= {("evidence", each["id"]) for each in given["evidence"]}


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        ({"lifecycle": "withdrawn"}, "lifecycle"),
        ({"valid_until_ms": 1}, "valid_until_ms"),
        ({"injection": {"score_milli": 999, "rules": []}}, "injection"),
        ({"indexed_sha256": "0" * 64}, "indexed_sha256"),
        ({"groups": ["nobody"]}, "group"),
        ({"handling": ["culturally_sensitive"]}, "group"),
        ({"label": "unheard-of"}, "label"),
    ],
)
async def test_a_fact_that_drops_an_item_is_named(connect: Connect, edit: dict[str, Any], what: str) -> None:
    client, given = connect("everything"), await recorded(connect, "evidence")
    edited = copy.deepcopy(given)
    edited["evidence"][0] |= edit
    flips = await holds(client, "evidence", edited)
    flip = flips["evidence", given["evidence"][0]["id"]]
    assert (flip["before"], flip["becomes"]) == ("dropped", "kept")
    assert [each["what"] for each in flip["changes"]] == [what]


async def test_a_denied_request_is_turned_by_what_it_lacks(connect: Connect) -> None:
    client, given = connect("everything"), await recorded(connect, "query")
    for edit, what in (
        ({"request": {**given["request"], "purpose": "unheard-of"}}, "purpose"),
        ({"subject": {**given["subject"], "session_expires_ms": 1}}, "session"),
        ({"subject": {**given["subject"], "roles": ["operator"]}}, "role"),
        ({"prompt": {**given["prompt"], "verdict": "DENY"}}, "prompt"),
    ):
        flips = await holds(client, "query", {**given, **edit})
        assert (flips["request", ""]["before"], flips["request", ""]["becomes"]) == ("denied", "allowed"), edit
        assert [each["what"] for each in flips["request", ""]["changes"]] == [what]


async def test_the_trace_names_every_rule_of_the_point(connect: Connect) -> None:
    client = connect("everything")
    for point, first in (("query", "Q"), ("evidence", "E"), ("answer", "A")):
        told = await tried(client, point, await recorded(connect, point))
        rules = [each["rule"] for each in told["trace"]]
        assert rules == sorted(rules) and {rule[0] for rule in rules} == {first} and len(rules) > 10
        spoke = {each["rule"] for each in told["trace"] if each["spoke"]}
        assert spoke == {each["rule"] for each in (*told["reasons"], *told["obligations"])}


@pytest.mark.parametrize("given", [None, 1, "x", [], {}, {"evidence": [1, {"id": {}}], "subject": [], "request": "x"}])
@pytest.mark.parametrize("point", ["query", "evidence", "answer"])
async def test_what_is_no_input_is_denied_and_told_without_a_fault(connect: Connect, point: str, given: object) -> None:
    told = await tried(connect("everything"), point, given)
    assert told["effect"] == "deny" and told["trace"]


async def test_a_flip_says_nothing_that_the_input_and_the_bundle_do_not(connect: Connect) -> None:
    """Groups and collections of the corpus that the input does not name are not told, whoever asks."""
    await recorded(connect, "query", question=DIARY, asker="archivist")
    for key in ("everything", "author"):
        given = await recorded(connect, "evidence")
        told = await connect(key).post(f"{P}/evaluate", json={"point": "evidence", "input": given})
        assert "archivists" not in told.text or "archivists" in str(given)
