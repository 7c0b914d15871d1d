"""A source is erased whose channels are on servers: what the report calls empty is empty, by a byte search over every file of
the server's folder, and what it says is left goes by the procedure that it names."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest
from neo4j import GraphDatabase

from api.cli.main import run
from tests.api.test_serving import serving
from tests.command_line import command_line
from tests.services import neo4j_server, opensearch_server, postgres_server
from tests.services.conftest import _install as install_extensions
from tests.services.conftest import missing
from tests.soak import NO_LIMIT

pytestmark = pytest.mark.services
# Long, since Neo4j packs a short text into fewer bits than a byte a letter.
NAME = "Bartholomew Featherstonehaugh Cholmondeley Wriothesley"
RARE = b"featherstonehaugh"
FRAGMENT = NAME[3:43]
Run = Callable[..., str]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    told = command_line(capsys, monkeypatch, "--json", "--home", tmp_path / "home")

    def command(*arguments: object) -> str:
        code, out, err = told(*arguments)
        assert code == 0, out + err
        return out

    return command


def taken_in(folder: Path, cli: Run) -> None:
    (folder / "mill.md").write_text(f"# The mill\n\n{NAME} kept the mill at Lecompton in 1856.\n")
    (folder / "road.md").write_text("# The road\n\nThe road from Topeka to Lecompton was opened in 1855.\n")
    cli("ingest", folder / "mill.md", folder / "road.md", "--collection", "k", "--label", "public")


def redacted(cli: Run, server: str) -> list[dict[str, str]]:
    """What is said to be left elsewhere; the rows of the server were searched."""
    report = json.loads(cli("ledger", "redact", "--source", "mill.md", "--basis", "x"))
    assert report["copies"]["documents"] == 1
    assert report["scan"]["servers"] == [server]
    assert (report["scan"]["hits"], report["scan"]["unread"]) == ([], [])
    remains: list[dict[str, str]] = report["remains"]
    return remains


def left(home: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What `verify` finds of what was erased; its exit code agrees."""
    capsys.readouterr()
    code = run(["ledger", "verify", "--json", "--home", str(home)])
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert code == (7 if problems else 0)
    assert {problem["step"] for problem in problems} <= {"erased"}
    return [problem["detail"].partition(" holds ")[0] for problem in problems]


def holding(folder: Path) -> list[str]:
    """Files below the folder that hold the rare name."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if RARE in path.read_bytes().lower()]


@pytest.fixture
def opensearch(monkeypatch: pytest.MonkeyPatch) -> Iterator[opensearch_server.OpenSearchServer]:
    server = opensearch_server.new_server()
    try:
        server.start()
        monkeypatch.setenv("OPENSEARCH_URL", server.url)
        yield server
    finally:
        opensearch_server.discard(server)


def test_opensearch_keeps_no_byte(
    opensearch: opensearch_server.OpenSearchServer, tmp_path: Path, cli: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    taken_in(tmp_path, cli)
    assert any("translog" in name for name in holding(opensearch.folder))
    assert [each["where"] for each in redacted(cli, "OpenSearch")] == ["backups and snapshots"]
    assert holding(opensearch.folder) == []
    assert holding(tmp_path / "home") == []
    planted = {"noted": [{"words": f"It says: {FRAGMENT}."}]}
    httpx.put(f"{opensearch.url}/exhibit-fulltext-notes/_doc/1?refresh=true", json=planted).raise_for_status()
    assert left(tmp_path / "home", capsys) == ["OpenSearch: exhibit-fulltext-notes"]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[postgres_server.Server]:
    try:
        installation = postgres_server.installed()
    except postgres_server.NotPrepared as error:
        missing(str(error))
    with postgres_server.running(installation) as server:
        install_extensions(server.dsn)
        monkeypatch.setenv("POSTGIS_DSN", server.dsn)
        yield server


def test_postgresql_keeps_no_byte_once_its_log_is_overwritten(
    cluster: postgres_server.Server, tmp_path: Path, cli: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    taken_in(tmp_path, cli)
    assert any("pg_wal" in name for name in holding(cluster._home))
    remaining = redacted(cli, "PostgreSQL of the store of record")
    assert {each["what"] for each in remaining[:-1]} == {"names and text of the source"}
    assert run(["ledger", "scrub", "--dsn", cluster.dsn]) == 0
    assert holding(cluster._home) == []
    assert holding(tmp_path / "home") == []
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE exhibit.notes (words jsonb)")
        connection.execute("INSERT INTO exhibit.notes VALUES (%s)", (json.dumps({"q": f'"{FRAGMENT}"'}),))
    assert left(tmp_path / "home", capsys) == ["PostgreSQL of the store of record: exhibit.notes"]


@pytest.fixture
def neo4j(monkeypatch: pytest.MonkeyPatch) -> Iterator[neo4j_server.Neo4jServer]:
    server = neo4j_server.new_server()
    try:
        server.start()
        monkeypatch.setenv("NEO4J_URI", server.address.uri)
        monkeypatch.setenv("NEO4J_USER", server.address.user)
        monkeypatch.setenv("NEO4J_PASSWORD", server.address.password)
        yield server
    finally:
        neo4j_server.discard(server)


def test_neo4j_keeps_bytes_until_its_database_is_made_anew(
    neo4j: neo4j_server.Neo4jServer, tmp_path: Path, cli: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    taken_in(tmp_path, cli)
    assert holding(neo4j.folder / "data") != []
    graph, backups = redacted(cli, "Neo4j")
    assert backups["where"] == "backups and snapshots"
    assert graph["where"] == "files of the graph's server"
    assert holding(tmp_path / "home") == []
    neo4j.stop()  # a checkpoint: what was in memory is in the files
    assert any("propertystore" in name for name in holding(neo4j.folder / "data"))
    assert "stop Neo4j, remove the folders of the database under data/databases and data/transactions" in graph["until"]
    shutil.rmtree(neo4j.folder / "data/databases/neo4j")
    shutil.rmtree(neo4j.folder / "data/transactions/neo4j")
    neo4j.start()
    cli("index", "rebuild")
    cli("ask", "When was the road from Topeka opened?")
    assert holding(neo4j.folder / "data") == []
    address = neo4j.address
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        driver.execute_query("CREATE (:Note {words: $words})-[:SAYS {words: 'nothing'}]->(:Note)", words=FRAGMENT)
    assert left(tmp_path / "home", capsys) == ["Neo4j: :Note"]


CLIENTS = 4


def keep_asking(url: str, token: str, over: threading.Event, seen: list[str]) -> None:
    """Ask of the other source until it is over; the outcomes."""
    with httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=60) as client:
        while not over.is_set():
            reply = client.post("/api/v1/ai/query", json={"question": "When was the road from Topeka opened?"})
            seen.append(f"{reply.status_code} {reply.json().get('outcome')}")


def test_nothing_is_left_on_any_server_while_all_of_them_answer(
    opensearch: opensearch_server.OpenSearchServer,
    cluster: postgres_server.Server,
    neo4j: neo4j_server.Neo4jServer,
    tmp_path: Path,
    cli: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ledger, store of record, vectors, text and graph on servers; four clients ask without a pause."""
    home, ledger = tmp_path / "home", {"EXHIBIT_LEDGER__DSN": cluster.dsn}
    for name, value in ledger.items():
        monkeypatch.setenv(name, value)
    taken_in(tmp_path, cli)
    token = json.loads(cli("key", "create", "--name", "k", "--role", "public_viewer"))["token"]
    over, seen = threading.Event(), list[str]()
    with ThreadPoolExecutor(CLIENTS + 1) as clients, serving(home, {**ledger, **NO_LIMIT}) as (url, server):
        assert server.stderr is not None
        clients.submit(server.stderr.read)
        asked = httpx.post(
            f"{url}/api/v1/ai/query",
            json={"question": "Who kept the mill at Lecompton?"},
            headers={"authorization": f"Bearer {token}"},
            timeout=60,
        ).json()
        assert NAME in asked["answer"]
        try:
            asking = [clients.submit(keep_asking, url, token, over, seen) for _ in range(CLIENTS)]
            report = json.loads(cli("ledger", "redact", "--source", "mill.md", "--basis", "x"))
            assert asked["provenance"]["entry_id"] in {each["entry_id"] for each in report["entries"]}
            assert set(report["scan"]["servers"]) == {"PostgreSQL of the ledger", "Neo4j", "OpenSearch"}
            assert (report["scan"]["hits"], report["scan"]["unread"]) == ([], [])
            assert run(["ledger", "scrub", "--dsn", cluster.dsn]) == 0
            before = len(seen)
            assert (holding(cluster._home), holding(opensearch.folder), holding(home)) == ([], [], [])
            assert left(home, capsys) == []
            assert len(seen) > before > 0
        finally:
            over.set()
        for each in asking:
            each.result()
    assert set(seen) <= {"200 ANSWER", "409 None", "503 None"}, set(seen)
    assert seen.count("200 ANSWER") > len(seen) * 0.9
