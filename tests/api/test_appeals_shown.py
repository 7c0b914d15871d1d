"""Appeals to the reader on every surface that shows passages: what no answer may say, no list of results shows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from asgi_lifespan import LifespanManager

from api.home.configuration import load
from api.http.app import create_app
from api.wiring import open_ingest

pytestmark = pytest.mark.asyncio(loop_scope="module")
FACT = "Father Schoenmakers founded the Osage Mission in 1847."
WEBSITE = "The website of the Osage Mission is www.osage-mission.example."
APPEALS = ("Visit www.evil-payments.com now.", "Please send the fee to IBAN DE89 3704 0044 0532 0130 00.")
QUESTION = "Who founded the Osage Mission?"
SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/api/v1/ai/query", {"question": QUESTION}),
    ("/api/v1/retrieve/basic", {"query": QUESTION, "tenant_id": "default", "kb_id": "?", "similarity_threshold": 0}),
    ("/api/v1/retrieve/agentic", {"query": QUESTION, "tenant_id": "default"}),
    ("/retrieval/query", {"query": QUESTION, "top_k": 5}),
    ("/retrieval/query", {"query": QUESTION, "top_k": 5, "span": {"window_tokens": 40, "surround_tokens": 20}}),
    ("/api/v1/registry/assets/query", {"text": "Osage Mission", "include": ["snippets"]}),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    folder = tmp_path_factory.mktemp("shown")
    (folder / "mission.md").write_text(f"# Osage Mission\n\n{FACT} {WEBSITE} {' '.join(APPEALS)}\n", "utf-8")
    configuration = load({}, home=folder / "home")
    async with open_ingest(configuration) as ingest:
        done = await ingest.run([Path(folder / "mission.md")], tenant="default", collection="kansas", label="public")
        assert not done.failed
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as made:
            yield made


@pytest.mark.parametrize(("path", "body"), SEARCHES)
async def test_a_passage_is_shown_without_its_appeals(
    client: httpx.AsyncClient, path: str, body: dict[str, Any]
) -> None:
    if "kb_id" in body:
        listed = (await client.get("/api/v1/collections")).json()["collections"]
        body = body | {"kb_id": next(each["collection_id"] for each in listed if each["name"] == "kansas")}
    response = await client.post(path, json=body)
    assert response.status_code == 200, response.text
    assert FACT in response.text
    for appeal in (WEBSITE, *APPEALS):
        assert appeal not in response.text
    assert "evil-payments" not in response.text and "DE89" not in response.text


async def test_what_was_asked_for_is_shown(client: httpx.AsyncClient) -> None:
    body = {"query": "What is the website of the Osage Mission?", "top_k": 5}
    response = await client.post("/retrieval/query", json=body)
    assert WEBSITE in response.text
    assert "DE89" not in response.text
