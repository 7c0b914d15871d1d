"""The retrieval surfaces and the map against their own description: it is valid OpenAPI, and every check of schemathesis holds, what the
schema allows being accepted and what it does not being refused. The server sees its callers as from afar, so that a key is needed.

What a schema cannot say is named in `REFUSED` by operation, field and code, with the reason; anything else that is refused although
the schema allows it fails. Fields whose only right value the server knows are given that value (`known`).
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis.checks import CHECKS
from schemathesis.specs.openapi.checks import positive_data_acceptance

from api.http.app import create_app
from tests.api_world import make_world

SURFACES = (
    ("/api/v1/retrieve/basic", "POST"),
    ("/api/v1/retrieve/agentic", "POST"),
    ("/retrieval/query", "POST"),
    ("/retrieval/mget", "POST"),
    ("/retrieval/expand", "POST"),
    ("/retrieval/feedback", "POST"),
    ("/retrieval/stats", "GET"),
    ("/retrieval/ablation", "POST"),
    ("/retrieval/pack", "POST"),
    ("/api/v1/layers", "GET"),
    ("/api/v1/layers/{layer_id}", "GET"),
    ("/api/v1/layers/{layer_id}/features", "GET"),
    ("/api/v1/layers/{layer_id}/tiles", "GET"),
    ("/api/v1/layers/{layer_id}/tiles/{z}/{x}/{y}", "GET"),
    ("/api/v1/features/{feature_id}", "GET"),
    ("/api/v1/places", "GET"),
    ("/api/v1/ai/stream", "POST"),
    ("/api/v1/ai/suggestions", "GET"),
    ("/api/v1/registry/assets/query", "POST"),
    ("/api/v1/registry/entities/query", "POST"),
    ("/api/v1/registry/relationships/query", "POST"),
    ("/api/v1/registry/paths/query", "POST"),
    ("/api/v1/registry/assets/{asset_id}", "GET"),
    ("/api/v1/registry/feedback", "POST"),
)
PAGED = tuple(f"/api/v1/registry/{name}/query" for name in ("assets", "entities", "relationships", "paths"))
SEARCHES = ("/retrieval/query", "/retrieval/pack")
FILTERED = (*SEARCHES, "/api/v1/retrieve/basic", "/api/v1/retrieve/agentic")
REFUSED: Mapping[tuple[str, str, str], str] = {
    **{(path, "filters", "filter"): "filters nest at most 8 deep and hold at most 100 conditions" for path in FILTERED},
    **{
        (
            path,
            "",
            "EMBED_MODEL_MISMATCH",
        ): "vector.embedding and vector.model are those of the index: its dimension and name"
        for path in SEARCHES
    },
    **{
        (path, "body", "nothing_to_search"): "generators of clients cannot say: a query, or a vector"
        for path in SEARCHES
    },
    **{(path, "", "TIMEOUT"): "timeout_ms: nothing answers within a millisecond" for path in SEARCHES},
    **{
        (path, "query", code): "a box lies in the world and is not empty; a time is one that the calendar has"
        for path in ("/api/v1/layers/{layer_id}/features", "/api/v1/places", "/api/v1/ai/suggestions")
        for code in ("bbox_outside_world", "bbox_empty", "date_invalid", "range_reversed")
    },
    **{
        (path, "", "NOT_FOUND"): "the corpus has the layers and features that it has"
        for path in (
            *("/api/v1/layers/{layer_id}", "/api/v1/layers/{layer_id}/features", "/api/v1/features/{feature_id}"),
            *("/api/v1/layers/{layer_id}/tiles", "/api/v1/layers/{layer_id}/tiles/{z}/{x}/{y}"),
        )
    },
    **{
        ("/api/v1/ai/stream", kind, code): "one time, that the calendar has; a box and a geometry that the world has"
        for kind in ("QueryRequest", "ChatRequest")
        for code in (
            *("time_ambiguous", "date_invalid", "range_reversed", "bbox_outside_world", "bbox_empty"),
            *("geometry_invalid", "geometry_outside_world"),
        )
    },
    ("/api/v1/ai/stream", "question", "blank"): "the last message of a chat is the user's and holds a text",
    **{
        (path, "options", "plan_invalid"): "a plan holds operations in the form of `interpretation.plan`"
        for path in ("/api/v1/ai/query", "/api/v1/ai/stream")
    },
    **{(path, "", "VALIDATION_FAILED"): "a cursor is one that a page of the same query gave" for path in PAGED},
    **{
        (
            path,
            "body",
            code,
        ): "a cursor or an offset; relevance of a text, which has no cursor; a range begins before it ends"
        for path in PAGED
        for code in ("cursor_and_offset", "relevance_of_nothing", "cursor_of_ranks", "range_reversed")
    },
    **{(path, "metadata", "filter"): "filters nest at most 8 deep and hold at most 100 conditions" for path in PAGED},
    ("/api/v1/registry/relationships/query", "valid_on", "date_invalid"): "a day that the calendar has",
    ("/api/v1/registry/paths/query", "valid_on", "date_invalid"): "a day that the calendar has",
    ("/api/v1/registry/assets/{asset_id}", "", "NOT_FOUND"): "the corpus has the assets that it has",
    ("/api/v1/registry/feedback", "", "NOT_FOUND"): "entry_id names a recorded request of the caller",
    ("/retrieval/feedback", "", "NOT_FOUND"): "entry_id names a recorded request of the caller",
}
WITHOUT_PARAMETERS = ("/retrieval/stats", "/api/v1/layers")
EXAMPLES = 4
PATIENCE_S = 120


@dataclass(frozen=True)
class Served:
    """Where the application is, a key, and the id of a knowledge base that the key may use."""

    url: str
    key: str
    kb_id: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


class FromAfar:
    """The application as seen by callers that are not on this machine."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope | {"client": ("203.0.113.9", 40_000)} if scope["type"] == "http" else scope, receive, send)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("schema")
    world = asyncio.run(make_world(folder))
    config = uvicorn.Config(FromAfar(create_app(world.configuration)), host="127.0.0.1", port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    key = world.tokens["viewer"]
    bases = httpx.get(f"{url}/api/v1/collections", headers={"authorization": f"Bearer {key}"}, timeout=60).json()
    yield Served(url, key, bases["collections"][0]["collection_id"])
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def schema(served: Served) -> schemathesis.BaseSchema:
    loaded = schemathesis.openapi.from_url(f"{served.url}/openapi.json")
    loaded.config.request_timeout = PATIENCE_S
    return loaded


def test_the_description_is_valid_openapi(served: Served) -> None:
    document = httpx.get(f"{served.url}/openapi.json", timeout=60).json()
    assert not list(OpenAPIV31SpecValidator(document).iter_errors())
    assert {path for path, _ in SURFACES} <= set(document["paths"])


def test_what_is_not_offered_is_refused_and_says_what_is(served: Served) -> None:
    paths = httpx.get(f"{served.url}/openapi.json", timeout=60).json()["paths"]
    with httpx.Client(base_url=served.url, headers=served.headers, timeout=60) as client:
        for path, _ in SURFACES:
            # A path may also be the place of a name: `assets/query` is an asset for GET.
            matching = [each for each in paths if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", each), path)]
            offered = {method.upper() for each in matching for method in paths[each]}
            offered |= {"HEAD"} if "GET" in offered else set()
            for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - offered:
                for content in (b"", b"{}", b"<a/>"):
                    refused = client.request(method, path, content=content)
                    assert (refused.status_code, refused.headers.get("allow")) == (405, ", ".join(sorted(offered)))
                    assert refused.json()["error"]["code"] == "METHOD_NOT_ALLOWED"


def known(body: Any, served: Served) -> Any:
    """The body with what only the server knows: the tenant of the key, a base and a reranker that are there. Lists of
    searches are cut to two, for the sake of time."""
    right = {"tenant_id": "default", "tenant": "default", "kb_id": served.kb_id, "kb_ids": [served.kb_id]}
    right |= {"collection": served.kb_id}
    made = {name: right.get(name, value) for name, value in body.items()}
    made |= {name: made[name][:2] for name in ("queries", "profiles") if isinstance(made.get(name), list)}
    if isinstance(made.get("rerank"), dict):
        made["rerank"] = made["rerank"] | {"model": "heuristic/1"}
    return made


def accepted_or_named(ctx: Any, response: Any, case: schemathesis.Case) -> bool | None:
    """`positive_data_acceptance`, but for what is named in `REFUSED`."""
    if response.status_code >= 400:
        error = response.json().get("error", {})
        for told in error.get("details") or [{"field": "", "code": error.get("code")}]:
            field = told["field"].split(".")[0]
            if (case.operation.path, field, told["code"]) in REFUSED:
                return None
    return positive_data_acceptance(ctx, response, case)


ALL = [accepted_or_named if check is positive_data_acceptance else check for check in CHECKS.get_all()]


@pytest.mark.parametrize(("path", "method"), SURFACES)
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_a_surface_keeps_to_its_description(
    schema: schemathesis.BaseSchema, served: Served, path: str, method: str, mode: schemathesis.GenerationMode
) -> None:
    if path in WITHOUT_PARAMETERS and mode is schemathesis.GenerationMode.NEGATIVE:
        pytest.skip("a request without parameters cannot be wrong")

    @given(case=schema[path][method].as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case: schemathesis.Case) -> None:
        if mode is schemathesis.GenerationMode.POSITIVE and isinstance(case.body, dict):
            case.body = known(case.body, served)
        case.call_and_validate(checks=ALL, headers=served.headers, timeout=PATIENCE_S)

    check()
