"""Probes, metrics, the offline documentation, and what happens when a part is gone."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from api.home.configuration import load
from api.http.app import create_app
from api.schemas.evidence import ReadyResponse
from api.wiring import create_ledger, open_ledger
from ledger.model import Kind
from ledger.notes.note import parse_vkey
from tests.api_world import POPULATION, make_world
from tests.ledger_witnesses import policy_text

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_probes(connect: Any) -> None:
    async with connect(address="203.0.113.9") as afar:
        assert (await afar.get("/livez")).json() == {"status": "alive"}
        ready = await afar.get("/readyz")
        assert ready.status_code == 200
        body = ReadyResponse.model_validate(ready.json())
        version = (await afar.get("/version")).json()
    assert body.status == "ready"
    assert {"records", "policy", "ledger", "model", "neo4j", "postgis", "fulltext", "vector", "checkpoints"} == set(
        body.parts
    )
    assert version["policy_bundle"].startswith("sha256:")


async def test_metrics_are_for_loopback_and_operators(connect: Any) -> None:
    async with connect() as near:
        await near.post("/api/v1/ai/query", json={"question": POPULATION})
        text = (await near.get("/metrics")).text
    assert re.search(r'exhibit_requests_total\{outcome="ANSWER",surface="ai.query"\} [1-9]', text)
    assert re.search(r'exhibit_stage_seconds_count\{stage="\w+"\} [1-9]', text)
    assert re.search(r"exhibit_ledger_append_seconds_count [1-9]", text)
    assert "exhibit_uncited_sentences_total 0.0" in text
    assert "Shawnee" not in text
    for key, status in ((None, 401), ("viewer", 403), ("operator", 200)):
        async with connect(key, address="203.0.113.9") as afar:
            assert (await afar.get("/metrics")).status_code == status


async def test_the_documentation_needs_no_network(client: httpx.AsyncClient) -> None:
    page = await client.get("/docs")
    links = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    assert [link for link in links if not link.startswith(("/", "data:"))] == []
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    for link in links:
        if link.startswith("/"):
            assert (await client.get(link)).status_code == 200, link
    start = (await client.get("/assets/reference.js")).text
    assert "validatorUrl: null" in start


async def test_every_operation_is_described(client: httpx.AsyncClient) -> None:
    described = (await client.get("/openapi.json")).json()
    assert described["openapi"].startswith("3.1")
    assert described["info"]["description"].startswith("Questions answered from governed evidence")
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation.get("description"), f"{method} {path}"
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    reference = response["content"]["application/json"]["schema"]["$ref"]
                    assert reference.endswith(("ErrorBody", "ReadyResponse")), f"{method} {path} {status}"


async def test_every_response_is_marked_as_what_it_is(client: httpx.AsyncClient) -> None:
    for path in ("/livez", "/nope", "/docs"):
        headers = (await client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-request-id"]


async def test_without_a_ledger_nothing_is_released(tmp_path: Any) -> None:
    world = await make_world(tmp_path)
    app = create_app(world.configuration)
    async with LifespanManager(app, startup_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            assert (await client.post("/api/v1/ai/query", json={"question": POPULATION})).status_code == 200
            await app.state.live.system.services.ledger.aclose()
            response = await client.post("/api/v1/ai/query", json={"question": POPULATION})
            ready = await client.get("/readyz")
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (503, "LEDGER_UNAVAILABLE")
    assert set(response.json()) == {"error"}
    assert "85,200" not in response.text
    assert str(tmp_path) not in response.text
    assert (ready.status_code, ready.json()["status"]) == (503, "unavailable")


@pytest.mark.parametrize("goes_on", [True, False])
async def test_where_no_checkpoint_can_be_published_it_says_so(tmp_path: Any, goes_on: bool) -> None:
    """Its witnesses are away."""
    world = await make_world(tmp_path)
    vkey = await create_ledger(world.configuration)
    lines = policy_text(parse_vkey(vkey)).decode().splitlines()
    away = [f"{line} http://127.0.0.1:1/w" if line.startswith("witness ") else line for line in lines]
    (tmp_path / "policy").write_text("\n".join([*away, ""]), "utf-8")
    told = {
        "EXHIBIT_LEDGER__TRUST_POLICY": str(tmp_path / "policy"),
        "EXHIBIT_LEDGER__CHECKPOINT_MS": "50",
        "EXHIBIT_LEDGER__PUBLISH_WITHIN_S": "1",
        "EXHIBIT_LEDGER__ANSWER_UNPUBLISHED": str(goes_on).lower(),
    }
    app = create_app(load(told, home=world.configuration.home))
    async with LifespanManager(app, startup_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            async with asyncio.timeout(30):
                while (await client.get("/readyz")).json()["parts"]["checkpoints"]["state"] == "up":  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            ready = (await client.get("/readyz")).json()
            response = await client.post("/api/v1/ai/query", json={"question": POPULATION})
            search = await client.post("/retrieval/query", json={"query": POPULATION, "top_k": 3})
            metrics = (await client.get("/metrics")).text
        async with open_ledger(world.configuration) as ledger:
            async with asyncio.timeout(30):
                while not (incidents := await ledger.entries(kind=Kind.INCIDENT)):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            [incident] = incidents
            assert json.loads(await ledger.part(incident.leaf.entry_id, "detail"))["what"] == "unpublished"
    down = {name for name, part in ready["parts"].items() if part["state"] == "down"}
    assert ready["parts"]["checkpoints"]["store"] == "witnesses"
    if goes_on:
        assert (ready["status"], down) == ("degraded", {"checkpoints"})
        assert (response.status_code, search.status_code) == (200, 200)
    else:
        assert (ready["status"], down) == ("unavailable", {"checkpoints", "ledger"})
        assert (response.status_code, search.status_code) == (503, 503)
        assert response.json()["error"]["code"] == "LEDGER_UNAVAILABLE"
        assert "85,200" not in response.text
    [waited] = [line for line in metrics.splitlines() if line.startswith("exhibit_checkpoint_unpublished_seconds ")]
    assert float(waited.split()[1]) > 1


async def test_without_policy_nothing_is_released(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    world = await make_world(tmp_path)
    app = create_app(world.configuration)
    async with LifespanManager(app, startup_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            await app.state.live.system.engine.aclose()
            response = await client.post("/api/v1/ai/query", json={"question": POPULATION})
            reading = await client.get("/api/v1/collections")
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (503, "POLICY_UNAVAILABLE")
    assert error["entry_id"]
    assert response.headers["retry-after"]
    assert (reading.status_code, reading.json()["error"]["code"]) == (503, "POLICY_UNAVAILABLE")
    logged = capsys.readouterr()
    assert "request_refused" in logged.out + logged.err  # a server that is gone is no bug of ours
    assert "request_failed" not in logged.out + logged.err


async def test_servers_that_are_gone_are_named_with_their_circuits(tmp_path: Any) -> None:
    world = await make_world(tmp_path)
    gone = {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "hunter2"}
    app = create_app(load(gone, home=world.configuration.home))
    async with LifespanManager(app, startup_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for circuit, code in (("closed", "CHANNEL_UNAVAILABLE"),) * 4 + (("open", "CHANNEL_UNAVAILABLE"),):
                ready = (await client.get("/readyz")).json()
                down = {name: part for name, part in ready["parts"].items() if part["state"] == "down"}
                assert (ready["status"], set(down)) == ("degraded", {"neo4j"})
                assert (down["neo4j"]["circuit"], down["neo4j"]["code"]) == (circuit, code)
            answered = (await client.post("/api/v1/ai/query", json={"question": POPULATION})).json()
    assert answered["outcome"] == "ANSWER"
    # half open again where the machine took more than a second over it
    said = {x["code"] for x in answered["limitations"] if x["channel"] == "neo4j"}
    assert said in ({"CHANNEL_CIRCUIT_OPEN"}, {"CHANNEL_UNAVAILABLE"})
    assert "hunter2" not in str(ready) + str(answered)
    assert "127.0.0.1" not in str(ready)
