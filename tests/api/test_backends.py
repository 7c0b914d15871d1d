"""Servers need not run to be wired, one that cannot be meant is refused, and no secret is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ai.models.chat_model import StructuredModel
from api.errors import SettingsInvalid
from api.home.backends import backends_of
from api.home.configuration import load
from api.wiring import open_indexes, open_system
from policy.errors import OpaUnavailable
from retrieval.errors import ChannelUnavailable


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


async def test_a_model_server_need_not_run_to_be_wired(tmp_path: Path) -> None:
    settings = {"FOCUS_MODE_MODEL": "a", "FOCUS_MODE_EMBED_MODEL": "b", "OLLAMA_API_URL": "http://127.0.0.1:1"}
    configuration = load(settings | {"EXHIBIT_MODELS__OLLAMA_TOKEN": "hunter2"}, home=tmp_path)
    async with open_system(configuration, empty=True) as system:
        assert isinstance(system.services.model, StructuredModel)
    async with open_indexes(configuration):
        pass
    assert "hunter2" not in repr(backends_of(configuration))


async def test_the_model_without_a_server_takes_no_schema(tmp_path: Path) -> None:
    async with open_system(load({}, home=tmp_path), empty=True) as system:
        assert not isinstance(system.services.model, StructuredModel)


async def test_certificates_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("no certificate")
    for path in (tmp_path / "no.pem", tmp_path / "none.pem"):
        settings = {"FOCUS_MODE_MODEL": "a", "EXHIBIT_MODELS__OLLAMA_CA_FILE": str(path)}
        with pytest.raises(SettingsInvalid, match="ollama_ca_file"):
            async with open_system(load(settings, home=tmp_path), empty=True):
                pass


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


async def test_a_search_server_need_not_run_to_be_wired(tmp_path: Path) -> None:
    configuration = load({"OPENSEARCH_URL": "https://me:hunter2@127.0.0.1:1"}, home=tmp_path)
    async with open_system(configuration, empty=True) as system:
        assert "opensearch" in [channel.store for channel in system.services.channels]
    async with open_indexes(configuration):
        pass
    assert "hunter2" not in repr(backends_of(configuration))


@pytest.mark.parametrize(
    "settings",
    [
        {"OPENSEARCH_URL": "search.example:hunter2"},
        {"OPENSEARCH_URL": "ftp://me:hunter2@search"},
        {"OPENSEARCH_URL": "https://me:hunter2@"},
        {"OPENSEARCH_URL": "https://me:hunter2@search:port"},
        {"OPENSEARCH_URL": "https://me:hunter2@search/?q=1"},
        {"OPENSEARCH_URL": "https://me:hunter2@search", "EXHIBIT_STORES__OPENSEARCH_CA_FILE": "/there/is/none.pem"},
    ],
    ids=str,
)
async def test_a_search_server_that_cannot_be_meant_is_refused(tmp_path: Path, settings: dict[str, str]) -> None:
    with pytest.raises(ChannelUnavailable) as caught:
        async with open_system(load(settings, home=tmp_path), empty=True):
            pass
    assert "hunter2" not in str(caught.value)
