"""Bad input: each is a coded error in the one error body; nothing is recorded, nothing of it is repeated, no stack text."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from api.schemas.errors import ErrorBody
from tests.api_world import POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
URL = "/api/v1/ai/query"


def refused(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The error of a response that must be refused so."""
    assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.text
    body: dict[str, Any] = response.json()
    ErrorBody.model_validate(body)
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"] == body["error"]["request_id"]
    for trace in ("Traceback", "File ", ".py", "Error("):
        assert trace not in response.text
    return body["error"]  # type: ignore[no-any-return]


def point(lon: Any, lat: Any) -> dict[str, Any]:
    return {"geometry": {"type": "Point", "coordinates": [lon, lat]}}


INVALID: list[tuple[str, dict[str, Any], str]] = [
    ("empty question", {"question": ""}, "question"),
    ("blank question", {"question": " \n\t "}, "question"),
    ("no question", {}, "question"),
    ("null question", {"question": None}, "question"),
    ("number for a question", {"question": 5}, "question"),
    ("list for a question", {"question": ["x"]}, "question"),
    ("long question", {"question": "x" * 4_001}, "question"),
    ("NUL", {"question": "a\x00b"}, "question"),
    ("escape", {"question": "a\x1b[31mb"}, "question"),
    ("C1 control", {"question": "a\x85b"}, "question"),
    ("lone high surrogate", {"question": "a\ud800"}, "question"),
    ("lone low surrogate", {"question": "\udc00a"}, "question"),
    ("surrogate in a place", {"context": {"place": "\ud800"}}, "context.place"),
    ("control character in a layer", {"context": {"active_layers": ["a\x07"]}}, "context.active_layers.0"),
    ("empty place", {"context": {"place": ""}}, "context.place"),
    ("context is a list", {"context": []}, "context"),
    ("unknown field", {"frobnicate": 1}, "frobnicate"),
    ("unknown context field", {"context": {"zoom": 3}}, "context.zoom"),
    ("unknown option", {"options": {"topk": 3}}, "options.topk"),
    ("top_k 101", {"options": {"top_k": 101}}, "options.top_k"),
    ("top_k 0", {"options": {"top_k": 0}}, "options.top_k"),
    ("top_k as text", {"options": {"top_k": "8"}}, "options.top_k"),
    ("top_k as truth", {"options": {"top_k": True}}, "options.top_k"),
    ("top_k with a fraction", {"options": {"top_k": 8.5}}, "options.top_k"),
    ("unknown profile", {"options": {"profile": "turbo"}}, "options.profile"),
    ("negative temperature", {"options": {"temperature": -0.1}}, "options.temperature"),
    ("temperature 3", {"options": {"temperature": 3}}, "options.temperature"),
    ("max_tokens 0", {"options": {"max_tokens": 0}}, "options.max_tokens"),
    ("negative seed", {"options": {"seed": -1}}, "options.seed"),
    ("collections as text", {"options": {"collections": "kansas"}}, "options.collections"),
    ("too many collections", {"options": {"collections": ["x"] * 51}}, "options.collections"),
    ("bbox of three", {"context": {"bbox": [0, 0, 1]}}, "context.bbox"),
    ("bbox as text", {"context": {"bbox": "0,0,1,1"}}, "context.bbox"),
    ("bbox upside down", {"context": {"bbox": [0, 10, 1, 5]}}, "context.bbox"),
    ("bbox without height", {"context": {"bbox": [0, 5, 1, 5]}}, "context.bbox"),
    ("bbox without width", {"context": {"bbox": [1, 0, 1, 5]}}, "context.bbox"),
    ("bbox west of the world", {"context": {"bbox": [-181, 0, 1, 5]}}, "context.bbox"),
    ("bbox north of the world", {"context": {"bbox": [0, 0, 1, 91]}}, "context.bbox"),
    ("bbox with text", {"context": {"bbox": [0, 0, 1, "5"]}}, "context.bbox.3"),
    ("reversed years", {"context": {"year_range": [1930, 1900]}}, "context.year_range"),
    ("one year in a range", {"context": {"year_range": [1930]}}, "context.year_range"),
    ("year 0", {"context": {"year": 0}}, "context.year"),
    ("year 10000", {"context": {"year": 10_000}}, "context.year"),
    ("year as text", {"context": {"year": "1930"}}, "context.year"),
    ("reversed days", {"context": {"time_range": {"start": "1931-02-02", "end": "1931-02-01"}}}, "context.time_range"),
    ("no such day", {"context": {"time_range": {"start": "1931-02-29", "end": "1932"}}}, "context.time_range"),
    ("no date", {"context": {"time_range": {"start": "soon", "end": "1932"}}}, "context.time_range"),
    ("no end", {"context": {"time_range": {"start": "1931"}}}, "context.time_range.end"),
    ("two times", {"context": {"year": 1930, "year_range": [1930, 1940]}}, "context"),
    ("no geometry type", {"context": {"geometry": {"coordinates": [0, 0]}}}, "context.geometry"),
    ("unknown geometry type", {"context": {"geometry": {"type": "Blob", "coordinates": []}}}, "context.geometry"),
    (
        "a feature",
        {"context": {"geometry": {"type": "Feature", "geometry": None, "properties": {}}}},
        "context.geometry",
    ),
    ("empty geometry", {"context": {"geometry": {"type": "Polygon", "coordinates": []}}}, "context.geometry"),
    ("point outside the world", {"context": point(0, 200)}, "context.geometry"),
    ("point without numbers", {"context": point("a", "b")}, "context.geometry"),
    (
        "bow tie",
        {"context": {"geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}}},
        "context.geometry",
    ),
]


@pytest.mark.parametrize(("change", "field"), [case[1:] for case in INVALID], ids=[case[0] for case in INVALID])
async def test_invalid_fields_are_named(client: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    body = change if "question" in change or not change else {"question": POPULATION} | change
    response = await client.post(URL, content=json.dumps(body), headers={"content-type": "application/json"})
    error = refused(response, 422, "VALIDATION_FAILED")
    assert [detail["field"] for detail in error["details"]] == [field]


VALID: list[tuple[str, dict[str, Any]]] = [
    ("across the antimeridian", {"context": {"bbox": [170, -10, -170, 10]}}),
    ("the whole world", {"context": {"bbox": [-180, -90, 180, 90]}}),
    ("one year as a range", {"context": {"year_range": [1930, 1930]}}),
    ("a month", {"context": {"time_range": {"start": "1930-02", "end": "1930-02"}}}),
    ("line breaks", {"question": "What was the population\r\n\tof Shawnee County in 1930?"}),
    ("astral characters", {"question": "What was the population of Shawnee County in 1930? 🌾"}),
    ("top_k 100", {"options": {"top_k": 100}}),
    ("a polygon", {"context": {"geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}}}),
]


@pytest.mark.parametrize("change", [case[1] for case in VALID], ids=[case[0] for case in VALID])
async def test_unusual_but_valid_requests_are_answered(client: httpx.AsyncClient, change: dict[str, Any]) -> None:
    response = await client.post(URL, json={"question": POPULATION} | change)
    assert response.status_code == 200, response.text


MALFORMED = {
    "nothing": b"",
    "no JSON": b"nope",
    "truncated": b'{"question": "x',
    "trailing": b'{"question": "x"} {}',
    "not UTF-8": b'{"question": "\xff\xfe"}',
    "too deep": b"[" * 100_000,
    "endless number": b'{"question": ' + b"9" * 5_000 + b"}",
    "single quotes": b"{'question': 'x'}",
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED.keys())
async def test_a_body_that_is_no_json_is_a_bad_request(client: httpx.AsyncClient, content: bytes) -> None:
    response = await client.post(URL, content=content, headers={"content-type": "application/json"})
    refused(response, 400, "BAD_REQUEST")


@pytest.mark.parametrize("content", [b'"x"', b"[]", b"5", b"null", b"true"])
async def test_json_that_is_no_object_is_invalid(client: httpx.AsyncClient, content: bytes) -> None:
    refused(
        await client.post(URL, content=content, headers={"content-type": "application/json"}), 422, "VALIDATION_FAILED"
    )


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json; charset=utf-16", ""],
)
async def test_another_content_type_is_refused(client: httpx.AsyncClient, kind: str) -> None:
    content = json.dumps({"question": POPULATION}).encode()
    response = await client.post(URL, content=content, headers={"content-type": kind} if kind else {})
    refused(response, 415, "UNSUPPORTED_MEDIA_TYPE")


async def test_a_question_of_a_megabyte_is_too_large(client: httpx.AsyncClient) -> None:
    refused(await client.post(URL, json={"question": "x" * 1_048_576}), 413, "PAYLOAD_TOO_LARGE")


async def test_a_body_that_does_not_say_its_length_is_cut_off(client: httpx.AsyncClient) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 50_000_000:
            sent += 65_536
            yield b"x" * 65_536

    response = await client.post(URL, content=endless(), headers={"content-type": "application/json"})
    refused(response, 413, "PAYLOAD_TOO_LARGE")
    assert sent < 1_000_000


async def test_nothing_of_a_long_or_odd_field_name_is_repeated_at_length(client: httpx.AsyncClient) -> None:
    name = "\ud800\x00<script>" + "x" * 100_000
    content = json.dumps({"question": POPULATION, name: 1})
    error = refused(
        await client.post(URL, content=content, headers={"content-type": "application/json"}), 422, "VALIDATION_FAILED"
    )
    assert len(json.dumps(error)) < 1_000


async def test_many_problems_are_told_in_part(client: httpx.AsyncClient) -> None:
    response = await client.post(URL, json={"question": POPULATION} | {f"f{n}": 1 for n in range(500)})
    assert len(refused(response, 422, "VALIDATION_FAILED")["details"]) == 20


async def test_the_value_is_never_repeated(client: httpx.AsyncClient) -> None:
    response = await client.post(URL, json={"question": POPULATION, "options": {"profile": "secret-word"}})
    refused(response, 422, "VALIDATION_FAILED")
    assert "secret-word" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nope", 404, "NOT_FOUND"),
        ("GET", "/api/v1/ai/query", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/api/v1/collections", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/docs/assets/../../etc/passwd", 404, "NOT_FOUND"),
        ("GET", "/docs/assets/redoc.standalone.js", 404, "NOT_FOUND"),
    ],
)
async def test_paths_and_methods(client: httpx.AsyncClient, method: str, path: str, status: int, code: str) -> None:
    refused(await client.request(method, path), status, code)


async def test_a_refused_request_leaves_no_entry(connect: Any) -> None:
    async with connect("auditor") as auditor:
        before = (await auditor.get("/api/v1/ledger/entries?limit=1000")).json()
        await auditor.post(URL, json={"question": ""})
        await auditor.post(URL, content=b"nope", headers={"content-type": "application/json"})
        assert (await auditor.get("/api/v1/ledger/entries?limit=1000")).json() == before
