"""Today's software over the home of every earlier version: it opens, verifies, replays to the recorded grades, answers,
grows, and proves that it grew from what was there.

A failure here means that an upgrade would break somebody's home. The change is to be made compatible: a second version
beside the first, or a migration. A kept home is never made again.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from ai.canonical import canonical
from api.home.configuration import load
from api.http.app import create_app
from api.wiring import open_ledger
from ledger.notes.note import parse_vkey
from ledger.notes.trust import parse_policy
from ledger.proofs.claim import promised_in
from ledger.proofs.receipt import parse_receipt, verify_with_any
from ledger.witnesses.key import open_witness_key
from ledger.witnesses.sqlite import SqliteWitness
from tests.command_line import Run, command_line
from tests.golden.kept_homes import VERSIONS, KeptHome, unpack

GRADES = ("R0", "R1", "R2")


@pytest.fixture(scope="module", params=VERSIONS)
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> KeptHome:
    """The home as its version left it; a test that changes it takes `changed`."""
    return unpack(request.param, tmp_path_factory.mktemp("kept"))


@pytest.fixture
def changed(kept: KeptHome, tmp_path: Path) -> KeptHome:
    shutil.copytree(kept.folder, tmp_path / "kept")
    return KeptHome(tmp_path / "kept", kept.recorded)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return command_line(capsys, monkeypatch)


def document(cli: Run, *words: object, codes: tuple[int, ...] = (0,)) -> Any:
    """What a command prints as JSON."""
    code, out, err = cli(*words, "--json")
    assert code in codes, (words, code, err)
    return json.loads(out)


def migrated(cli: Run, kept: KeptHome) -> None:
    """The home after what docs/releasing.md says to do when the channels' indexes are of another version."""
    if cli("index", "status", "--home", kept.home)[0] != 0:
        document(cli, "index", "rebuild", "--home", kept.home)


def test_every_version_that_was_released_is_kept() -> None:
    assert "0.1" in VERSIONS


def test_the_log_verifies_with_size_and_root_of_its_time(kept: KeptHome, cli: Run) -> None:
    found = document(cli, "ledger", "verify", "--home", kept.home)
    recorded = kept.recorded["verified"]
    assert {name: found[name] for name in ("verdict", "size", "root", "entries", "parts", "erased", "problems")} == {
        name: recorded[name] for name in ("verdict", "size", "root", "entries", "parts", "erased", "problems")
    }
    keys = document(cli, "ledger", "key", "list", "--home", kept.home)
    assert [key["vkey"] for key in keys] == kept.recorded["vkeys"]


def test_every_receipt_verifies_offline_and_holds_the_answer(kept: KeptHome) -> None:
    for path, asked in zip(kept.receipts, kept.recorded["asked"], strict=True):
        verified = verify_with_any(path.read_text("utf-8"), vkeys=kept.recorded["vkeys"])
        assert verified.leaf.entry_id == asked["body"]["provenance"]["entry_id"]
        recorded = json.loads(verified.parts["answer"])
        assert recorded == {name: asked["body"][name] for name in recorded}


def test_a_flipped_byte_of_a_receipt_is_refused(kept: KeptHome, cli: Run, tmp_path: Path) -> None:
    text = kept.receipts[0].read_text("utf-8")
    at = text.index("extra ") + 200
    (tmp_path / "receipt").write_text(text[:at] + ("B" if text[at] == "A" else "A") + text[at + 1 :], "utf-8")
    keys = [word for key in kept.recorded["vkeys"] for word in ("--vkey", key)]
    assert cli("ledger", "verify", "--receipt", tmp_path / "receipt", *keys)[0] == 7


def test_the_export_verifies_without_the_home(kept: KeptHome, cli: Run) -> None:
    keys = [word for key in kept.recorded["vkeys"] for word in ("--vkey", key)]
    assert cli("ledger", "verify", "--export", kept.folder / "export", *keys)[0] == 0


def test_the_log_exports_the_same_bytes_again(kept: KeptHome, cli: Run, tmp_path: Path) -> None:
    size = kept.recorded["verified"]["size"]
    document(cli, "ledger", "export", tmp_path / "export", "--size", size, "--home", kept.home)
    files = sorted(path.relative_to(kept.folder / "export") for path in (kept.folder / "export").rglob("*"))
    for path in (each for each in files if (kept.folder / "export" / each).is_file() and each.name != "checkpoint"):
        assert (tmp_path / "export" / path).read_bytes() == (kept.folder / "export" / path).read_bytes(), path


def test_every_entry_replays_to_its_recorded_grade(kept: KeptHome, cli: Run) -> None:
    """R2 asks today's model: another extractive model may say other words, and the grade is R1 then."""
    found = {
        each["entry_id"]: each
        for each in document(cli, "replay", "--all", "--home", kept.home, codes=(0, 7))["entries"]
    }
    for recorded in kept.recorded["replayed"]["entries"]:
        now = found[recorded["entry_id"]]
        said = (recorded["kind"], recorded["grade"], now["grade"], now["differs_at"], now["stages"], now["changed"])
        another_model = now["grade"] == "R1" and str(now["differs_at"]).startswith("model.")
        assert GRADES.index(now["grade"]) >= GRADES.index(recorded["grade"]) or another_model, said
        assert now["erased"] == recorded["erased"], said


def test_recorded_questions_are_answered_again(changed: KeptHome, cli: Run) -> None:
    """The same outcome, from the same documents."""
    migrated(cli, changed)
    for asked in changed.recorded["asked"]:
        now, then = document(cli, "ask", *asked["words"], "--home", changed.home, codes=(0, 6)), asked["body"]
        assert (now["outcome"], now["reason_codes"]) == (then["outcome"], then["reason_codes"]), asked["words"]
        assert cited(now) == cited(then), asked["words"]
    assert document(cli, "ledger", "verify", "--home", changed.home)["verdict"] == "intact"


def cited(body: dict[str, Any]) -> set[str]:
    return {citation["document_id"] for citation in body["citations"].values()}


def test_the_corpus_is_known_and_grows(changed: KeptHome, cli: Run, tmp_path: Path) -> None:
    migrated(cli, changed)
    manifest = changed.folder / "corpus" / "manifest.toml"
    # Texts whose tables say more by now are read once more; then all of it is known.
    first, again = (document(cli, "ingest", "--manifest", manifest, "--home", changed.home) for _ in range(2))
    assert {"skipped"} <= {each["state"] for each in first["files"]} <= {"skipped", "done"}, first
    assert {each["state"] for each in again["files"]} == {"skipped"}, again
    (tmp_path / "ferry.md").write_text("# The ferry\n\nWilliam Nace kept the ferry at Lecompton in 1856.\n", "utf-8")
    document(cli, "ingest", tmp_path / "ferry.md", "--collection", "kansas", "--home", changed.home)
    body = document(cli, "ask", "Who kept the ferry at Lecompton?", "--home", changed.home)
    assert "William Nace" in body["answer"]


def test_what_was_erased_stays_erased(kept: KeptHome, cli: Run) -> None:
    erased = kept.recorded["erased"]["entry_id"]
    code, out, _ = cli("ledger", "show", erased, "--part", "answer", "--home", kept.home)
    assert code != 0 and not out


async def test_keys_authenticate_and_a_repeat_gives_the_recorded_body(changed: KeptHome) -> None:
    repeat = changed.recorded["idempotent"]
    requests = sqlite3.connect(changed.home / "requests.sqlite")
    with requests:  # as if the request had been made just now: a key is kept for a day
        requests.execute("UPDATE repeat SET started_ms = ?", (time.time_ns() // 1_000_000,))
    requests.close()
    app = create_app(load({}, home=changed.home))
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            headers = {"X-API-Key": repeat["token"], "Idempotency-Key": repeat["idempotency_key"]}
            again = await client.post("/api/v1/ai/query", json={"question": repeat["question"]}, headers=headers)
            body, keys = again.json(), (await client.get("/api/v1/ledger/vkeys")).text.split()
            promised = promised_in(body, [parse_vkey(key) for key in keys])  # which came after that release
            assert promised.entry_id == body.pop("promise")["entry_id"]
            assert (again.status_code, body) == (200, repeat["body"])
            other = await client.post("/api/v1/ai/query", json={"question": "Another?"}, headers=headers)
            assert other.status_code == 409
            revoked = {"X-API-Key": changed.recorded["revoked_token"]}
            assert (await client.get("/api/v1/collections", headers=revoked)).status_code == 401


async def test_the_witness_goes_on_from_what_it_has_seen(changed: KeptHome) -> None:
    keys = [parse_vkey(key) for key in changed.recorded["vkeys"]]
    policy = parse_policy((changed.folder / "trust").read_bytes())
    witness = await SqliteWitness.open(
        changed.folder / "witness" / "witness.sqlite",
        key=await open_witness_key(changed.folder / "witness"),
        logs={keys[0].name: keys},
        clock_s=lambda: time.time_ns() // 1_000_000_000,
    )
    async with open_ledger(load({}, home=changed.home)) as ledger:
        await ledger.checkpoint()
        cosigner = ledger.cosigner(policy, [(policy.witnesses[0], witness)])
        cosigned = await ledger.show_to(cosigner)
        assert cosigned.lines, cosigned.asked
        report = await ledger.verify(policy=policy)
        assert (report.ok, report.witnessed) == (True, True)
    await witness.aclose()


def test_recorded_bodies_are_canonical(kept: KeptHome) -> None:
    """What other tests compare with is what was answered, not an edited file."""
    receipt = parse_receipt(kept.receipts[0].read_text("utf-8"))
    answer = next(part.data for part in receipt.disclosures if part.name == "answer")
    assert canonical(json.loads(answer)) == answer
