"""`exhibit bench --backend real`: every channel on its server beside the folder's, and nobody's corpus touched."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from opensearchpy import OpenSearch
from psycopg import conninfo
from typer.testing import CliRunner, Result

from api.cli.main import app
from api.errors import ExpectationFailed
from api.measure.bench.beside import MIN_TURNS
from tests.services.neo4j_server import Address, neo4j_server  # noqa: F401  a fixture
from tests.services.opensearch_backend import RUN

pytestmark = pytest.mark.services
DATABASE = "bench_servers"
PREFIX = f"{RUN}-bench"
PASSAGES = os.environ.get("EXHIBIT_TEST_BENCH_PASSAGES", "1000")
REPORT = os.environ.get("EXHIBIT_TEST_BENCH_REPORT")  # a file to keep the figures in


@pytest.fixture
def environment(
    postgres_dsn: str,
    neo4j_server: Address,  # noqa: F811
    opensearch_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)".encode())
        connection.execute(f"CREATE DATABASE {DATABASE}".encode())
    settings = {
        "POSTGIS_DSN": conninfo.make_conninfo(postgres_dsn, dbname=DATABASE),
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USER": neo4j_server.user,
        "NEO4J_PASSWORD": neo4j_server.password,
        "OPENSEARCH_URL": opensearch_url,
        "EXHIBIT_STORES__OPENSEARCH_INDEX": PREFIX,
        "EXHIBIT_STORES__DEADLINE_MS": "60000",  # shared machines are slow
        **{f"EXHIBIT_RETRIEVAL__DEADLINE_MS__{c}": "60000" for c in ("GRAPH", "SPATIAL", "FULLTEXT", "VECTOR")},
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    yield
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)".encode())
    OpenSearch(opensearch_url, timeout=60).indices.delete(index=f"{PREFIX}-*")


def test_each_channel_on_its_server_beside_the_folders(environment: None, tmp_path: Path) -> None:
    first = _bench(tmp_path)
    assert first.exit_code == 0, first.output
    report = json.loads(first.stdout)
    if REPORT:
        Path(REPORT).write_text(first.stdout)
    (size,), goals = report["sizes"], report["goals"]
    assert set(size["load"]["channels"]) == {"neo4j/sqlite", "postgis/sqlite", "fulltext/tantivy", "vector/numpy"}
    on_servers = size["servers"]
    assert set(on_servers["load"]["channels"]) == {
        *("neo4j/neo4j", "postgis/postgis"),
        *("fulltext/opensearch", "vector/pgvector"),
    }
    assert on_servers["ingested"]["records"] == size["ingested"]["records"]
    assert on_servers["load"]["outcomes"] == size["load"]["outcomes"]
    assert set(on_servers["beside"]) == set(on_servers["load"]["channels"])
    for beside in on_servers["beside"].values():
        assert beside["statements"] >= 1
        (samples,) = {beside[way]["n"] for way in ("channel", "bare", "embedded")}
        assert samples >= 2 * MIN_TURNS
        assert beside["times"] > 0
    assert sum("beside the driver alone" in goal["goal"] for goal in goals) == len(goals) == 4
    again = _bench(tmp_path)
    assert isinstance(again.exception, ExpectationFailed)
    assert "hold a corpus" in str(again.exception)


def test_servers_must_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("POSTGIS_DSN", "NEO4J_URI", "OPENSEARCH_URL"):
        monkeypatch.delenv(name, raising=False)
    assert _bench(tmp_path).exit_code == 2


def _bench(folder: Path) -> Result:
    options = ["--backend", "real", "--sizes", PASSAGES, "--queries", "20", "--rounds", "1", "--json"]
    return CliRunner().invoke(app, ["bench", *options, "--home", str(folder)])
