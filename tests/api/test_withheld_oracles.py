"""Attempts to find out by many questions what one reply does not tell. Each must gain nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.withheld import KANSAS, OPEN, SourceFile, World, client_of, fill, forts

PLACE = (-95.12345, 38.54321)
MAIL, PHONE = "zebulon.pike@wherever.net", "+49 30 1234567"
LETTERS = f"# The survey\n\nThe surveyor of Wabaunsee answers letters at {MAIL} or {PHONE} every week in 1903.\n"
MOUND = f"# The mound\n\nThe mound of the Ash lies at {PLACE[1]} north and {PLACE[0]} in Osage land.\n"
TAG = 'handling = ["sensitive_location"]'
WORLD = World(
    (
        *OPEN,
        SourceFile("letters.md", LETTERS),
        SourceFile("mounds.geojson", forts([("m1", "Mound of the Ash", "1850", PLACE)]), more=TAG),
        SourceFile("mound.md", MOUND, more=TAG),
    )
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return asyncio.run(fill(tmp_path_factory.mktemp("oracles"), WORLD))


@pytest.fixture
async def client(filled: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(filled) as opened:
        yield opened


async def finds(client: httpx.AsyncClient, box: tuple[float, float, float, float]) -> bool:
    """True if a question about what lies in the box brings the mound up."""
    asked = {"question": "What lies here?", "context": {"bbox": list(box)}}
    evidence = (await client.post("/api/v1/ai/query", json=asked)).json()["evidence"]
    return any(each["chunk_id"].startswith("mounds@") and each["channel"] == "postgis" for each in evidence)


async def test_bisection_by_boxes_ends_at_the_point_that_is_shown(client: httpx.AsyncClient) -> None:
    found = []
    for axis in (0, 1):
        low, high = (-100.0, -90.0) if axis == 0 else (35.0, 42.0)
        for _ in range(14):
            middle = (low + high) / 2
            box = (low, 30.0, middle, 45.0) if axis == 0 else (-100.0, low, -90.0, middle)
            low, high = (low, middle) if await finds(client, box) else (middle, high)
        found.append(round((low + high) / 2, 2))
    assert found == [-95.2, 38.5]
    assert not await finds(client, (PLACE[0] - 0.01, PLACE[1] - 0.01, PLACE[0] + 0.01, PLACE[1] + 0.01))


async def document(client: httpx.AsyncClient, source: str) -> str:
    """The id of the source's document, which a search for its open words tells."""
    words = {"letters": "surveyor of Wabaunsee answers letters", "mound": "mound of the Ash in Osage land"}[source]
    hits = (await client.post("/retrieval/query", json={"query": words, "top_k": 10})).json()["hits"]
    return next(hit["doc_id"] for hit in hits if hit["doc_id"].startswith(f"{source}@"))


@pytest.mark.parametrize(("source", "secret"), [("letters", MAIL), ("letters", PHONE), ("mound", str(PLACE[1]))])
@pytest.mark.parametrize("width", [1, 3, 7])
async def test_no_slice_gives_a_part_of_what_is_withheld(
    client: httpx.AsyncClient, source: str, secret: str, width: int
) -> None:
    """An e-mail address is found as one; half of one is not, so no slice may be cut there."""
    text = {"letters": LETTERS, "mound": MOUND}[source]
    id, start = await document(client, source), text.index(secret)
    for at in range(start - 2, start + len(secret), max(1, width)):
        reply = await client.get(f"/api/v1/evidence/{id}?c={at}-{at + width}")
        assert reply.status_code == 200
        body = reply.json()
        first = body["locator"]["start_char"]
        for n, char in enumerate(body["text"]):
            inside = start <= first + n < start + len(secret)
            assert not inside or char == "█", body["text"]


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
async def test_a_search_for_withheld_words_is_a_search_for_nothing(client: httpx.AsyncClient, mode: str) -> None:
    """The true words bring up no more than words that stand nowhere."""

    async def scores(query: str) -> list[tuple[str, float]]:
        asked = {"query": query, "tenant_id": "default", "kb_id": KANSAS, "mode": mode, "similarity_threshold": 0}
        results = (await client.post("/api/v1/retrieve/basic", json=asked)).json()["results"]
        return [(each["chunk_id"], each["score"]) for each in results]

    if mode == "keyword":
        for true in (MAIL, "zebulon", "wherever.net", PHONE, "1234567", str(PLACE[1]), str(PLACE[0])):
            assert await scores(true) == []
    letters = await document(client, "letters")
    told = dict(await scores(f"{MAIL} {PHONE}"))
    assert all(score < 0.65 for chunk, score in told.items() if chunk.startswith(letters))


@pytest.mark.parametrize("title", ["Letters", "mound"])
async def test_metadata_and_filters_do_not_tell_withheld_words(client: httpx.AsyncClient, title: str) -> None:
    asked = {"query": title, "top_k": 10, "filters": {"eq": {"title": MAIL}}, "trace": True}
    body = (await client.post("/retrieval/query", json=asked)).json()
    assert body.get("hits", []) == []
