"""A stolen home: without the key no file of it holds a passage, a question, an answer or a key; with it everything works."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
from base64 import b64encode
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from asgi_lifespan import LifespanManager

from api.audit.erasure.decoded import readings
from api.errors import HomeBusy, HomeInUse, HomeKeyMissing, HomeKeyWrong, SettingsInvalid
from api.home.configuration import Configuration, load
from api.home.encryption.home_key import make_key_file
from api.home.encryption.vault import Vault, make_vault, open_vault, rotate
from api.http.app import create_app
from api.jobs.uploads import KEPT, OPEN, Uploads
from api.jobs.work import work_off
from api.wiring import open_job_store, open_ledger
from api.wiring.recrypt import copy_home
from retrieval.errors import LoadError
from retrieval.files.seal import PLAIN
from tests.api_world import DIARY, POPULATION, TEXTS, World, make_world
from tests.command_line import Run, command_line
from tests.job_kills import send

KEY = bytes(range(32))
NAMED = {"EXHIBIT_ENCRYPTION__KEY": KEY.hex(), "EXHIBIT_LEDGER__CHECKPOINT_MS": "50"}
REMARK = "The archivist doubts the second page of that diary."
MANY, AT_ONCE = 24, 4


@dataclass(frozen=True)
class Lived:
    """A home in which everything that keeps text was done, the texts, and which were found while it was open."""

    world: World
    secrets: Mapping[str, bytes]
    found_open: set[str]


@asynccontextmanager
async def serving(configuration: Configuration, token: str) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
        headers = {"authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            yield client


async def lived(folder: Path, environment: Mapping[str, str]) -> Lived:
    """Ask, search, run the agent and remark, and look for it while the home is open: its logs are full then."""
    if environment:
        make_vault(folder / "home", KEY)
    world = await make_world(folder, environment)
    async with serving(world.configuration, world.tokens["archivist"]) as client:
        for body in ({"question": DIARY}, {"question": POPULATION}):
            asked = await client.post("/api/v1/ai/query", json=body, headers={"idempotency-key": secrets.token_hex(8)})
            assert asked.status_code == 200, asked.text
        searched = await client.post("/api/v1/retrieve/agentic", json={"query": DIARY, "tenant_id": "default"})
        assert searched.status_code == 200, searched.text
        listed = (await client.post("/api/v1/registry/assets/query", json={"limit": 1})).json()
        said = {"entry_id": listed["entry_id"], "kind": "missing", "notes": REMARK}
        assert (await client.post("/api/v1/registry/feedback", json=said)).status_code == 200
        texts = {
            "passage": TEXTS["diary.md"].splitlines()[-1].encode(),
            "another passage": TEXTS["ferry.md"].splitlines()[-1].encode(),
            "question": DIARY.encode(),
            "remark": REMARK.encode(),
            **keys_of(world.configuration),
        }
        return Lived(world, texts, found_in(world.configuration.home, texts))


def keys_of(configuration: Configuration) -> dict[str, bytes]:
    """The keys in the home as their files write them."""
    found = {}
    for path in sorted((configuration.home / "keys").iterdir()):
        found[path.name] = configuration.seal.opened(path.read_bytes()).strip()
    assert {"pseudonym.key", "log.key"} <= set(found)
    if isinstance(configuration.seal, Vault):
        found["data key"] = configuration.seal.data_key
        found["home key"] = KEY
    return found


def found_in(home: Path, texts: Mapping[str, bytes]) -> set[str]:
    """Which of the texts some file holds, as it stands or in any way that a reader without a key can decode."""
    wanted = {(name, form) for name, text in texts.items() for form in forms(text)}
    found = set[str]()
    for path in home.rglob("*"):
        if path.is_file():
            for piece in (path.read_bytes(), path.name.encode(), *readings(path)):
                found |= {name for name, form in wanted if form in piece}
    return found


def forms(text: bytes) -> Iterable[bytes]:
    """UTF-8, UTF-16 of both orders, hexadecimal, and Base64 from each of its three places."""
    yield text
    yield text.hex().encode()
    if text.isascii():
        yield text.decode().encode("utf-16-le")
        yield text.decode().encode("utf-16-be")
    for shift in range(3):
        yield b64encode(b" " * shift + text)[4:-4]


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    return asyncio.run(lived(tmp_path_factory.mktemp("encrypted"), NAMED))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    return asyncio.run(lived(tmp_path_factory.mktemp("plain"), {}))


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    made = command_line(capsys, monkeypatch)
    monkeypatch.setenv("EXHIBIT_ENCRYPTION__KEY", KEY.hex())
    return made


def copied(held: Lived, to: Path, vault: Vault | None) -> Path:
    copy_home(held.world.configuration, to, vault)
    return to


def test_a_stolen_home_says_nothing(encrypted: Lived) -> None:
    assert encrypted.found_open == set()
    assert found_in(encrypted.world.configuration.home, encrypted.secrets) == set()


def test_every_database_is_sealed(encrypted: Lived, plain: Lived, tmp_path: Path, cli: Run) -> None:
    """The index of entries, which the first search makes, too: who asked and what is alike stands there by pseudonym."""
    for held, sealed in ((plain, False), (encrypted, True)):
        home = tmp_path / str(sealed)
        shutil.copytree(held.world.configuration.home, home)
        assert cli("ledger", "search", "--home", home)[0] == 0
        found = {path.name: path.read_bytes()[:16] for path in home.rglob("*.sqlite")}
        assert {"ledger-index.sqlite", "ledger.sqlite", "record.sqlite"} <= set(found)
        assert {name for name, head in found.items() if head == b"SQLite format 3\0"} == (
            set() if sealed else set(found)
        )


def test_the_same_search_finds_everything_in_a_home_that_is_not_encrypted(plain: Lived) -> None:
    found = {"passage", "another passage", "pseudonym.key", "log.key"}
    assert plain.found_open >= found
    assert found_in(plain.world.configuration.home, plain.secrets) >= found


def test_the_search_finds_a_question_and_a_remark_in_every_form(plain: Lived, tmp_path: Path) -> None:
    """In the ledger of either home they are sealed; here they lie open."""
    (tmp_path / "note.json").write_text(json.dumps({"q": DIARY}))
    (tmp_path / "note.b64").write_bytes(b64encode(b"xy" + REMARK.encode()))
    assert found_in(tmp_path, plain.secrets) == {"question", "remark"}
    (tmp_path / "note.json").write_bytes(DIARY.encode("utf-16-le"))
    assert found_in(tmp_path, plain.secrets) == {"question", "remark"}


def test_no_file_begins_like_a_database(encrypted: Lived) -> None:
    home = encrypted.world.configuration.home
    databases = list(home.rglob("*.sqlite*"))
    assert len(databases) >= 6
    assert not [path for path in databases if path.read_bytes()[:15] == b"SQLite format 3"]


def test_copies_between_kinds_of_homes_lose_nothing(encrypted: Lived, plain: Lived, tmp_path: Path, cli: Run) -> None:
    again = copied(encrypted, tmp_path / "again", make_vault(tmp_path / "again", KEY))
    opened = copied(encrypted, tmp_path / "opened", None)
    closed = copied(plain, tmp_path / "closed", make_vault(tmp_path / "closed", KEY))
    texts = {name: text for name, text in encrypted.secrets.items() if "key" not in name}
    assert found_in(again, encrypted.secrets) == set() and found_in(closed, plain.secrets) == set()
    assert found_in(opened, texts) >= {"passage", "another passage"}
    for home in (again, opened, closed):
        assert cli("ledger", "verify", "--home", home)[0] == 0
        assert cli("index", "status", "--home", home)[0] == 0
        code, out, _ = cli("ask", POPULATION, "--json", "--home", home)
        assert (code, "85,200" in out) == (0, True)
    assert open_data_key(again) != open_data_key(encrypted.world.configuration.home)


def open_data_key(home: Path) -> bytes:
    return open_vault(home, KEY).data_key


def test_every_command_works_on_an_encrypted_home(encrypted: Lived, tmp_path: Path, cli: Run) -> None:
    home = copied(encrypted, tmp_path / "home", make_vault(tmp_path / "home", KEY))
    code, out, err = cli("ask", DIARY, "--role", "maintainer", "--groups", "archivists", "--json", "--home", home)
    assert code == 0, err
    entry = json.loads(out)["provenance"]["entry_id"]
    for words in (
        ("ledger", "verify"),
        ("ledger", "receipt", entry),
        ("ledger", "proof", entry),
        ("ledger", "export", tmp_path / "export"),
        ("ledger", "search", "--text", "diary"),
        ("replay", entry),
        ("doctor",),
        ("index", "rebuild"),
        ("key", "list"),
        ("source", "list"),
    ):
        code, _, err = cli(*words, "--home", home)
        assert code == 0, (words, err)
    assert found_in(home, encrypted.secrets) == set()


def test_an_erasure_in_an_encrypted_home_is_searched_for_under_the_encryption(
    encrypted: Lived, tmp_path: Path, cli: Run
) -> None:
    home = copied(encrypted, tmp_path / "home", make_vault(tmp_path / "home", KEY))
    (home / "record.old").write_bytes((home / "record.sqlite").read_bytes())
    code, out, err = cli("ledger", "redact", "--source", "diary", "--basis", "x", "--json", "--home", home)
    assert code == 7, (out, err)
    assert {hit["where"] for hit in json.loads(out)["scan"]["hits"]} == {"record.old"}, err
    (home / "record.old").unlink()
    assert cli("ledger", "verify", "--home", home)[0] == 0


@pytest.mark.parametrize("wrong", [b"\x01" * 32, bytes(32)], ids=["ones", "zeros"])
def test_a_wrong_key_is_a_coded_error_and_writes_nothing(encrypted: Lived, cli: Run, wrong: bytes) -> None:
    home = encrypted.world.configuration.home
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    with pytest.raises(HomeKeyWrong):
        load(NAMED | {"EXHIBIT_ENCRYPTION__KEY": wrong.hex()}, home=home)
    with pytest.raises(HomeKeyMissing):
        load({}, home=home)
    with pytest.raises(HomeKeyMissing):
        load({"EXHIBIT_ENCRYPTION__KEY": "ab"}, home=home)
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    _, out, err = cli("ask", DIARY, "--json", "--home", home)
    assert json.loads(out).get("error") is None, err


def test_commands_name_the_fault_and_never_the_key(encrypted: Lived, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    home, wrong = encrypted.world.configuration.home, secrets.token_hex(32)
    monkeypatch.setenv("EXHIBIT_ENCRYPTION__KEY", wrong)
    for words in (("ask", DIARY), ("ledger", "verify"), ("key", "list"), ("config", "show")):
        code, out, err = cli(*words, "--json", "--home", home)
        assert (code, json.loads(out)["error"]["code"]) == (8, "HOME_LOCKED")
        assert wrong not in out + err and "another key" in err


def test_a_database_of_the_home_does_not_open_without_its_key(encrypted: Lived, tmp_path: Path) -> None:
    for path in encrypted.world.configuration.home.glob("*.sqlite"):
        stolen = tmp_path / path.name
        stolen.write_bytes(path.read_bytes())
        with pytest.raises(apsw.NotADBError):
            apsw.Connection(str(stolen)).execute("SELECT * FROM sqlite_master").fetchall()


def test_where_the_key_may_be(encrypted: Lived, tmp_path: Path) -> None:
    home, file = encrypted.world.configuration.home, tmp_path / "home.key"
    file.write_text(KEY.hex() + "\n")
    file.chmod(0o600)
    assert load({"EXHIBIT_ENCRYPTION__KEY_FILE": str(file)}, home=home).seal is not PLAIN
    assert load({"EXHIBIT_ENCRYPTION__KEY_COMMAND": f"cat {file}"}, home=home).seal is not PLAIN
    with pytest.raises(SettingsInvalid):
        load(NAMED | {"EXHIBIT_ENCRYPTION__KEY_FILE": str(file)}, home=home)
    for command in ("false", "none-of-that-name", "echo no key", "'"):
        with pytest.raises(HomeKeyMissing):
            load({"EXHIBIT_ENCRYPTION__KEY_COMMAND": command}, home=home)
    file.chmod(0o640)
    with pytest.raises(HomeKeyMissing, match="0600"):
        load({"EXHIBIT_ENCRYPTION__KEY_FILE": str(file)}, home=home)


def test_neither_the_key_nor_a_secret_lies_in_the_home(encrypted: Lived, tmp_path: Path) -> None:
    home = copied(encrypted, tmp_path / "home", make_vault(tmp_path / "home", KEY))
    make_key_file(home / "own.key")
    with pytest.raises(HomeKeyMissing, match="lies in the home"):
        load({"EXHIBIT_ENCRYPTION__KEY_FILE": str(home / "own.key")}, home=home)
    for text in ('[models]\nopenai_key = "k"', f'[encryption]\nkey = "{KEY.hex()}"', '[stores]\nopensearch_url = "x"'):
        (home / "exhibit.toml").write_text(text)
        with pytest.raises(SettingsInvalid, match="secret"):
            load({}, home=home)


LETTER = b"The ferryman of Lecompton wrote that Augusta Pell crossed at midnight."
TURNS = tuple(b"And page %d says that she crossed again." % number for number in range(400))


@pytest.fixture
def fresh(encrypted: Lived, tmp_path: Path) -> Configuration:
    copied(encrypted, tmp_path / "sent", make_vault(tmp_path / "sent", KEY))
    return load(NAMED, home=tmp_path / "sent")


def stored(home: Path, *words: bytes) -> list[Path]:
    """The files of the home that hold one of these words, or have it in their name."""
    files = [each for each in home.rglob("*") if each.is_file()]
    return [each for each in files for word in words if word in _bytes_of(each) or word.decode() in str(each)]


def _bytes_of(path: Path) -> bytes:
    """Nothing where it has gone meanwhile: a database that is in use makes and removes a journal."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def test_what_waits_keeps_a_home_from_being_copied(plain: Lived, tmp_path: Path) -> None:
    job = "00000000-0000-0000-0000-000000000001"
    uploads = Uploads(plain.world.configuration.home)
    (uploads.begin(job) / "letter.md").write_text("A letter.")
    with pytest.raises(HomeBusy, match="wait"):
        copied(plain, tmp_path / "closed", make_vault(tmp_path / "closed", KEY))
    uploads.remove(job)


def test_without_its_seal_nothing_is_sent_into_an_encrypted_home(fresh: Configuration) -> None:
    with pytest.raises(HomeKeyMissing):
        Uploads(fresh.home).begin("00000000-0000-0000-0000-000000000001")


async def test_what_is_sent_into_an_encrypted_home_waits_sealed_and_is_taken_in(fresh: Configuration) -> None:
    job_id = await send(fresh, {"augusta.txt": LETTER, "x.bin": b"\0Augusta"})
    assert stored(fresh.home, b"Augusta", b"augusta") == []
    assert await work_off(fresh) == 1
    async with open_job_store(fresh) as jobs:
        job = await jobs.job(job_id)
        assert job is not None
        told = {Path(each.file.path).name: each.file.state for each in await jobs.files(job)}
    assert told == {"augusta.txt": "done", "x.bin": "failed"}
    uploads = Uploads(fresh.home, fresh.seal)
    assert [each.name for each in uploads.files(KEPT, job_id)] == ["x.bin"]  # it waits for another try
    assert stored(fresh.home, b"Augusta", b"augusta") == []


def test_parts_are_continued_after_one_that_was_cut_off(fresh: Configuration) -> None:
    uploads, job = Uploads(fresh.home, fresh.seal), "00000000-0000-0000-0000-000000000001"
    uploads.begin(job)
    sent = uploads.sent_file("augusta.txt", "augusta.1", sum(map(len, TURNS)))
    spool = uploads.spool(OPEN, job, sent)
    spool.create()
    at = 0
    for turn in TURNS:
        with spool.appending(offset=at, length=sent.length) as file:
            file.write(turn)
        at += len(turn)
        assert spool.size() == at
        with spool.path.open("ab") as torn:  # what a crash leaves of the next piece
            torn.write(secrets.token_bytes(at % 90))
    assert spool.read() == b"".join(TURNS) and b"crossed" not in spool.path.read_bytes()
    uploads.describe(job, [sent])
    uploads.remove(job)


@pytest.mark.parametrize("harm", ["flip", "swap", "drop", "repeat", "other"])
def test_a_sealed_file_that_was_changed_is_refused(fresh: Configuration, harm: str) -> None:
    uploads, job = Uploads(fresh.home, fresh.seal), "00000000-0000-0000-0000-000000000001"
    uploads.begin(job)
    sent = uploads.sent_file("augusta.txt", "augusta.1", 3 * len(LETTER))
    spool = uploads.spool(OPEN, job, sent)
    spool.create()
    ends = [0]
    for number in range(3):
        with spool.appending(offset=number * len(LETTER), length=sent.length) as file:
            file.write(LETTER)
        ends.append(spool.path.stat().st_size)
    whole = spool.path.read_bytes()
    one, two, three = (whole[start:end] for start, end in pairwise(ends))
    changed = {
        "flip": whole[:-1] + bytes([whole[-1] ^ 1]),
        "swap": two + one + three,
        "drop": one + three,
        "repeat": one + two + two,
        "other": whole,
    }[harm]
    spool.path.write_bytes(changed)
    if harm == "other":
        sent = replace(sent, source_id="augusta.2")
    with pytest.raises(LoadError):
        uploads.read(OPEN, job, sent)
    spool.path.write_bytes(one + two)  # shorter than it was sent
    with pytest.raises(LoadError, match="as long"):
        uploads.read(OPEN, job, replace(sent, source_id="augusta.1"))
    uploads.remove(job)


async def test_files_are_sent_into_an_encrypted_home_over_http(encrypted: Lived, fresh: Configuration) -> None:
    async with serving(fresh, encrypted.world.tokens["archivist"]) as client:
        form = {"label": "public", "collection": "letters"}
        reply = await client.post("/api/v1/documents", data=form, files={"file": ("augusta.txt", LETTER)})
        assert reply.status_code == 202, reply.text
        pairs = {"filename": "pages.txt", "label": "public", "collection": "letters"}
        told = ",".join(f"{name} {b64encode(value.encode()).decode()}" for name, value in pairs.items())
        pages = b" ".join(TURNS)
        begun = await client.post(
            "/api/v1/uploads", headers={"upload-length": str(len(pages)), "upload-metadata": told}
        )
        assert begun.status_code == 201, begun.text
        where = begun.headers["location"]
        for start, end in ((0, 1000), (1000, len(pages))):
            head = await client.head(where)
            assert head.headers["upload-offset"] == str(start)
            headers = {"upload-offset": str(start), "content-type": "application/offset+octet-stream"}
            part = await client.patch(where, content=pages[start:end], headers=headers)
            assert part.status_code == 204, part.text
            assert stored(fresh.home, b"crossed", b"pages.txt", b"augusta") == []
        for location in (reply.headers["location"], f"/api/v1/jobs/{where.rsplit('/', 1)[-1]}"):
            for _ in range(600):
                state = (await client.get(location)).json()
                if state["state"] == "done":
                    break
                await asyncio.sleep(0.1)
            assert (state["state"], state["files"][0]["state"]) == ("done", "done"), state
        asked = await client.post("/api/v1/ai/query", json={"question": "When did Augusta Pell cross?"})
        assert "midnight" in asked.text
    assert stored(fresh.home, b"crossed", b"pages.txt", b"augusta") == []


def test_a_home_in_use_is_encrypted_only_into_another_folder(plain: Lived, tmp_path: Path) -> None:
    home = plain.world.configuration.home
    with pytest.raises(HomeInUse):
        make_vault(home, KEY)
    with pytest.raises(HomeInUse):
        copy_home(plain.world.configuration, home / "inside", None)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    with pytest.raises(HomeInUse):
        copy_home(plain.world.configuration, tmp_path / "there", None)
    assert (tmp_path / "there" / "file").exists()


def test_rotating_the_key_while_questions_are_asked_loses_nothing(encrypted: Lived, tmp_path: Path, cli: Run) -> None:
    home = copied(encrypted, tmp_path / "home", make_vault(tmp_path / "home", KEY))
    configuration = load(NAMED, home=home)
    assert isinstance(configuration.seal, Vault)
    new = [secrets.token_bytes(32) for _ in range(3)]

    async def asked(client: httpx.AsyncClient, n: int, places: asyncio.Semaphore) -> dict[str, Any]:
        async with places:
            body, headers = {"question": POPULATION}, {"idempotency-key": f"k{n}"}
            response = await client.post("/api/v1/ai/query", json=body, headers=headers)
        assert response.status_code == 200, response.text
        told: dict[str, Any] = response.json()
        return told

    async def rotating(vault: Vault) -> None:
        for key in new:
            await asyncio.sleep(0.05)
            await asyncio.to_thread(rotate, vault, key)

    async def loaded(opened: Configuration, *, rotated: bool) -> list[dict[str, Any]]:
        async with serving(opened, encrypted.world.tokens["archivist"]) as client:
            turning = asyncio.create_task(rotating(opened.seal)) if rotated else None  # type: ignore[arg-type]
            places = asyncio.Semaphore(AT_ONCE)
            told = await asyncio.gather(*(asked(client, n, places) for n in range(MANY)))
            if turning is not None:
                await turning
        return told

    before = asyncio.run(loaded(configuration, rotated=True))
    for old in (KEY, *new[:-1]):
        with pytest.raises(HomeKeyWrong):
            load(NAMED | {"EXHIBIT_ENCRYPTION__KEY": old.hex()}, home=home)
    reopened = load(NAMED | {"EXHIBIT_ENCRYPTION__KEY": new[-1].hex()}, home=home)
    assert asyncio.run(loaded(reopened, rotated=False)) == before  # every reply was kept
    asyncio.run(intact(reopened, {told["provenance"]["entry_id"] for told in before}))


async def intact(configuration: Configuration, entries: set[str]) -> None:
    async with open_ledger(configuration) as ledger:
        assert len(entries) == MANY
        for each in entries:
            assert (await ledger.entry(each)).leaf.entry_id == each
        assert (await ledger.verify()).ok


def test_the_commands_of_the_key(tmp_path: Path, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXHIBIT_ENCRYPTION__KEY")
    one, two = tmp_path / "one.key", tmp_path / "two.key"
    assert cli("home", "key", one)[0] == cli("home", "key", two)[0] == 0
    assert one.stat().st_mode & 0o777 == 0o600
    assert cli("home", "key", one)[0] != 0
    monkeypatch.setenv("EXHIBIT_ENCRYPTION__KEY_FILE", str(one))
    home = tmp_path / "home"
    assert cli("home", "encrypt", "--home", home)[0] == 0
    (tmp_path / "mill.md").write_text("# The mill\n\nThe mill at Lawrence burnt down in 1903.\n")
    assert cli("ingest", tmp_path / "mill.md", "--label", "public", "--home", home)[0] == 0
    assert cli("home", "encrypt", "--home", home)[0] != 0
    assert cli("home", "rotate-key", "--home", home)[0] != 0
    assert cli("home", "rotate-key", "--new-key-file", two, "--home", home)[0] == 0
    _, out, _ = cli("ask", "When did the mill burn down?", "--json", "--home", home)
    assert json.loads(out)["error"]["code"] == "HOME_LOCKED"
    monkeypatch.setenv("EXHIBIT_ENCRYPTION__KEY_FILE", str(two))
    code, out, _ = cli("ask", "When did the mill burn down?", "--json", "--home", home)
    assert (code, "1903" in out) == (0, True)
    assert cli("home", "decrypt", "--to", tmp_path / "opened", "--home", home)[0] == 0
    monkeypatch.delenv("EXHIBIT_ENCRYPTION__KEY_FILE")
    code, out, _ = cli("ask", "When did the mill burn down?", "--json", "--home", tmp_path / "opened")
    assert (code, "1903" in out) == (0, True)
    assert cli("home", "rotate-key", "--new-key-file", one, "--home", tmp_path / "opened")[0] != 0
