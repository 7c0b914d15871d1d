"""The index of entries is derived: a hole in it is found by `verify`, mended, and hides nothing from an erasure."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Run, command_line
from tests.golden.kept_homes import KeptHome, unpack


@pytest.fixture
def kept(tmp_path: Path) -> KeptHome:
    return unpack("0.1", tmp_path)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return command_line(capsys, monkeypatch)


def document(cli: Run, *words: object, code: int = 0) -> Any:
    found, out, err = cli(*words, "--json")
    assert found == code, (words, found, err)
    return json.loads(out)


def spoil(kept: KeptHome, *statements: str) -> None:
    db = sqlite3.connect(kept.home / "ledger-index.sqlite")
    with db:
        for statement in statements:
            db.execute(statement)
    db.close()


HOLES = {
    "an entry gone": "DELETE FROM entries WHERE idx = 3",
    "two entries gone": "DELETE FROM entries WHERE idx IN (2, 9)",
    "the first gone": "DELETE FROM entries WHERE idx = 0",
    "another leaf": "UPDATE entries SET leaf_hash = 'ab' WHERE idx = 3",
    "another request": "UPDATE entries SET request_id = 'x' WHERE idx = 3",
    "another time": "UPDATE entries SET t_ms = 1 WHERE idx = 3",
}


@pytest.mark.parametrize("hole", HOLES)
def test_a_hole_is_found_and_mended(kept: KeptHome, cli: Run, hole: str) -> None:
    document(cli, "ledger", "search", "--home", kept.home)
    assert document(cli, "ledger", "verify", "--home", kept.home)["verdict"] == "intact"
    spoil(kept, HOLES[hole])
    found = document(cli, "ledger", "verify", "--home", kept.home, code=7)
    assert {problem["step"] for problem in found["problems"]} == {"search-index"}
    document(cli, "ledger", "search", "--mend", "--home", kept.home)
    assert document(cli, "ledger", "verify", "--home", kept.home)["verdict"] == "intact"


def test_what_the_index_does_not_know_is_erased_all_the_same(kept: KeptHome, cli: Run) -> None:
    asked = next(each for each in kept.recorded["asked"] if each["body"]["citations"])
    entry_id = asked["body"]["provenance"]["entry_id"]
    cited = next(iter(asked["body"]["citations"].values()))["document_id"].rpartition("@")[0]
    found = document(cli, "ledger", "search", "--source", cited, "--home", kept.home)
    assert entry_id in {each["entry_id"] for each in found}
    for table in ("sources", "held_sources"):
        spoil(kept, f"DELETE FROM {table}")
    assert document(cli, "ledger", "search", "--source", cited, "--home", kept.home) == []
    words = ("ledger", "redact", "--source", cited, "--basis", "a test", "--home", kept.home)
    erased = document(cli, *words)
    assert entry_id in {each["entry_id"] for each in erased["entries"]}
    assert cli("ledger", "show", entry_id, "--part", "answer", "--home", kept.home)[0] != 0
