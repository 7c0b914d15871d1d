"""Servers that this version does not speak to are refused by name, never replaced in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.backends import backends_of
from api.configuration import load
from api.errors import BackendNotBuilt
from api.wiring import open_indexes, open_system
from policy.errors import OpaUnavailable
from retrieval.errors import ChannelUnavailable


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OPENSEARCH_URL", "https://search"),
        ("FOCUS_MODE_EMBED_MODEL", "all-minilm"),
    ],
)
async def test_a_named_server_is_refused(tmp_path: Path, variable: str, value: str) -> None:
    configuration = load({variable: value}, home=tmp_path)
    with pytest.raises(BackendNotBuilt, match=variable):
        async with open_system(configuration, empty=True):
            pass
    with pytest.raises(BackendNotBuilt, match=variable):
        async with open_indexes(configuration):
            pass


async def test_a_database_server_need_not_run_to_be_wired(tmp_path: Path) -> None:
    configuration = load({"POSTGIS_DSN": "postgresql://exhibit:hunter2@127.0.0.1:1/x"}, home=tmp_path)
    async with open_system(configuration, empty=True) as system:
        assert {"postgis", "pgvector"} <= {channel.store for channel in system.services.channels}
    async with open_indexes(configuration):
        pass
    assert "hunter2" not in repr(backends_of(configuration))


async def test_a_graph_server_need_not_run_to_be_wired(tmp_path: Path) -> None:
    settings = {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "hunter2", "NEO4J_USER": "exhibit"}
    configuration = load(settings, home=tmp_path)
    async with open_system(configuration, empty=True) as system:
        assert "neo4j" in [channel.store for channel in system.services.channels]
    async with open_indexes(configuration):
        pass
    assert "hunter2" not in repr(backends_of(configuration))


async def test_a_graph_server_that_cannot_be_meant_is_refused(tmp_path: Path) -> None:
    configuration = load({"NEO4J_URI": "http://graph", "NEO4J_PASSWORD": "hunter2"}, home=tmp_path)
    with pytest.raises(ChannelUnavailable) as caught:
        async with open_system(configuration, empty=True):
            pass
    assert "hunter2" not in str(caught.value)


async def test_an_opa_server_need_not_run_to_be_wired(tmp_path: Path) -> None:
    configuration = load({"OPA_URL": "http://127.0.0.1:1", "EXHIBIT_STORES__OPA_TOKEN": "hunter2"}, home=tmp_path)
    async with open_system(configuration, empty=True) as system:
        assert system.engine.name == "opa"
        assert system.engine.bundle_digest == system.policy.bundle.digest
    assert "hunter2" not in repr(backends_of(configuration))


@pytest.mark.parametrize(
    "settings",
    [
        {"OPA_URL": "http://me:hunter2@opa"},
        {"OPA_URL": "opa:8181"},
        {"OPA_URL": "unix://relative/opa.sock"},
        {"OPA_URL": "https://opa", "EXHIBIT_STORES__OPA_CA_FILE": "/there/is/none.pem"},
    ],
    ids=str,
)
async def test_an_opa_server_that_cannot_be_meant_is_refused(tmp_path: Path, settings: dict[str, str]) -> None:
    with pytest.raises(OpaUnavailable) as caught:
        async with open_system(load(settings, home=tmp_path), empty=True):
            pass
    assert caught.value.problem == "ADDRESS"
    assert "hunter2" not in str(caught.value)
