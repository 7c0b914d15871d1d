"""The contract of PolicyEngine, over a real OPA server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from policy.authoring.server_bundle import server_bundle
from policy.bundles.bundle import load_bundle
from policy.opa.server import OpaServerEngine
from tests.contracts.test_policy_engine import *  # noqa: F403  the suite itself
from tests.contracts.test_policy_engine import Opening
from tests.opa_server import TOKEN, OpaServer, pinned_opa, serving

pytestmark = [pytest.mark.services, pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(scope="module")
def opening(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opening]:
    folder: Path = tmp_path_factory.mktemp("opa")
    with serving(OpaServer(pinned_opa(request.config), folder), server_bundle()) as server:
        digest = load_bundle().digest
        yield lambda: OpaServerEngine.open(server.url, bundle_digest=digest, token=TOKEN)
