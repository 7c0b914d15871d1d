"""The three retrieval surfaces against their own description: it is valid OpenAPI, what it allows is answered as it
says, and what it does not allow is refused as it says.

Two of schemathesis' checks are left out by name, because a schema cannot say what they ask for: `positive_data_acceptance`
(a tenant must be the credential's, an id must exist, filters must mean something, a query or a vector must be there) and
`negative_data_rejection` (it also breaks headers that these routes do not read). What is out of range is refused by
field in the tests of each surface.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.app import create_app
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
)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = 5


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the application over a small home, served from a thread."""
    folder: Path = tmp_path_factory.mktemp("schema")
    world = asyncio.run(make_world(folder))
    config = uvicorn.Config(create_app(world.configuration), host="127.0.0.1", port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def schema(served: str) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{served}/openapi.json")


def test_the_description_is_valid_openapi(served: str) -> None:
    import httpx

    document = httpx.get(f"{served}/openapi.json").json()
    assert not list(OpenAPIV31SpecValidator(document).iter_errors())
    assert {path for path, _ in SURFACES} <= set(document["paths"])


@pytest.mark.parametrize(("path", "method"), SURFACES)
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_a_surface_keeps_to_its_description(
    schema: schemathesis.BaseSchema, path: str, method: str, mode: schemathesis.GenerationMode
) -> None:
    if method == "GET" and mode is schemathesis.GenerationMode.NEGATIVE:
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
        case.call_and_validate(checks=CHECKS)

    check()
