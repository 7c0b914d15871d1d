"""`exhibit ledger attest`: the file that an auditor hands on, and what is refused of it."""

from __future__ import annotations

import json
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from tests.command_line import Run, command_line
from tests.golden.kept_homes import KeptHome, unpack


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> KeptHome:
    return unpack("0.1", tmp_path_factory.mktemp("kept"))


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return command_line(capsys, monkeypatch)


def test_an_entry_is_attested_and_a_stranger_finds_the_answer_in_it(kept: KeptHome, cli: Run, tmp_path: Path) -> None:
    keys = [word for key in kept.recorded["vkeys"] for word in ("--vkey", key)]
    for number, asked in enumerate(kept.recorded["asked"][:3]):
        entry_id, file, pem = asked["body"]["provenance"]["entry_id"], tmp_path / f"{number}.json", tmp_path / "log.pem"
        code, out, _ = cli("ledger", "attest", entry_id, "--out", file, "--pem", pem, "--home", kept.home, "--json")
        assert (code, json.loads(out)["bytes"]) == (0, file.stat().st_size)
        envelope = json.loads(file.read_bytes())
        key, kind, payload = (
            load_pem_public_key(pem.read_bytes()),
            envelope["payloadType"],
            b64decode(envelope["payload"]),
        )
        assert isinstance(key, Ed25519PublicKey)
        [signature] = envelope["signatures"]
        key.verify(
            b64decode(signature["sig"]), b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
        )
        code, out, _ = cli("ledger", "attest", "--check", file, *keys, "--json")
        told = json.loads(out)
        assert (code, told["verdict"], told["entry_id"]) == (0, "intact", entry_id)
        answer = cli("ledger", "show", entry_id, "--part", "answer", "--home", kept.home)[1].removesuffix("\n")
        assert told["subjects"][f"{entry_id}/answer"] == sha256(answer.encode()).hexdigest()
        code, out, _ = cli("ledger", "attest", "--check", file, *keys)
        assert code == 0 and entry_id in out and "intact" in out


def test_what_does_not_hold_is_refused(kept: KeptHome, cli: Run, tmp_path: Path) -> None:
    keys = [word for key in kept.recorded["vkeys"] for word in ("--vkey", key)]
    entry_id, file = kept.recorded["asked"][0]["body"]["provenance"]["entry_id"], tmp_path / "attestation.json"
    assert cli("ledger", "attest", entry_id, "--out", file, "--home", kept.home)[0] == 0
    text = file.read_text("utf-8")
    for at in range(40, len(text) - 5, len(text) // 12):
        file.write_text(text[:at] + ("B" if text[at] == "A" else "A") + text[at + 1 :], "utf-8")
        code, out, _ = cli("ledger", "attest", "--check", file, *keys)
        assert (code, out) == (7, ""), at
    file.write_text("{}", "utf-8")
    assert cli("ledger", "attest", "--check", file, *keys)[0] == 7


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("an-entry",),
        ("--out", "file"),
        ("--check", "file"),
        ("an-entry", "--check", "file", "--vkey", "x"),
        ("--check", "file", "--vkey", "x", "--pem", "log.pem"),
        ("an-entry", "--out", "file", "--vkey", "x"),
        ("--check", "/no/such/file", "--vkey", "x"),
    ],
)
def test_what_is_not_asked_for_clearly_is_refused(kept: KeptHome, cli: Run, words: tuple[str, ...]) -> None:
    code, out, _ = cli("ledger", "attest", *words, "--home", kept.home)
    assert code == 2 and not out


def test_an_entry_that_is_not_there_is_not_attested(kept: KeptHome, cli: Run, tmp_path: Path) -> None:
    file = tmp_path / "attestation.json"
    assert cli("ledger", "attest", "nothing", "--out", file, "--home", kept.home)[0] == 3 and not file.exists()


@pytest.mark.parametrize("place", ["missing/log.pem", "folder", "attestation.json/log.pem", "log.pem" + "x" * 300])
def test_both_files_are_written_or_none(place: str, kept: KeptHome, cli: Run, tmp_path: Path) -> None:
    entry_id, out, pem = kept.recorded["asked"][0]["body"]["provenance"]["entry_id"], tmp_path / "a.json", tmp_path
    (tmp_path / "folder").mkdir()
    (tmp_path / "attestation.json").write_text("another")
    before = sorted(tmp_path.rglob("*"))
    options = ("ledger", "attest", entry_id, "--home", kept.home)
    code, _, err = cli(*options, "--out", out, "--pem", pem / place)
    assert (code, str(pem / place) in err.replace("\n", "")) == (2, True), err
    assert sorted(tmp_path.rglob("*")) == before
    code, _, _ = cli(*options, "--out", tmp_path / "attestation.json", "--pem", pem / place)
    assert (code, (tmp_path / "attestation.json").read_text(), sorted(tmp_path.rglob("*"))) == (2, "another", before)


def test_one_file_cannot_be_both(kept: KeptHome, cli: Run, tmp_path: Path) -> None:
    entry_id, out = kept.recorded["asked"][0]["body"]["provenance"]["entry_id"], tmp_path / "a.json"
    assert cli("ledger", "attest", entry_id, "--home", kept.home, "--out", out, "--pem", out)[0] == 2
    assert not out.exists()
