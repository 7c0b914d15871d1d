"""`exhibit ledger show --receipt` and `exhibit replay --where`: what an auditor is told, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Run, command_line
from tests.golden.kept_homes import KeptHome, unpack


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> KeptHome:
    return unpack("0.1", tmp_path_factory.mktemp("kept"))


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return command_line(capsys, monkeypatch)


def test_a_receipt_is_told_in_words_and_as_a_document(kept: KeptHome, cli: Run) -> None:
    keys = [word for key in kept.recorded["vkeys"] for word in ("--vkey", key)]
    for path, asked in zip(kept.receipts, kept.recorded["asked"], strict=True):
        code, out, _ = cli("ledger", "show", "--receipt", path, *keys, "--json")
        told = json.loads(out)
        body = asked["body"]
        assert (code, told["entry_id"]) == (0, body["provenance"]["entry_id"])
        assert told["disclosed"]["answer"] == {name: body[name] for name in told["disclosed"]["answer"]}
        code, out, _ = cli("ledger", "show", "--receipt", path, *keys)
        assert code == 0
        assert told["leaf_hash"] in out and "operator alone" in out and "Not disclosed" in out


def test_a_receipt_that_does_not_hold_is_not_told(kept: KeptHome, cli: Run, tmp_path: Path) -> None:
    keys = [word for key in kept.recorded["vkeys"] for word in ("--vkey", key)]
    text = kept.receipts[0].read_text("utf-8")
    at = text.index("extra ") + 200
    (tmp_path / "receipt").write_text(text[:at] + ("B" if text[at] == "A" else "A") + text[at + 1 :], "utf-8")
    code, out, _ = cli("ledger", "show", "--receipt", tmp_path / "receipt", *keys)
    assert (code, out) == (7, "")
    code, out, _ = cli("ledger", "show", "--receipt", kept.receipts[0], "--vkey", kept.recorded["vkeys"][0] + "x")
    assert code != 0 and not out


@pytest.mark.parametrize("words", [(), ("an-entry", "--receipt", "file"), ("--receipt", "/no/such/file")])
def test_what_is_not_asked_for_clearly_is_refused(kept: KeptHome, cli: Run, words: tuple[str, ...]) -> None:
    code, out, _ = cli("ledger", "show", *words, "--home", kept.home)
    assert code == 2 and not out


def test_replay_of_what_a_search_finds(kept: KeptHome, cli: Run) -> None:
    code, out, _ = cli("replay", "--where", "outcome=DENY", "--to", "R1", "--home", kept.home, "--json")
    found = {each["entry_id"]: each for each in json.loads(out)["entries"]}
    denied = {
        each["body"]["provenance"]["entry_id"] for each in kept.recorded["asked"] if each["body"]["outcome"] == "DENY"
    }
    assert code == 0 and denied <= set(found)
    assert all(each["verdict"] == "reproduced" for each in found.values())
    code, out, _ = cli("replay", "--until", "2020-01-01", "--home", kept.home, "--json")
    assert (code, json.loads(out)["entries"]) == (0, [])


@pytest.mark.parametrize(
    "words",
    [
        ("--where", "outcome=NONE"),
        ("--where", "outcome"),
        ("--where", "nothing=1"),
        ("--where", "=1"),
        ("--all", "--where", "outcome=DENY"),
        ("--all", "--until", "2030-01-01"),
        (),
    ],
)
def test_a_search_that_no_search_knows_is_refused(kept: KeptHome, cli: Run, words: tuple[str, ...]) -> None:
    code, out, _ = cli("replay", *words, "--home", kept.home)
    assert code == 2 and not out
