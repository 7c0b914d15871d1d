"""An erasure is searched for afterwards, in every file; what is left somewhere is named then, by verify and by doctor."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from asgi_lifespan import LifespanManager

from api.audit.erasure.erasing import carry_out
from api.audit.erasure.erasure import Order
from api.audit.erasure.scan import settle
from api.home.configuration import load
from api.http.app import create_app
from ledger.erasure.redaction import Target
from tests.api_world import FERRY, POPULATION, World, make_world
from tests.command_line import Run, command_line

LETTER = (
    "Cordelia Vane wrote from Wabaunsee in the winter of 1861 that the ferry at Topeka was frozen in, that nobody had"
    " crossed for eleven days, and that flour cost nine dollars a barrel where it was to be had at all."
)
COMMON = "The society holds the letters of its founders in two boxes, which may be read on Tuesday afternoons only."
ASKED = "Which letters speak of the ferry that Cordelia Vane could not cross in the winter of 1861?"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return asyncio.run(make_world(tmp_path_factory.mktemp("scan")))


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    return command_line(capsys, monkeypatch)


@pytest.fixture
def home(world: World, cli: Run, tmp_path: Path) -> Path:
    """A home with two letters that end alike, of which one was asked for."""
    shutil.copytree(world.configuration.home, tmp_path / "home")
    letters = tmp_path / "letters"
    letters.mkdir()
    (letters / "vane.md").write_text(f"# A letter\n\n{LETTER}\n\n{COMMON}\n")
    (letters / "gale.md").write_text(f"# Another letter\n\nOf Henry Gale one note is kept.\n\n{COMMON}\n")
    for name in ("vane.md", "gale.md"):
        code, _, err = cli("ingest", letters / name, "--label", "public", "--home", tmp_path / "home")
        assert code == 0, err
    assert cli("ask", ASKED, "--json", "--home", tmp_path / "home")[0] in (0, 6)
    return tmp_path / "home"


def erased(cli: Run, home: Path, *order: str) -> tuple[int, dict[str, Any]]:
    code, out, err = cli("ledger", "redact", *order, "--basis", "x", "--json", "--home", home)
    assert out, err
    report: dict[str, Any] = json.loads(out)
    return code, report


def verified(cli: Run, home: Path) -> list[str]:
    """What `verify` says is left; the exit code agrees."""
    code, out, _ = cli("ledger", "verify", "--json", "--home", home)
    problems = json.loads(out)["problems"]
    assert {problem["step"] for problem in problems} <= {"erased"}
    assert code == (7 if problems else 0)
    return [problem["detail"] for problem in problems]


def diagnosed(cli: Run, home: Path) -> tuple[str, str]:
    """What doctor says of erasures."""
    _, out, _ = cli("doctor", "--json", "--home", home)
    [finding] = [each for each in json.loads(out) if each["name"] == "erasures"]
    return finding["state"], finding["detail"].split()[0]


def source_of(cli: Run, home: Path, word: str) -> str:
    _, out, _ = cli("source", "list", "--json", "--home", home)
    [found] = [each["source_id"] for each in json.loads(out) if word in each["source_id"]]
    return str(found)


def test_what_another_source_says_too_is_no_finding(home: Path, cli: Run) -> None:
    code, report = erased(cli, home, "--source", source_of(cli, home, "vane"))
    scan = report["scan"]
    assert (code, scan["hits"], scan["unread"]) == (0, [], [])
    assert scan["shared"] > 0
    assert scan["prints"] > scan["shared"] + 20
    assert COMMON.encode() in (home / "record.sqlite").read_bytes()
    assert verified(cli, home) == []
    code, report = erased(cli, home, "--source", source_of(cli, home, "gale"))
    assert (code, report["scan"]["hits"], report["scan"]["shared"]) == (0, [], 0)
    assert COMMON.encode() not in (home / "record.sqlite").read_bytes()


def test_a_fragment_that_comes_back_is_named_with_its_file(home: Path, cli: Run) -> None:
    erased(cli, home, "--source", source_of(cli, home, "vane"))
    assert verified(cli, home) == []
    fragment = LETTER[61:101]
    (home / "cache").mkdir()
    (home / "cache" / "page.gz").write_bytes(gzip.compress(json.dumps({"q": f'"{fragment}"'}).encode()))
    [told] = verified(cli, home)
    assert told.startswith("cache/page.gz holds ")
    assert fragment not in told
    (home / "cache" / "page.gz").write_bytes(gzip.compress(fragment[:16].encode()))
    assert verified(cli, home) == []
    db = apsw.Connection(str(home / "api-keys.sqlite"))
    db.execute("CREATE TABLE scratch (words TEXT); PRAGMA secure_delete = OFF")
    db.execute("INSERT INTO scratch VALUES (?)", (fragment,))
    db.execute("DELETE FROM scratch")
    db.close()
    [told] = verified(cli, home)
    assert told.startswith("api-keys.sqlite holds ")


def test_a_copy_of_the_home_inside_it_is_found_when_something_is_erased(home: Path, cli: Run) -> None:
    shutil.copy2(home / "ledger.sqlite", home / "ledger.sqlite.v1")
    shutil.copy2(home / "record.sqlite", home / "record.old")
    code, report = erased(cli, home, "--source", source_of(cli, home, "vane"))
    assert code == 7
    assert {hit["where"] for hit in report["scan"]["hits"]} == {"ledger.sqlite.v1", "record.old"}
    _, out, _ = cli("ledger", "show", report["scan"]["entry_id"], "--part", "detail", "--home", home)
    assert json.loads(out)["scan"]["hits"] == report["scan"]["hits"]
    assert {told.split()[0] for told in verified(cli, home)} == {"ledger.sqlite.v1", "record.old"}
    assert diagnosed(cli, home) == ("failed", "ledger.sqlite.v1")
    (home / "ledger.sqlite.v1").unlink()
    (home / "record.old").unlink()
    assert verified(cli, home) == []
    assert diagnosed(cli, home) == ("ok", "no")


def test_a_question_is_looked_for_in_words_and_as_it_was_sealed(home: Path, cli: Run) -> None:
    _, out, _ = cli("ledger", "search", "--text", "Cordelia", "--kind", "intent", "--json", "--home", home)
    [intent] = json.loads(out)
    before = (home / "ledger.sqlite").read_bytes()
    code, report = erased(cli, home, "--entry", intent["entry_id"])
    assert (code, report["scan"]["hits"]) == (0, [])
    (home / "notes.txt").write_text(f"She asked: {ASKED[3:60]}")
    assert [told.split()[0] for told in verified(cli, home)] == ["notes.txt"]
    (home / "notes.txt").unlink()
    (home / "pages").write_bytes(before)
    assert [told.split()[0] for told in verified(cli, home)] == ["pages"]


def test_a_source_that_nobody_asked_for_is_erased_on_the_record(world: World, cli: Run, tmp_path: Path) -> None:
    shutil.copytree(world.configuration.home, tmp_path / "home")
    home = tmp_path / "home"
    code, report = erased(cli, home, "--source", "ferry")
    assert (code, report["entries"], len(report["redactions"])) == (0, [], 1)
    _, out, _ = cli("ledger", "search", "--kind", "redaction", "--json", "--home", home)
    assert len(json.loads(out)) == 2
    (home / "left").write_text((world.configuration.home.parent / "corpus" / "ferry.md").read_text()[5:45])
    assert [told.split()[0] for told in verified(cli, home)] == ["left"]
    code, report = erased(cli, home, "--source", "ferry")
    assert (code, report["redactions"], report["scan"]) == (0, [], None)  # nothing was left to go


async def test_nothing_is_left_in_any_file_while_the_server_answers(world: World, tmp_path: Path) -> None:
    """A byte search over every file, free page and write-ahead log, with the server's connections open."""
    shutil.copytree(world.configuration.home, tmp_path / "home")
    configuration = load({}, home=tmp_path / "home")
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1))
        headers = {"authorization": f"Bearer {world.tokens['contributor']}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:

            async def ask(question: str) -> str:
                reply = await client.post("/api/v1/ai/query", json={"question": question})
                assert reply.status_code == 200, reply.text
                return str(reply.json()["outcome"])

            assert [await ask(FERRY), await ask(ASKED)] == ["ANSWER", "ABSTAIN"]
            going = asyncio.Event()

            async def keep_asking() -> int:
                count = 0
                while not going.is_set():
                    assert await ask(POPULATION) == "ANSWER"
                    await asyncio.sleep(0.05)
                    count += 1
                return count

            async with asyncio.timeout(120), asyncio.TaskGroup() as group:
                asking = group.create_task(keep_asking())
                subject = f"key:{world.tokens['contributor'].split('_')[1]}"
                for order in (
                    Order(Target.SOURCE, "ferry", "default", "x"),
                    Order(Target.SUBJECT, subject, "default", "x"),
                ):
                    erased = await carry_out(configuration, order)
                    assert erased.scan is not None
                    assert (erased.scan.hits, erased.scan.unread) == ((), ())
                files = [path for path in configuration.home.rglob("*") if path.is_file()]
                words = (b"William Nace", b"Cordelia Vane")
                held = {path.name for path in files for each in words if each in path.read_bytes()}
                going.set()
            assert asking.result() > 0
            assert any(path.name.endswith("-wal") for path in files)
            assert held == set()
            assert await ask(FERRY) == "ABSTAIN"


def test_a_write_ahead_log_that_another_process_keeps_open_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "kept.sqlite"
    path.parent.mkdir()
    with closing(apsw.Connection(str(path))) as held, closing(apsw.Connection(str(path))) as writer:
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA secure_delete = ON", "CREATE TABLE t (words TEXT)"):
            writer.execute(statement).fetchall()
        writer.execute("INSERT INTO t VALUES (?)", (LETTER,))
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert held.execute("SELECT count(*) FROM t").fetchall() == [(1,)]
        writer.execute("DELETE FROM t")
        assert LETTER.encode() in path.read_bytes()
        settle(tmp_path)
        assert [each.name for each in path.parent.iterdir() if b"Cordelia" in each.read_bytes()] == []
        assert held.execute("SELECT count(*) FROM t").fetchall() == [(0,)]
