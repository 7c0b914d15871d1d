"""A home whose ledger is on a real PostgreSQL: a subject is erased, and no byte of what it asked is in the home or in the
cluster's files; all proofs hold."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from asgi_lifespan import LifespanManager

from api.cli.main import run
from api.http.app import create_app
from api.wiring import open_ledger
from ledger.proofs.receipt import verify_receipt
from tests.api_world import FERRY, POPULATION, World, make_world
from tests.command_line import without_settings
from tests.services.conftest import missing
from tests.services.postgres_server import NotPrepared, Server, installed, running

pytestmark = pytest.mark.services
ASKED = "What was the population of Shawnee County in 1930, asks Cordelia Vane?"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of its own: every file of the cluster is read."""
    try:
        installation = installed()
    except NotPrepared as error:
        missing(str(error))
    with running(installation) as made:
        yield made


async def _ask(world: World) -> None:
    app = create_app(world.configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        for key, question in (("viewer", ASKED), ("contributor", FERRY), ("viewer", POPULATION)):
            headers = {"authorization": f"Bearer {world.tokens[key]}", "idempotency-key": f"k{len(question)}"}
            transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
                assert (await client.post("/api/v1/ai/query", json={"question": question})).status_code == 200


async def _sealed(world: World, entry_ids: list[str]) -> tuple[set[bytes], list[str]]:
    """Salts, keys and contents of entries as they are stored, and receipts that verify."""
    async with open_ledger(world.configuration) as ledger:
        parts = [part for entry_id in entry_ids for part in await ledger._store.parts(entry_id)]
        receipts = [await ledger.receipt(entry_id, disclose=()) for entry_id in entry_ids]
        proved = [verify_receipt(text, vkey=ledger.vkey).leaf.entry_id for text in receipts]
    return {bytes_ for part in parts for bytes_ in (part.salt, part.key, part.blob)}, proved


def holding(folder: Path, needles: set[bytes]) -> list[str]:
    """Files below the folder that hold one of the byte strings."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [
        str(path.relative_to(folder))
        for path in files
        for data in [path.read_bytes()]
        if any(n in data for n in needles)
    ]


def test_of_an_erased_subject_no_byte_is_left_in_home_or_cluster(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_settings(monkeypatch)
    monkeypatch.setenv("EXHIBIT_LEDGER__DSN", server.dsn)
    world = asyncio.run(make_world(tmp_path, {"EXHIBIT_LEDGER__DSN": server.dsn}))
    asyncio.run(_ask(world))
    folder, cluster = world.configuration.home, server._home

    def command(*arguments: object, home: bool = True) -> str:
        capsys.readouterr()
        assert run([*map(str, arguments), "--json", *(["--home", str(folder)] if home else [])]) == 0
        return capsys.readouterr().out

    who = f"key:{world.tokens['viewer'].split('_')[1]}"
    theirs = [entry["entry_id"] for entry in json.loads(command("ledger", "search", "--subject", who))]
    assert len(theirs) == 4
    sealed, proved = asyncio.run(_sealed(world, theirs))
    assert proved == theirs
    assert not (folder / "ledger.sqlite").exists()
    _settle(server)
    held = holding(cluster, sealed)
    assert any(name.startswith("data/base/") for name in held)
    assert any(name.startswith("data/pg_wal/") for name in held)

    report = json.loads(command("ledger", "redact", "--subject", who, "--basis", "GDPR art. 17"))
    assert {entry["entry_id"] for entry in report["entries"]} == set(theirs)
    scrubbed = json.loads(command("ledger", "scrub", "--dsn", server.dsn, home=False))
    assert scrubbed["files"] >= 1
    assert scrubbed["held_by"] == []
    assert holding(cluster, sealed) == []
    text = {ASKED.encode(), b"Cordelia", POPULATION.encode(), who.encode()}
    assert holding(cluster, text) == []
    assert holding(folder, text) == []
    assert json.loads(command("ledger", "verify"))["problems"] == []
    assert asyncio.run(_sealed(world, theirs)) == (set(), theirs)
    assert json.loads(command("ledger", "search", "--subject", who)) == []


def _settle(server: Server) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
