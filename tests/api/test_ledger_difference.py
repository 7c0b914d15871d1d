"""Two entries compared over HTTP: what auditors are told, and what askers see of their own entries, and nobody else."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api_world import FERRY, POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
DIFFERENCE = "/api/v1/ledger/difference"
TOLD_TO_ASKERS = {
    *("recorded", "kind", "question", "outcome", "reasons", "answer", "understood", "cited", "versions", "items"),
    *("limitations", "policy", "engine", "model", "template"),
}


async def asked(client: httpx.AsyncClient, question: str = POPULATION) -> str:
    body = (await client.post("/api/v1/ai/query", json={"question": question})).json()
    return str(body["provenance"]["entry_id"])


async def compared(client: httpx.AsyncClient, one: str, other: str) -> dict[str, Any]:
    response = await client.get(DIFFERENCE, params={"a": one, "b": other})
    assert response.status_code == 200, response.text
    return dict(response.json())


async def test_an_auditor_is_told_what_explains_the_answers(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("contributor") as contributor, connect("auditor") as auditor:
        one, other = await asked(contributor, FERRY), await asked(viewer, FERRY)
        found = await compared(auditor, one, other)
        assert found["explanation"]["causes"] == ["asker"], found["explanation"]
        assert [each["entry_id"] for each in found["entries"]] == [one, other]
        twin = await auditor.get("/audit/compare.json", params={"a": one, "b": other})
        assert twin.json() == found


async def test_an_asker_sees_the_own_words_and_no_decision(connect: Any) -> None:
    async with connect("viewer") as viewer:
        found = await compared(viewer, await asked(viewer), await asked(viewer, FERRY))
    assert {row["name"] for row in found["rows"]} <= TOLD_TO_ASKERS
    assert found["explanation"]["status"] == "not_shown"
    assert (found["explanation"]["causes"], found["explanation"]["effects"]) == ([], [])


@pytest.mark.parametrize("reader", [None, "viewer", "operator", "author", "stranger"])
@pytest.mark.parametrize("turned", [False, True])
async def test_an_entry_of_another_is_absent_on_either_side(connect: Any, reader: str | None, turned: bool) -> None:
    async with connect("contributor") as owner, connect(reader) as client:
        pair = [await asked(owner), await asked(client)]
        one, other = reversed(pair) if turned else pair
        response = await client.get(DIFFERENCE, params={"a": one, "b": other})
        absent = await client.get(DIFFERENCE, params={"a": one, "b": "01900000-0000-7000-8000-000000000000"})
    assert response.status_code == absent.status_code == 404
    assert response.json()["error"]["message"] == absent.json()["error"]["message"]


@pytest.mark.parametrize("query", ["", "a=1&b=2", "a=01900000-0000-7000-8000-000000000000"])
async def test_what_names_no_two_entries_is_refused(connect: Any, query: str) -> None:
    async with connect("auditor") as auditor:
        response = await auditor.get(f"{DIFFERENCE}?{query}")
    assert response.status_code == 422
