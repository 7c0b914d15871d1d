"""The caller's trace (W3C `traceparent`) is in the entries of its request, and only where it is in its form."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, format_span_id, format_trace_id

from ai.record.trace import traced
from api.http.callers_trace import CallersTrace
from ledger.model import Kind
from tests.api.conftest import Connect
from tests.api.test_computations import GREW
from tests.api_world import POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GIVEN = f"00-{TRACE}-{PARENT}-01"
REFUSED = (
    "",
    "00",
    TRACE,
    f"00-{TRACE}-{PARENT}",
    f"00-{TRACE}-{PARENT}-01-more",
    f"ff-{TRACE}-{PARENT}-01",
    f"0-{TRACE}-{PARENT}-01",
    f"00-{TRACE.upper()}-{PARENT}-01",
    f"00-{TRACE[:-1]}-{PARENT}-01",
    f"00-{TRACE}0-{PARENT}-01",
    f"00-{TRACE}-{PARENT[:-1]}-01",
    f"00-{TRACE[:-1]}g-{PARENT}-01",
    f"00-{'0' * 32}-{PARENT}-01",
    f"00-{TRACE}-{'0' * 16}-01",
    f"00_{TRACE}_{PARENT}_01",
    "\u00e9" * 55,
    "0" * 4_000,
)


async def recorded(app: FastAPI, response: httpx.Response) -> list[dict[str, Any]]:
    """What the entries of a request say was asked; the outcome of a question, which has its intent for that, left out."""
    assert response.status_code == 200, response.text
    ledger = app.state.live.system.services.ledger
    entries = await ledger.find(request_id=response.headers["x-request-id"])
    held = [await ledger.contents(entry, ("context",)) for entry in entries if entry.leaf.kind is not Kind.OUTCOME]
    assert held
    return [json.loads(each["context"]) for each in held]


async def test_every_surface_records_it(app: FastAPI, connect: Connect) -> None:
    client = connect("viewer")
    header = {"traceparent": GIVEN}
    kansas = (await client.get("/api/v1/collections")).json()["collections"][0]["collection_id"]
    answer = await client.post("/api/v1/ai/query", json={"question": POPULATION}, headers=header)
    cited = next(iter(answer.json()["citations"].values()))
    entry_id = answer.json()["provenance"]["entry_id"]
    remark = {"entry_id": entry_id, "kind": "useful", "result": ""}
    grown = await client.post("/api/v1/ai/query", json={"question": GREW}, headers=header)
    computed = next(each["href"] for each in grown.json()["citations"].values() if each["computed"])
    basic = {"query": POPULATION, "tenant_id": "default", "kb_id": kansas}
    asked = {
        "query": answer,
        "stream": await client.post("/api/v1/ai/stream", json={"question": POPULATION}, headers=header),
        "search": await client.post("/retrieval/query", json={"query": POPULATION, "top_k": 3}, headers=header),
        "basic": await client.post("/api/v1/retrieve/basic", json=basic, headers=header),
        "evidence": await client.get(cited["href"], headers=header),
        "computation": await client.get(computed, headers=header),
        "assets": await client.post("/api/v1/registry/assets/query", json={}, headers=header),
        "remark": await client.post("/api/v1/registry/feedback", json=remark, headers=header),
    }
    for name, response in asked.items():
        for context in await recorded(app, response):
            assert context["trace"]["trace_id"] == TRACE, name


@pytest.mark.parametrize("header", REFUSED)
async def test_what_is_not_in_its_form_is_not_taken(app: FastAPI, client: httpx.AsyncClient, header: str) -> None:
    headers = {"traceparent": header.encode("latin-1")}
    response = await client.post("/retrieval/expand", json={"query": POPULATION}, headers=headers)
    for context in await recorded(app, response):
        assert TRACE not in json.dumps(context).lower()


async def test_the_entry_names_the_span_that_tracing_shows(
    app: FastAPI, client: httpx.AsyncClient, spans: InMemorySpanExporter
) -> None:
    response = await client.post("/api/v1/ai/query", json={"question": POPULATION}, headers={"traceparent": GIVEN})
    [opened] = [each for each in spans.get_finished_spans() if each.name == "POST /api/v1/ai/query"]
    assert opened.kind is SpanKind.SERVER and opened.parent is not None
    assert (format_trace_id(opened.parent.trace_id), format_span_id(opened.parent.span_id)) == (TRACE, PARENT)
    [context] = await recorded(app, response)
    shown = {format_span_id(each.context.span_id) for each in spans.get_finished_spans() if each.context is not None}
    assert context["trace"]["trace_id"] == TRACE and context["trace"]["span_id"] in shown
    alone = await client.post("/api/v1/ai/query", json={"question": POPULATION})
    [context] = await recorded(app, alone)
    assert context["trace"]["trace_id"] != TRACE


async def seen(*headers: tuple[bytes, bytes]) -> dict[str, Any]:
    """What an application behind the middleware would record, without an SDK."""
    told: list[dict[str, Any]] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        told.append(traced({}))

    await CallersTrace(inner)({"type": "http", "headers": headers}, None, None)  # type: ignore[arg-type]
    assert traced({}) == {}, "what one request brings is gone after it"
    return told[0]


async def test_without_an_sdk_the_entry_names_the_callers_span() -> None:
    given = (b"traceparent", GIVEN.encode())
    assert await seen(given) == {"trace": {"trace_id": TRACE, "span_id": PARENT}}
    assert await seen((b"traceparent", f"cc-{TRACE}-{PARENT}-01-later".encode())) == await seen(given)
    assert await seen() == await seen(given, given) == await seen((b"tracestate", b"a=b")) == {}
    for header in REFUSED:
        assert await seen((b"traceparent", header.encode("latin-1"))) == {}, header


async def test_an_entry_with_a_trace_replays(connect: Connect) -> None:
    response = await connect("viewer").post(
        "/api/v1/ai/query", json={"question": POPULATION}, headers={"traceparent": GIVEN}
    )
    body = response.json()
    await connect("viewer").get(body["provenance"]["receipt"])  # waits for a checkpoint
    path = f"/api/v1/ledger/entries/{body['provenance']['entry_id']}/replay"
    found = (await connect("auditor").post(path, json={"to": "R2"})).json()
    assert (found["grade"], found["verdict"]) == ("R2", "reproduced")


async def test_without_a_trace_nothing_is_added() -> None:
    assert traced({"surface": "x"}) == {"surface": "x"}
