"""Adding documents that the caller may not see changes no released byte of the retrieval surfaces, but ids and times."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from api.home.configuration import load
from api.http.app import create_app
from api.wiring import open_ingest

OPEN = {
    "ferry.md": "# The ferry\n\nWilliam Nace kept the ferry at Lecompton in 1856. The ferry crossed the Kansas River.\n",
    "mill.md": "# The mill\n\nCyrus Holliday founded the mill at Topeka in 1858, and William Nace bought it.\n",
    "flood.md": "# The flood\n\nThe flood of 1903 carried the mill of Topeka and the ferry of Lecompton away.\n",
}
HIDDEN = {
    "secret.md": "# The ferry\n\nEsther Long kept the ferry at Lecompton in secret in 1857, and ferry ferry Lecompton.\n",
    "vault.md": "# Lecompton\n\nThe vault of Lecompton held the mill of Topeka, the flood and William Nace.\n",
}
_CHANGING = re.compile(r'"(?:request_id|entry_id|receipt|took_ms|total_latency_ms|latency_ms)": ?("[^"]*"|\d+)')
_TIMES = re.compile(r'"(?:timings_ms|promise)": ?\{[^}]*\}')
_IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
QUESTION = "Who kept the ferry at Lecompton, and when did the flood carry the mill away?"


@asynccontextmanager
async def home(folder: Path, *, secrets: bool) -> AsyncIterator[httpx.AsyncClient]:
    """A home with the open texts, and with hidden ones of the same words; asked as nobody in particular."""
    configuration = load({}, home=folder / "home")
    sets = ((OPEN, "public"), (HIDDEN, "restricted")) if secrets else ((OPEN, "public"),)
    async with open_ingest(configuration) as ingest:
        for texts, label in sets:
            sources = folder / "corpus" / label
            sources.mkdir(parents=True)
            for name, text in texts.items():
                (sources / name).write_text(text, "utf-8")
            paths = [sources / name for name in texts]
            report = await ingest.run(paths, tenant="default", collection="kansas", label=label)
            assert not report.failed
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


async def told(client: httpx.AsyncClient) -> dict[str, str]:
    """Every surface's body, without ids and times."""
    kansas = (await client.get("/api/v1/collections")).json()["collections"][0]["collection_id"]
    own = {"query": QUESTION, "tenant_id": "default"}
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        f"basic {mode}": ("/api/v1/retrieve/basic", {**own, "kb_id": kansas, "mode": mode, "similarity_threshold": 0})
        for mode in ("keyword", "vector", "hybrid")
    }
    asked |= {
        f"agentic {effort}": ("/api/v1/retrieve/agentic", {**own, "reasoning_effort": effort})
        for effort in ("low", "medium", "high")
    }
    asked |= {
        "query": ("/retrieval/query", {"query": QUESTION, "top_k": 10, "trace": True, "rerank": {"enabled": True}}),
        "filtered": ("/retrieval/query", {"query": QUESTION, "top_k": 10, "filters": {"ne": {"title": "x"}}}),
        "snippets": (
            "/retrieval/query",
            {"query": QUESTION, "top_k": 10, "span": {"window_tokens": 8, "surround_tokens": 8}},
        ),
        "expand": ("/retrieval/expand", {"query": QUESTION}),
        "pack": ("/retrieval/pack", {"query": QUESTION, "top_k": 10, "token_budget": 60}),
        "mget": ("/retrieval/mget", {"ids": ["secret", "vault", "ferry"]}),
    }
    found = {}
    for name, (path, body) in asked.items():
        response = await client.post(path, json=body)
        assert response.status_code == 200, (name, response.text)
        plain = response.json()
        plain.get("trace", {}).pop("timings_ms", None)
        plain["promise"] = plain.get("promise", {}).get("rseq")
        found[name] = _CHANGING.sub("", json.dumps(plain, sort_keys=True))
    for path in (
        "/",
        "/audit",
        "/corpus",
        "/api/v1/layers",
        "/api/v1/places?q=lecom",
        "/api/v1/ai/suggestions?limit=20",
    ):
        response = await client.get(path)
        assert response.status_code == 200, path
        found[path] = response.text
    for form in ("events", "ui-message-stream"):
        streamed = await client.post(f"/api/v1/ai/stream?format={form}", json={"question": QUESTION})
        assert streamed.status_code == 200, streamed.text
        found[form] = _IDS.sub("", _CHANGING.sub("", _TIMES.sub("", streamed.text)))
    stats = (await client.get("/retrieval/stats")).json()
    found["stats"] = json.dumps({name: stats[name] for name in ("index_version", "documents", "calibration")})
    return found


@pytest.mark.asyncio(loop_scope="function")
async def test_hidden_documents_change_no_released_byte(tmp_path: Path) -> None:
    async with home(tmp_path / "a", secrets=False) as client:
        without = await told(client)
    async with home(tmp_path / "b", secrets=True) as client:
        with_them = await told(client)
    for name, body in without.items():
        assert with_them[name] == body, name
    assert "William Nace" in without["basic keyword"]
    assert "Esther" not in "".join(with_them.values())
