"""One damaged entry hides no other: it is listed as damaged with its id, wherever entries are listed, searched or exported;
what verifies the log still fails."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from api.audit.life.keys import create_key
from api.home.configuration import load
from api.http.app import create_app
from api.wiring import key_store
from tests.command_line import Run, command_line

QUESTIONS = ("When was the mill at Sedley built?", "Who built the mill at Sedley?", "Who kept the ferry?")
LEAF = {
    "flipped": "UPDATE leaves SET leaf = flip(leaf) WHERE idx = ?",
    "emptied": "UPDATE leaves SET leaf = x'' WHERE idx = ?",
    "no text": "UPDATE leaves SET leaf = x'ff00ff' WHERE idx = ?",
    "other hash": "UPDATE leaves SET hash = zeroblob(32) WHERE idx = ?",
    "swapped": "UPDATE leaves SET (leaf, hash) = (SELECT leaf, hash FROM leaves WHERE idx = 0) WHERE idx = ?",
}
PART = {
    "blob": "UPDATE blobs SET blob = flip(blob) WHERE idx = ? AND name IN ('answer', 'question')",
    "salt": "UPDATE secrets SET salt = flip(salt) WHERE idx = ? AND name IN ('answer', 'question')",
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the entries of three questions."""
    from api.cli.main import run

    root = tmp_path_factory.mktemp("recorded")
    (root / "mill.txt").write_text("The mill at Sedley was built in 1874 by Hannah Wyle.\n")
    assert run(["ingest", str(root / "mill.txt"), "--label", "public", "--home", str(root / "home")]) == 0
    for question in QUESTIONS:
        run(["ask", question, "--home", str(root / "home")])
    return root / "home"


@pytest.fixture
def home(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "home"))


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return command_line(capsys, monkeypatch)


def entries(cli: Run, home: Path) -> list[dict[str, Any]]:
    return list(json.loads(cli("ledger", "list", "--json", "--home", home)[1]))


def change(home: Path, statement: str, index: int) -> None:
    """As somebody with the disk does it, who puts the triggers back."""
    db = apsw.Connection(str(home / "ledger.sqlite"))
    db.create_scalar_function("flip", lambda data: data[:-1] + bytes([data[-1] ^ 1]))
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    db.execute("PRAGMA ignore_check_constraints = ON")
    db.execute(statement, (index,))
    for _, sql in triggers:
        db.execute(sql)
    db.close()


def places(listed: list[dict[str, Any]]) -> Iterator[int]:
    """The first, the last, one of each kind in between."""
    kinds = {each["kind"]: each["index"] for each in listed}
    yield from sorted({0, listed[-1]["index"], *kinds.values()})


@pytest.mark.parametrize("damage", LEAF)
def test_a_damaged_leaf_is_listed_as_damaged(home: Path, cli: Run, damage: str, tmp_path: Path) -> None:
    whole = entries(cli, home)
    for index in places(whole):
        if damage == "swapped" and index == 0:
            continue
        shutil.copytree(home, tmp_path / f"at-{index}")
        broken, name = tmp_path / f"at-{index}", whole[index]["entry_id"]
        change(broken, LEAF[damage], index)
        code, out, err = cli("ledger", "list", "--json", "--home", broken)
        told = json.loads(out)
        assert code == 7 and f"damaged: {name}: " in err
        assert told[index]["entry_id"] == name and told[index]["damaged"]
        assert [each for each in told if each["index"] != index and "kind" in each] == [
            each for each in whole if each["index"] != index
        ]
        assert len(cli("ledger", "list", "--home", broken)[1].splitlines()) == len(whole) + 1
        code, out, err = cli("ledger", "search", "--format", "ndjson", "--summary", "--home", broken)
        found = {each["entry_id"]: each for each in map(json.loads, out.splitlines())}
        assert code == 7 and f"damaged: {name}: " in err
        assert set(found) >= {each["entry_id"] for each in whole if each["index"] != index}
        assert cli("ledger", "verify", "--home", broken)[0] == 7


@pytest.mark.parametrize("damage", PART)
def test_a_damaged_part_is_told_at_its_entry(home: Path, cli: Run, damage: str) -> None:
    whole = entries(cli, home)
    index = next(each["index"] for each in whole if each["kind"] == "outcome")
    assert cli("ledger", "search", "--summary", "--parts", "answer", "--home", home)[0] == 0
    change(home, PART[damage], index)
    code, out, err = cli("ledger", "search", "--summary", "--parts", "answer", "--format", "csv", "--home", home)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 7 and len(rows) == len(whole) and whole[index]["entry_id"] in err
    assert [bool(row["damaged"]) for row in rows] == [each["index"] == index for each in whole]
    assert {row["question"] for row in rows} >= {QUESTIONS[1], QUESTIONS[2]}
    assert cli("ledger", "search", "--text", "Sedley", "--home", home)[0] == 0  # what is read for the words alone
    assert cli("ledger", "verify", "--home", home)[0] == 7


async def test_over_http_the_others_are_listed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = load({}, home=home)
    drawn = key_store(configuration).draw(
        name="auditor", tenant="default", roles=("auditor",), groups=(), capabilities=("ledger.audit",), expires_ms=None
    )
    await create_key(configuration, drawn)
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(app=(app := create_app(configuration)), raise_app_exceptions=False),
        base_url="http://127.0.0.1",
        headers={"authorization": f"Bearer {drawn[1]}"},
    )
    async with app.router.lifespan_context(app), client:
        whole = (await client.get("/api/v1/ledger/entries", params={"summary": True})).json()["entries"]
        outcomes = [each for each in whole if each["kind"] == "outcome"]
        assert (await client.get("/api/v1/ledger/facets")).status_code == 200  # the index knows them all
        change(home, LEAF["flipped"], outcomes[0]["index"])
        change(home, PART["blob"], outcomes[1]["index"])
        for searched in ({}, {"kind": "outcome"}, {"since": "2020-01-01T00:00:00Z"}):
            told = (await client.get("/api/v1/ledger/entries", params={"summary": True, **searched})).json()
            assert [each["entry_id"] for each in told["damaged"]] == [outcomes[0]["entry_id"]]
            listed = {each["entry_id"]: each for each in told["entries"]}
            assert listed[outcomes[1]["entry_id"]]["damaged"]
            assert listed[outcomes[2]["entry_id"]] == outcomes[2] | {
                name: listed[outcomes[2]["entry_id"]][name] for name in ("outcome", "model", "actor", "rules")
            }
        table = await client.get("/api/v1/ledger/entries", params={"format": "csv", "summary": True})
        rows = list(csv.DictReader(io.StringIO(table.text)))
        assert {row["entry_id"] for row in rows if row["damaged"]} == {each["entry_id"] for each in outcomes[:2]}
        for path in ("facets", "health"):
            assert (await client.get(f"/api/v1/ledger/{path}")).status_code == 200
        for ending in ("json", "csv"):
            assert (await client.get(f"/audit.{ending}")).status_code == 200
