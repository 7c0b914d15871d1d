"""With a real OPA server: the embedded engine stands in with the same bundle, and a published bundle waits for the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from api.home.configuration import load
from api.http.policy.reload import LiveSystem
from api.wiring import open_system
from policy.authoring.opa import Opa
from policy.authoring.server_bundle import archive_of
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.canonical import canonical
from policy.engine import Reply
from policy.errors import PolicyUnavailable
from policy.fallback import FallbackEngine
from policy.opa.server import OpaServerEngine
from policy.wasm import WasmEngine
from tests.api_world import make_world
from tests.opa_server import TOKEN, OpaServer, pinned_opa
from tests.policy_world import base
from tests.published import published_live
from tests.unit.test_policy_releases import candidate

pytestmark = pytest.mark.services
DEADLINE_S = 20.0  # for a machine under load; a paused server is waited for with less


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


@pytest.fixture
def server(opa: Opa, tmp_path: Path) -> Iterator[OpaServer]:
    (tmp_path / "opa").mkdir()
    made = OpaServer(opa, tmp_path / "opa")
    made.start(archive_of(SHIPPED))
    yield made
    made.kill()


@pytest_asyncio.fixture
async def engine(server: OpaServer) -> AsyncIterator[FallbackEngine]:
    bundle = load_bundle()
    first = OpaServerEngine.open(server.url, bundle_digest=bundle.digest, token=TOKEN)
    made = FallbackEngine(first=first, second=WasmEngine.open(bundle))
    yield made
    await made.aclose()


async def decided(engine: FallbackEngine, deadline_s: float = DEADLINE_S) -> Reply:
    reply = await engine.evaluate("kfm/ai/query", canonical(base("query")), deadline_s=deadline_s)
    [found] = json.loads(reply.results)
    assert found["result"]["effect"] == "allow"
    assert reply.bundle_digest == load_bundle().digest
    return reply


async def test_the_server_decides_while_it_can_and_the_module_while_it_cannot(
    server: OpaServer, engine: FallbackEngine, tmp_path: Path
) -> None:
    assert (await decided(engine)).engine.startswith("opa:")
    server.pause()
    assert (await decided(engine, 1.0)).engine.startswith("wasm:")
    server.kill()
    assert (await decided(engine)).engine.startswith("wasm:")
    server.start(archive_of(candidate(tmp_path / "other", 900)))
    assert (await decided(engine)).engine.startswith("wasm:"), "another bundle decides nothing"
    server.kill()
    server.start(archive_of(SHIPPED))
    async with asyncio.timeout(60):
        while not (await decided(engine)).engine.startswith("opa:"):  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def test_a_published_bundle_is_taken_up_when_the_server_has_it(server: OpaServer, tmp_path: Path) -> None:
    home = (await make_world(tmp_path / "world")).configuration.home
    environment = {"OPA_URL": server.url, "EXHIBIT_STORES__OPA_TOKEN": TOKEN, "EXHIBIT_POLICY__DEADLINE_MS": "20000"}
    async with open_system(load(environment, home=home)) as system:
        current = LiveSystem(system)
        made = candidate(tmp_path / "new", 901)
        digest = await published_live(system, made)
        assert await current.refresh() is False, "the server still serves the old one"
        await current.system.engine.evaluate("kfm/ai/query", b"{}", deadline_s=DEADLINE_S)
        server.kill()
        server.start(archive_of(made))
        with pytest.raises(PolicyUnavailable):
            await current.system.engine.evaluate("kfm/ai/query", b"{}", deadline_s=DEADLINE_S)
        assert await current.refresh() is True
        reply = await current.system.engine.evaluate("kfm/ai/query", b"{}", deadline_s=DEADLINE_S)
        assert (reply.bundle_digest, current.system.engine.bundle_digest) == (digest, digest)
        await current.aclose()
