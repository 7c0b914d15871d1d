"""Settings: where each value came from, and that nothing unknown, impossible or secret slips through."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.case.profiles import profile_named
from ai.models.candidates import Parameters
from ai.models.context import ContextBudgets
from api.errors import SettingsInvalid
from api.home.backends import backends_of
from api.home.configuration import CONFIG_FILE, Configuration, load
from api.home.settings import ENVIRONMENT_NAMES, ChannelDeadlines, ChannelWeights, Settings
from api.home.stores import Embedded, Extractive, OpenAIModel, Wordllama
from api.wiring import open_chat, profile_of
from retrieval.bundle import BundleLimits
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.model import ChannelName
from retrieval.ranking.fusion import FusionWeights


def shown(configuration: Configuration) -> dict[str, tuple[object, str]]:
    return {s.name: (s.value, s.origin) for s in configuration.shown()}


def test_without_anything_set_all_is_embedded_in_one_folder() -> None:
    configuration = load({})
    assert configuration.home == Path("exhibit-home")
    assert {origin for _, origin in shown(configuration).values()} == {"default"}
    chosen = backends_of(configuration)
    for store in (chosen.records, chosen.graph, chosen.spatial, chosen.fulltext, chosen.vector, chosen.ledger.store):
        assert isinstance(store, Embedded)
        assert store.path.parent == configuration.home
    assert chosen.policy.server is None
    assert isinstance(chosen.chat, Extractive)
    assert isinstance(chosen.embedding, Wordllama)


@pytest.mark.parametrize("section", [ChannelDeadlines, ChannelWeights])
def test_every_role_has_a_deadline_and_a_weight(section: type[ChannelDeadlines | ChannelWeights]) -> None:
    assert list(section.model_fields) == [name.name.lower() for name in ChannelName]


def test_defaults_are_those_of_the_packages() -> None:
    """A default stands in two places; this is what keeps them one."""
    retrieval, prompt, extractive, ingest = (
        Settings().retrieval,
        Settings().prompt,
        Settings().extractive,
        Settings().ingest,
    )
    limits = BundleLimits()
    assert (retrieval.max_tokens, retrieval.max_tokens_per_source, retrieval.max_items_per_source) == (
        limits.max_tokens,
        limits.max_tokens_per_source,
        limits.per_source_items,
    )
    assert retrieval.fusion_k == FusionWeights().k
    budgets = ContextBudgets()
    assert (prompt.max_tokens, prompt.max_tokens_per_source, prompt.reserve_tokens) == (
        budgets.max_tokens,
        budgets.max_tokens_per_source,
        budgets.reserve,
    )
    assert (extractive.min_coverage_milli, extractive.max_sentences) == (
        Parameters().min_coverage,
        Parameters().max_sentences,
    )
    assert ChunkSize(ingest.chunk_words, ingest.longest_sentence_words) == ChunkSize()
    assert profile_of("focus", Settings()) == profile_named("focus")


def test_later_layers_win_and_say_so(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE).write_text(
        "[retrieval]\nfusion_k = 10\nchannel_top_k = 11\n[retrieval.deadline_ms]\ngraph = 12\n"
    )
    environment = {"EXHIBIT_RETRIEVAL__CHANNEL_TOP_K": "21", "EXHIBIT_SERVER__PORT": "22", "EXHIBIT_HOME": "/nowhere"}
    found = shown(load(environment, home=tmp_path, overrides={"server.port": 33, "server.host": None}))
    assert found["retrieval.fusion_k"] == (10, f"file {tmp_path / CONFIG_FILE}")
    assert found["retrieval.deadline_ms.graph"] == (12, f"file {tmp_path / CONFIG_FILE}")
    assert found["retrieval.channel_top_k"] == (21, "environment EXHIBIT_RETRIEVAL__CHANNEL_TOP_K")
    assert found["server.port"] == (33, "option --port")
    assert found["server.host"] == ("127.0.0.1", "default")
    assert found["home"] == (str(tmp_path), "option --home")


def test_the_home_from_the_environment() -> None:
    assert shown(load({"EXHIBIT_HOME": "/somewhere"}))["home"] == ("/somewhere", "environment EXHIBIT_HOME")


@pytest.mark.parametrize(("variable", "name"), ENVIRONMENT_NAMES.items())
def test_names_that_requirements_gave(variable: str, name: str) -> None:
    value = "postgresql://x" if variable == "POSTGIS_DSN" else "http://x:1"
    assert shown(load({variable: value}))[name][1] == f"environment {variable}"
    assert shown(load({variable: ""}))[name][1] == "default"


@pytest.mark.parametrize(
    "environment",
    [
        {"EXHIBIT_NOPE": "1"},
        {"EXHIBIT_NOPE__FIELD": "1"},
        {"EXHIBIT_RETRIEVAL__NOPE": "1"},
        {"EXHIBIT_RETRIEVAL__DEADLINE_MS__NOPE": "1"},
        {"EXHIBIT_RETRIEVAL__FUSION_K__DEEPER": "1"},
        {"EXHIBIT_RETRIEVAL": "1"},
        {"EXHIBIT_": "1"},
        {"EXHIBIT_SERVER__PORT": "x"},
        {"EXHIBIT_SERVER__PORT": "65536"},
        {"EXHIBIT_SERVER__PORT": "-1"},
        {"EXHIBIT_SERVER__PORT": ""},
        {"EXHIBIT_SERVER__CORS_ORIGINS": "*"},
        {"EXHIBIT_SERVER__CORS_ORIGINS": "null"},
        {"EXHIBIT_SERVER__CORS_ORIGINS": "https://map.example/"},
        {"EXHIBIT_SERVER__CORS_ORIGINS": "https://*.example"},
        {"EXHIBIT_SERVER__CORS_ORIGINS": "https://Map.example"},
        {"EXHIBIT_SERVER__CORS_ORIGINS": "https://map.example file://x"},
        {"EXHIBIT_SERVER__CORS_ORIGINS": "https://user@map.example"},
        {"EXHIBIT_RETRIEVAL__DEADLINE_MS__GRAPH": "0"},
        {"EXHIBIT_EXTRACTIVE__MIN_COVERAGE_MILLI": "1001"},
        {"EXHIBIT_LEDGER__ORIGIN": "Not an origin"},
        {"OLLAMA_API_URL": "ftp://x"},
        {"EXHIBIT_SERVER__LOG_LEVEL": "loud"},
    ],
    ids=str,
)
def test_what_is_unknown_or_impossible_is_an_error_with_its_origin(environment: dict[str, str]) -> None:
    [variable] = environment
    with pytest.raises(SettingsInvalid, match=variable):
        load(environment)


@pytest.mark.parametrize(
    "text",
    [
        "nope",
        "[retrieval\n",
        "retrieval = 5",
        "[retrieval]\nnope = 1",
        "[nope]\nx = 1",
        "[retrieval.fusion_k]\nx = 1",
        "[server]\nport = 'x'",
        "[[server]]\nport = 1",
        "[ingest.default_labels]\nkansas = 1",
    ],
)
def test_a_file_that_is_wrong_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / CONFIG_FILE).write_text(text)
    with pytest.raises(SettingsInvalid, match=r"exhibit\.toml"):
        load({}, home=tmp_path)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE).mkdir()
    with pytest.raises(SettingsInvalid, match="cannot be read"):
        load({}, home=tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / CONFIG_FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsInvalid, match="not UTF-8"):
        load({}, home=tmp_path / "other")


def test_labels_of_collections_with_dots_and_spaces(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE).write_text('[ingest.default_labels]\n"a.b c" = "internal"\n')
    assert load({}, home=tmp_path).settings.ingest.default_labels == {"a.b c": "internal"}


SECRETS: list[dict[str, str]] = [
    {"NEO4J_PASSWORD": "hunter2"},
    {"POSTGIS_DSN": "postgresql://me:hunter2@db/x"},
    {"OPENSEARCH_URL": "https://me:hunter2@search"},
    {"OLLAMA_API_URL": "http://me:hunter2@gpu:1"},
    {"NEO4J_URI": "neo4j://me:hunter2@graph"},
    {"OPA_URL": "http://me:hunter2@opa"},
    {"OPA_URL": "http://me:not/encoded@hunter2@opa"},
    {"EXHIBIT_LEDGER__DSN": "host=db password=hunter2"},
]


@pytest.mark.parametrize("environment", SECRETS, ids=str)
def test_secrets_are_never_shown(environment: dict[str, str]) -> None:
    configuration = load(environment)
    assert "hunter2" not in json.dumps([s.value for s in configuration.shown()], default=str)
    assert "********" in json.dumps([s.value for s in configuration.shown()], default=str)
    assert "hunter2" not in repr(configuration.settings.stores.postgis_dsn)
    # An address that is no secret type may still stand in the settings; the backends never print it.
    if not environment.keys() & {"OLLAMA_API_URL", "NEO4J_URI", "OPA_URL"}:
        assert "hunter2" not in repr(backends_of(configuration))


def test_an_impossible_secret_is_not_repeated() -> None:
    with pytest.raises(SettingsInvalid) as caught:
        load({"EXHIBIT_STORES__POSTGIS_DSN__X": "hunter2"})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("variable", ["POSTGIS_DSN", "EXHIBIT_LEDGER__DSN"])
@pytest.mark.parametrize(
    "dsn",
    [
        "hunter2",
        "http://me:hunter2@db/x",
        "postgresql://me:hunter2%zz@db/x",
        "postgresql://me:x@db/x?hunter2=1",
        "host=db password='hunter2",
        "password hunter2",
    ],
)
def test_an_address_that_the_driver_cannot_read_is_refused_and_not_repeated(variable: str, dsn: str) -> None:
    with pytest.raises(SettingsInvalid, match="not an address of PostgreSQL") as caught:
        load({variable: dsn})
    assert variable in str(caught.value)
    assert "hunter2" not in f"{caught.value} {caught.value!r} {caught.value.__cause__!r}"


@given(
    st.dictionaries(
        st.text(alphabet="ABCDEFGHIJKLMNOPQRSTUVWXYZ_", max_size=20).map(lambda s: "EXHIBIT_" + s),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        max_size=4,
    )
)
@settings(max_examples=50)
def test_any_environment_is_read_or_refused(environment: dict[str, Any]) -> None:
    try:
        load(environment)
    except SettingsInvalid as exc:
        assert str(exc)


SERVED = {"EXHIBIT_MODELS__CHAT": "m", "EXHIBIT_MODELS__OPENAI_URL": "https://models.example/v1"}


def test_a_chat_model_on_a_server_with_openais_interface(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("sk-hunter2\n")
    for more in ({"EXHIBIT_MODELS__OPENAI_KEY": "sk-hunter2"}, {"EXHIBIT_MODELS__OPENAI_KEY_FILE": str(key)}):
        configuration = load(SERVED | more)
        chosen = backends_of(configuration).chat
        assert isinstance(chosen, OpenAIModel)
        assert (chosen.model, chosen.url) == ("m", "https://models.example/v1")
        assert "hunter2" not in repr(chosen) + json.dumps(shown(configuration), default=str)
    assert isinstance(backends_of(load({"EXHIBIT_MODELS__OPENAI_URL": "https://models.example/v1"})).chat, Extractive)


@pytest.mark.parametrize(
    "more",
    [
        {"EXHIBIT_MODELS__OPENAI_URL": "models.example/v1"},
        {"EXHIBIT_MODELS__OPENAI_KEY": "one", "EXHIBIT_MODELS__OPENAI_KEY_FILE": "/two"},
        {"EXHIBIT_MODELS__OPENAI_KEY_FILE": ""},
    ],
)
def test_settings_for_openais_interface_that_cannot_be(more: dict[str, str]) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        load(SERVED | more)
    assert "/two" not in str(caught.value)


@pytest.mark.parametrize("held", ["", "two keys", "sk-\u00e9", "a\nb"])
async def test_a_file_that_holds_no_key_is_refused_unread_aloud(tmp_path: Path, held: str) -> None:
    key = tmp_path / "key"
    key.write_text(held, "utf-8")
    chosen = backends_of(load(SERVED | {"EXHIBIT_MODELS__OPENAI_KEY_FILE": str(key)})).chat
    async with AsyncExitStack() as stack:
        with pytest.raises(SettingsInvalid) as caught:
            open_chat(chosen, stack)
    assert "openai_key_file" in str(caught.value)
    assert not held or held not in str(caught.value)
