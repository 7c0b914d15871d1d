"""Erasure on the command line: what was erased is in no file of the home, the rest stays, every proof still holds."""

from __future__ import annotations

import asyncio
import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from asgi_lifespan import LifespanManager

from ai.case.case import RequestFault
from ai.model import Options
from api.cli.serve import _redact_again
from api.home.configuration import load
from api.http.app import create_app
from api.wiring import open_ledger
from ledger.proofs.receipt import verify_receipt
from policy.data import PolicyData
from policy.errors import PolicyUnavailable
from policy.points import PolicyPoints
from tests.api_world import FERRY, POPULATION, World, make_world
from tests.command_line import Run, command_line
from tests.harness import ask, opened, with_services

ASKED = "What was the population of Shawnee County in 1930, asks Cordelia Vane?"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A home in which two people have asked, with idempotency keys, and read what was cited."""
    world = asyncio.run(make_world(tmp_path_factory.mktemp("erasure")))
    asyncio.run(_ask(world))
    return world


async def _ask(world: World) -> None:
    app = create_app(world.configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        for key, question in (("viewer", ASKED), ("contributor", FERRY), ("viewer", POPULATION)):
            headers = {"authorization": f"Bearer {world.tokens[key]}", "idempotency-key": f"k{len(question)}"}
            transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
                body = (await client.post("/api/v1/ai/query", json={"question": question})).json()
                assert body["outcome"] == ("ABSTAIN" if question == ASKED else "ANSWER"), body
                for citation in body["citations"].values():
                    assert (await client.get(citation["href"])).status_code == 200


@pytest.fixture
def home(asked: World, tmp_path: Path) -> Path:
    shutil.copytree(asked.configuration.home, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    return command_line(capsys, monkeypatch)


def subject_of(world: World, name: str) -> str:
    return f"key:{world.tokens[name].split('_')[1]}"


def listed(cli: Run, home: Path, *filters: object) -> list[dict[str, Any]]:
    code, out, err = cli("ledger", "search", "--json", "--home", home, *filters)
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)
    return found


async def _sealed(home: Path, entry_ids: list[str], *, shard: int | None = None) -> set[bytes]:
    """Salts, keys and contents of entries, as they stand in the file."""
    async with open_ledger(load({}, home=home), shard=shard) as ledger:
        parts = [part for entry_id in entry_ids for part in await ledger._store.parts(entry_id)]
    return {bytes_ for part in parts for bytes_ in (part.salt, part.key, part.blob)}


async def _readable(home: Path, *needles: str) -> set[tuple[str, str]]:
    """Entries and parts that hold one of the words, decrypted: what the key of the tenant still opens."""
    found, after = set(), -1
    async with open_ledger(load({}, home=home)) as ledger:
        while page := await ledger.entries(after=after, limit=100):
            for entry in page:
                contents = await ledger.contents(entry)
                parts = {name for name, data in contents.items() if any(each.encode() in data for each in needles)}
                found |= {(entry.leaf.entry_id, name) for name in parts}
            after = page[-1].index
    return found


async def _receipts(home: Path, entry_ids: list[str]) -> list[str]:
    async with open_ledger(load({}, home=home)) as ledger:
        texts = [await ledger.receipt(entry_id, disclose=()) for entry_id in entry_ids]
        return [verify_receipt(text, vkey=ledger.vkey).leaf.entry_id for text in texts]


def holding(home: Path, *needles: bytes) -> list[str]:
    """The files of the home that hold one of the byte strings, whatever the case."""
    wanted = [needle.lower() for needle in needles]
    files = [path for path in sorted(home.rglob("*")) if path.is_file()]
    return [path.name for path in files for data in [path.read_bytes().lower()] if any(n in data for n in wanted)]


def test_of_an_erased_subject_no_byte_is_left_and_all_proofs_hold(asked: World, home: Path, cli: Run) -> None:
    who = subject_of(asked, "viewer")
    theirs = [entry["entry_id"] for entry in listed(cli, home, "--subject", who)]
    others = [entry["entry_id"] for entry in listed(cli, home, "--subject", subject_of(asked, "contributor"))]
    assert (len(theirs), len(others)) == (5, 3)
    sealed = asyncio.run(_sealed(home, theirs))
    assert len(sealed) > 100
    assert holding(home, *sealed) == ["ledger.sqlite"]
    assert holding(home, who.encode()) == ["requests.sqlite"]

    code, out, _ = cli("ledger", "redact", "--subject", who, "--basis", "GDPR art. 17", "--json", "--home", home)
    assert code == 0
    report = json.loads(out)
    assert {entry["entry_id"] for entry in report["entries"]} == set(theirs)
    assert all(entry["kept"] == [] and entry["grade"] == "R0" for entry in report["entries"])
    assert report["copies"] == {"idempotency records": 2}

    assert holding(home, *sealed, ASKED.encode(), b"cordelia", who.encode()) == []
    assert listed(cli, home, "--subject", who) == []
    assert listed(cli, home, "--text", "Cordelia") == []
    assert [entry["entry_id"] for entry in listed(cli, home, "--subject", subject_of(asked, "contributor"))] == others
    assert asyncio.run(_receipts(home, theirs + others)) == theirs + others
    code, out, _ = cli("ledger", "verify", "--json", "--home", home)
    verified = json.loads(out)
    assert (code, verified["problems"]) == (0, [])
    assert verified["erased"] > 30  # sources are not counted one by one when their list is gone too
    code, out, _ = cli("replay", "--all", "--json", "--home", home)
    grades = {entry["entry_id"]: entry["grade"] for entry in json.loads(out)["entries"]}
    assert code == 0
    assert {grades[entry_id] for entry_id in theirs} == {"R0"}


def test_a_redaction_is_on_the_record_without_naming_anyone(asked: World, home: Path, cli: Run) -> None:
    who = subject_of(asked, "viewer")
    cli("ledger", "redact", "--subject", who, "--basis", "request of the person", "--home", home)
    [entry, searched] = listed(cli, home, "--kind", "redaction")
    _, detail, _ = cli("ledger", "show", entry["entry_id"], "--part", "detail", "--home", home)
    _, prov, _ = cli("ledger", "show", entry["entry_id"], "--part", "prov", "--home", home)
    assert json.loads(detail)["basis"] == "request of the person"
    assert who not in detail + prov
    assert len(json.loads(prov)["wasInvalidatedBy"]) == sum(map(len, json.loads(detail)["parts"].values()))
    _, told, _ = cli("ledger", "show", searched["entry_id"], "--part", "detail", "--home", home)
    scan = json.loads(told)["scan"]
    assert (scan["redactions"], scan["hits"], scan["unread"]) == ([entry["entry_id"]], [], [])
    assert scan["prints"] > 100
    assert scan["files"] >= sum(path.is_file() for path in home.rglob("*"))  # and what lay beside open databases
    assert who not in told


def test_one_entry_loses_the_parts_that_were_named(asked: World, home: Path, cli: Run) -> None:
    [outcome, *_] = listed(cli, home, "--outcome", "ANSWER")
    entry_id = outcome["entry_id"]
    code, out, _ = cli(
        "ledger", "redact", "--entry", entry_id, "--parts", "answer,sources", "--basis", "x", "--json", "--home", home
    )
    assert code == 0
    [entry] = json.loads(out)["entries"]
    assert entry["erased"][0] == "answer"
    assert set(entry["erased"]) >= {"answer", "sources", "sources/1"}
    assert "prov" in entry["kept"]
    assert cli("ledger", "show", entry_id, "--part", "answer", "--home", home)[0] == 3
    assert cli("ledger", "show", entry_id, "--part", "prov", "--home", home)[0] == 0
    assert cli("ledger", "verify", "--home", home)[0] == 0


def test_of_an_erased_source_no_byte_is_left(asked: World, home: Path, cli: Run) -> None:
    assert "record.sqlite" in holding(home, b"William Nace kept the ferry")
    code, out, _ = cli("ledger", "redact", "--source", "ferry", "--basis", "x", "--json", "--home", home)
    report = json.loads(out)
    assert code == 0
    assert report["copies"]["documents"] == 1
    assert {kept for entry in report["entries"] for kept in entry["kept"]} >= {"policy.evidence", "prov"}
    assert holding(home, b"William Nace", b"kept the ferry") == []
    assert cli("ledger", "verify", "--home", home)[0] == 0
    assert cli("ask", FERRY, "--role", "contributor", "--json", "--home", home)[0] == 6
    assert cli("ask", POPULATION, "--json", "--home", home)[0] == 0


def test_a_source_goes_from_what_only_found_it(asked: World, home: Path, cli: Run) -> None:
    """Replay keeps every record that was found, admitted or not."""
    words = ("survey@example.org", "surveyor of Wabaunsee")
    asyncio.run(_search(home, POPULATION.replace("?", ", surveyor?"), options=Options(top_k=1)))
    listing = {entry["entry_id"] for entry in listed(cli, home, "--source", "contact")}
    only_found = {entry_id for entry_id, _ in asyncio.run(_readable(home, *words))} - listing
    assert only_found, "nothing found it without admitting it"
    code, out, _ = cli("ledger", "redact", "--source", "contact", "--basis", "x", "--json", "--home", home)
    assert code == 0
    assert only_found <= {entry["entry_id"] for entry in json.loads(out)["entries"]}
    assert asyncio.run(_readable(home, *words)) == set()
    assert cli("ledger", "verify", "--home", home)[0] == 0


async def _search(home: Path, question: str, options: Options, services: Any = None) -> None:
    async with opened(home) as system:
        await ask(system, question, options=options, services=services and services(system))


def remark(world: World, home: Path, **bodies: dict[str, str]) -> list[str]:
    """Feedback by the keys of these names; gives the entries that hold it."""

    async def send() -> list[str]:
        app = create_app(load({}, home=home))
        made = []
        async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
            transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                for key, body in bodies.items():
                    headers = {"authorization": f"Bearer {world.tokens[key]}"}
                    reply = await client.post("/retrieval/feedback", json=body | {"label": "wrong"}, headers=headers)
                    assert reply.status_code == 200, reply.text
                    made.append(reply.json()["provenance"]["entry_id"])
        return made

    return asyncio.run(send())


def test_remarks_go_with_who_made_them_and_with_what_they_are_about(asked: World, home: Path, cli: Run) -> None:
    who = subject_of(asked, "viewer")
    [about, *_] = [each["entry_id"] for each in listed(cli, home, "--subject", who, "--kind", "outcome")]
    [other, *_] = [
        each["entry_id"] for each in listed(cli, home, "--subject", subject_of(asked, "contributor"), "--text", "ferry")
    ]
    own, of_another = remark(
        asked,
        home,
        viewer={"entry_id": about, "chunk_id": "a", "comment": "says Cordelia"},
        auditor={"entry_id": about, "chunk_id": "b", "comment": "Cordelia asks it again"},
    )
    [kept] = remark(asked, home, auditor={"entry_id": other, "chunk_id": "c", "comment": "of no concern"})
    assert own in {entry["entry_id"] for entry in listed(cli, home, "--subject", who)}
    assert of_another not in {entry["entry_id"] for entry in listed(cli, home, "--subject", who)}
    for order in (("--entry", about), ("--subject", who)):
        code, out, _ = cli("ledger", "redact", *order, "--basis", "x", "--json", "--home", home)
        assert code == 0
        assert {own, of_another} <= {entry["entry_id"] for entry in json.loads(out)["entries"]}
        assert kept not in {entry["entry_id"] for entry in json.loads(out)["entries"]}
        assert {entry_id for entry_id, _ in asyncio.run(_readable(home, "Cordelia"))}.isdisjoint({own, of_another})
    assert asyncio.run(_readable(home, "Cordelia")) == set()
    assert {entry_id for entry_id, _ in asyncio.run(_readable(home, "of no concern"))} == {kept}


def test_a_remark_on_a_passage_goes_with_its_source(asked: World, home: Path, cli: Run) -> None:
    [about, *_] = [each["entry_id"] for each in listed(cli, home, "--source", "ferry", "--kind", "outcome")]
    body = {"entry_id": about, "chunk_id": "ferry@0123456789ab#p0.0", "comment": "Nace was no ferryman"}
    [entry_id] = remark(asked, home, auditor=body)
    assert asyncio.run(_readable(home, "no ferryman")) == {(entry_id, "context")}
    assert cli("ledger", "redact", "--source", "ferry", "--basis", "x", "--home", home)[0] == 0
    assert asyncio.run(_readable(home, "no ferryman")) == set()


class Silent(PolicyPoints):
    """Points that nobody answers at."""

    def __init__(self, data: PolicyData) -> None:
        self._data = data

    async def query(self, **_: Any) -> Any:
        raise PolicyUnavailable("no answer")


def test_whom_no_policy_answered_is_found_and_erased(home: Path, cli: Run) -> None:
    with pytest.raises(RequestFault):
        asyncio.run(
            _search(
                home, "Who was Cordelia Vane?", Options(), lambda s: with_services(s, points=lambda _: Silent(s.data))
            )
        )
    theirs = [entry["entry_id"] for entry in listed(cli, home, "--subject", "tester")]
    assert len(theirs) == 2
    cli("ledger", "redact", "--subject", "tester", "--basis", "x", "--home", home)
    assert theirs
    assert {entry_id for entry_id, _ in asyncio.run(_readable(home, "Cordelia"))}.isdisjoint(theirs)


def test_a_restored_backup_loses_again_what_was_erased(asked: World, home: Path, cli: Run, tmp_path: Path) -> None:
    who = subject_of(asked, "viewer")
    shutil.copytree(home, tmp_path / "backup")
    cli("ledger", "redact", "--subject", who, "--basis", "x", "--home", home)
    _, out, _ = cli(
        "ledger", "search", "--kind", "redaction", "--format", "ndjson", "--parts", "detail", "--home", home
    )
    (tmp_path / "kept.ndjson").write_text(out)
    shutil.rmtree(home)
    shutil.copytree(tmp_path / "backup", home)
    theirs = [entry["entry_id"] for entry in listed(cli, home, "--subject", who)]
    sealed = asyncio.run(_sealed(home, theirs))
    code, _, _ = cli("ledger", "redact", "--again", "--recorded", tmp_path / "kept.ndjson", "--home", home)
    assert code == 0
    assert holding(home, *sealed) == []
    assert cli("ledger", "verify", "--home", home)[0] == 0
    _, out, _ = cli("ledger", "redact", "--again", "--json", "--home", home)
    assert json.loads(out) == {"redactions": []}


def test_a_source_goes_before_anybody_has_asked(asked: World, home: Path, cli: Run) -> None:
    for path in (*home.glob("ledger*"), *home.glob("checkpoint*")):
        path.unlink()
    code, out, _ = cli("ledger", "redact", "--source", "ferry", "--basis", "x", "--json", "--home", home)
    assert (code, json.loads(out)["copies"]["documents"]) == (0, 1)
    assert holding(home, b"William Nace") == []


def put_back(home: Path, backup: Path) -> None:
    """The log as it was, and beside it the highest checkpoint that was seen outside of it."""
    for name in ("ledger.sqlite-wal", "ledger.sqlite-shm"):
        (home / name).unlink(missing_ok=True)
    shutil.copy2(backup / "ledger.sqlite", home / "ledger.sqlite")


def test_a_log_that_was_left_is_erased_from_too_and_the_next_one_says_so(
    asked: World, home: Path, cli: Run, tmp_path: Path
) -> None:
    who = subject_of(asked, "viewer")
    shutil.copytree(home, tmp_path / "backup")
    assert cli("ask", POPULATION, "--json", "--home", home)[0] == 0
    assert cli("ledger", "checkpoint", "--home", home)[0] == 0
    put_back(home, tmp_path / "backup")
    assert cli("ask", POPULATION, "--json", "--home", home)[0] == 0  # begins the next log
    theirs = [entry["entry_id"] for entry in listed(cli, home, "--subject", who, "--shard", 1)]
    assert len(theirs) == 5
    sealed = asyncio.run(_sealed(home, theirs, shard=1))
    assert holding(home, *sealed) == ["ledger.sqlite"]
    code, out, _ = cli("ledger", "redact", "--subject", who, "--basis", "x", "--json", "--home", home)
    report = json.loads(out)
    assert code == 0
    assert {entry["entry_id"] for entry in report["entries"]} == set(theirs)
    assert holding(home, *sealed, ASKED.encode(), who.encode()) == []
    [_, told] = listed(cli, home, "--kind", "incident")
    _, detail, _ = cli("ledger", "show", told["entry_id"], "--part", "detail", "--home", home)
    assert json.loads(detail)["redactions"] == report["redactions"]
    assert cli("ledger", "verify", "--shard", 2, "--home", home)[0] == 0
    assert cli("ledger", "verify", "--home", home)[0] == 7  # the log that was left did not get better
    code, out, _ = cli("ledger", "verify", "--shard", 1, "--json", "--home", home)
    assert (code, [problem["step"] for problem in json.loads(out)["problems"]]) == (7, ["behind"])


def test_before_serving_what_came_back_with_a_restore_goes_again(asked: World, home: Path, cli: Run) -> None:
    """The rows of erased parts are put back into the log's file, as a restored table would."""
    [entry, *_] = listed(cli, home, "--outcome", "ANSWER")
    with closing(apsw.Connection(str(home / "ledger.sqlite"))) as db:
        kept = {
            table: db.execute(f"SELECT * FROM {table} WHERE idx = ?", (entry["index"],)).fetchall()
            for table in ("secrets", "blobs")
        }
    cli("ledger", "redact", "--entry", entry["entry_id"], "--basis", "x", "--home", home)
    with closing(apsw.Connection(str(home / "ledger.sqlite"))) as db:
        for table, rows in kept.items():
            marks = ", ".join("?" * len(rows[0]))
            db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    assert cli("ledger", "show", entry["entry_id"], "--part", "answer", "--home", home)[0] == 0
    asyncio.run(_redact_again(load({}, home=home)))
    assert cli("ledger", "show", entry["entry_id"], "--part", "answer", "--home", home)[0] == 3
    assert cli("ledger", "verify", "--home", home)[0] == 0
    assert len(listed(cli, home, "--kind", "redaction")) == 3
    asyncio.run(_redact_again(load({}, home=home)))
    assert len(listed(cli, home, "--kind", "redaction")) == 3


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 2),
        (("--entry", "x"), 2),
        (("--basis", "x"), 2),
        (("--entry", "x", "--subject", "y", "--basis", "x"), 2),
        (("--entry", "01900000-0000-7000-8000-000000000000", "--basis", "x"), 3),
        (("--subject", "nobody", "--basis", "x"), 3),
        (("--source", "nothing", "--basis", "x"), 3),
        (("--subject", "nobody", "--basis", "x", "--parts", "everything"), 2),
        (("--subject", "{viewer}", "--basis", "x", "--tenant", "other"), 3),
        (("--subject", "{viewer}", "--basis", "a\nb"), 2),
    ],
)
def test_an_order_that_cannot_be_carried_out_changes_nothing(
    asked: World, home: Path, cli: Run, arguments: tuple[str, ...], code: int
) -> None:
    given = [each.replace("{viewer}", subject_of(asked, "viewer")) for each in arguments]
    before = (home / "ledger.sqlite").stat().st_size
    assert cli("ledger", "redact", *given, "--home", home)[0] == code
    assert (home / "ledger.sqlite").stat().st_size == before
    assert listed(cli, home, "--kind", "redaction") == []


def test_replay_goes_back_to_a_time(home: Path, cli: Run) -> None:
    _, everything, _ = cli("replay", "--all", "--to", "R0", "--json", "--home", home)
    _, since, _ = cli("replay", "--since", "2020-01-01", "--to", "R0", "--json", "--home", home)
    assert json.loads(since) == json.loads(everything)
    assert len(json.loads(everything)["entries"]) == 8
    code, none, _ = cli("replay", "--since", "2100-01-01", "--json", "--home", home)
    assert (code, json.loads(none)["entries"]) == (0, [])
    assert cli("replay", "--since", "2020-01-01", "--all", "--home", home)[0] == 2
