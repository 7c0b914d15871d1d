"""Suggested questions are answered when they are asked, come from the scope alone, and are kept per authority."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.api.conftest import Connect
from tests.map_world import map_home

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def suggested(client: httpx.AsyncClient, **asked: str) -> list[dict[str, object]]:
    response = await client.get("/api/v1/ai/suggestions", params=asked)
    assert response.status_code == 200, response.text
    found: list[dict[str, object]] = response.json()["suggestions"]
    return found


async def test_every_suggestion_is_answered(client: httpx.AsyncClient) -> None:
    found = await suggested(client, limit="12")
    assert {each["kind"] for each in found} >= {"figure", "change", "ranking"}
    assert len({each["question"] for each in found}) == len(found) > 5
    for each in found:
        asked = await client.post("/api/v1/ai/query", json={"question": each["question"]})
        assert asked.json()["outcome"] == "ANSWER", each


async def test_place_and_time_narrow(client: httpx.AsyncClient) -> None:
    found = await suggested(client, place="Shawnee County", time="1920/1930")
    assert found
    for each in found:
        assert each["place"] in (None, "Shawnee County")
        assert each["year"] in (1920, 1930)
    assert await suggested(client, place="county:20177") == await suggested(client, place="county:20177")
    assert await suggested(client, place="Atlantis") == []
    assert await suggested(client, time="1700") == []
    assert len(await suggested(client, limit="1")) == 1


async def test_they_are_of_the_callers_scope(connect: Connect) -> None:
    questions = [each["question"] for each in await suggested(connect("viewer"), limit="20")]
    assert not any("diary" in str(question) or "ferry" in str(question) for question in questions)
    assert await suggested(connect("operator")) == []


@pytest.mark.parametrize(
    "asked", [{"limit": "0"}, {"limit": "21"}, {"bbox": "1,2"}, {"time": "soon"}, {"place": ""}, {"other": "x"}]
)
async def test_what_cannot_be_read_is_refused(client: httpx.AsyncClient, asked: dict[str, str]) -> None:
    assert (await client.get("/api/v1/ai/suggestions", params=asked)).status_code == 422


async def test_hidden_documents_change_no_suggestion(tmp_path: Path) -> None:
    told = []
    for secrets in (False, True):
        async with map_home(tmp_path / str(secrets), secrets=secrets) as (client, _):
            asked = ({}, {"layer": "forts"}, {"bbox": "-98,38,-95,40"}, {"layer": "secret-forts"}, {"limit": "20"})
            told.append([await suggested(client, **each) for each in asked])
    assert told[0] == told[1]
