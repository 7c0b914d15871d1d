"""A path that is not what a command needs - missing, below a file, a loop of links, too long, a folder for a file, a file
for a folder, empty - is an error with a code and an exit code of the table, and nothing is made or changed. Every command
that takes a path is held to it, new ones too."""

from __future__ import annotations

import hashlib
import inspect
import re
import shutil
import sqlite3
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from typer.main import get_command

from api.cli.main import app
from tests.command_line import Run, command_line, without_settings

_CODED = re.compile(r"^exhibit: (?!INTERNAL)[A-Z_]+: \S", re.MULTILINE)
_BASIS = ("--basis", "a request")
_DIGEST = "sha256:" + "0" * 64

READ: Mapping[str, tuple[str, ...]] = {
    "ingest paths": ("ingest", "@", "--label", "public"),
    "ingest --manifest": ("ingest", "--manifest", "@"),
    "ledger show --receipt": ("ledger", "show", "--receipt", "@"),
    "ledger verify --receipt": ("ledger", "verify", "--receipt", "@"),
    "ledger verify --export": ("ledger", "verify", "--export", "@"),
    "ledger verify --policy": ("ledger", "verify", "--policy", "@"),
    "ledger verify --outside": ("ledger", "verify", "--outside", "@"),
    "ledger verify --seen": ("ledger", "verify", "--receipt", "RECEIPT", "--policy", "TRUST", "--seen", "@"),
    "ledger claim file": ("ledger", "claim", "@"),
    "ledger claim --receipt": ("ledger", "claim", "ANSWER", "--receipt", "@"),
    "ledger claim --export": ("ledger", "claim", "ANSWER", "--export", "@"),
    "ledger package --check": ("ledger", "package", "--check", "@", "--vkey", "VKEY"),
    "ledger attest --check": ("ledger", "attest", "--check", "@", "--vkey", "VKEY"),
    "ledger report --check": ("ledger", "report", "--check", "@"),
    "ledger redact --recorded": ("ledger", "redact", "--again", "--recorded", "@"),
    "policy check --policy": ("policy", "check", "--policy", "@"),
    "policy test --policy": ("policy", "test", "--policy", "@"),
    "policy test --vectors": ("policy", "test", "--vectors", "@"),
    "policy eval input_file": ("policy", "eval", "answer", "@"),
    "policy eval --policy": ("policy", "eval", "answer", "ANSWER", "--policy", "@"),
    "policy coverage --policy": ("policy", "coverage", "--policy", "@"),
    "policy lattice --policy": ("policy", "lattice", "--policy", "@"),
    "policy lattice --invariants": ("policy", "lattice", "--invariants", "@"),
    "policy backtest --policy": ("policy", "backtest", "--policy", "@"),
    "policy mutate --policy": ("policy", "mutate", "--policy", "@"),
    "policy build folder": ("policy", "build", "@"),
    "policy sign folder": ("policy", "sign", "@", "--key", "ANSWER"),
    "policy sign --key": ("policy", "sign", "BUNDLE", "--key", "@"),
    "policy publish folder": ("policy", "publish", "@"),
    "policy publish --key-file": ("policy", "publish", "BUNDLE", "--key-file", "@", "--dry-run"),
    "policy accept --key-file": ("policy", "accept", _DIGEST, "--key-file", "@"),
    "eval drafting --squad": ("eval", "drafting", "--squad", "@"),
    "eval data data": ("eval", "data", "@"),
}
"""A call of each command for each path that it reads."""
WRITTEN: Mapping[str, tuple[str, ...]] = {
    "export tiles file": ("export", "tiles", "towns", "@"),
    "ledger receipt --html": ("ledger", "receipt", "ENTRY", "--html", "@"),
    "ledger package --out": ("ledger", "package", "ENTRY", "--out", "@"),
    "ledger attest --out": ("ledger", "attest", "ENTRY", "--out", "@"),
    "ledger attest --pem": ("ledger", "attest", "ENTRY", "--out", "OUT", "--pem", "@"),
    "ledger report --out": ("ledger", "report", "--month", "2026-01", "--out", "@"),
    "ledger export folder": ("ledger", "export", "@"),
    "policy export folder": ("policy", "export", "@"),
    "policy test --junit": ("policy", "test", "--junit", "@"),
    "tenant export folder": ("tenant", "export", "default", "@"),
    "ledger witness key folder": ("ledger", "witness", "key", "@", "--name", "north.example/w"),
    "policy sign --server": ("policy", "sign", "BUNDLE", "--key", "KEY", "--server", "@"),
    "home key path": ("home", "key", "@"),
    "home encrypt --to": ("home", "encrypt", "--to", "@"),
    "home decrypt --to": ("home", "decrypt", "--to", "@"),
}
"""The same for each path that is written."""
LONG = {
    "ledger witness serve folder",
    "eval data --work",
    "eval data --report",
    "eval drafting --report",
}
"""These would serve or measure for long before they come to the path."""
HOMES: Mapping[str, tuple[str, ...]] = {
    "ask": ("When was the mill built?",),
    "job show": ("x",),
    "job cancel": ("x",),
    "job retry": ("x",),
    "job work": ("--once",),
    "export tiles": ("towns", "OUT"),
    "index upgrade": ("--backed-up",),
    "index remove": ("x",),
    "source show": ("x",),
    "source history": ("x",),
    "source label": ("x", "public"),
    "source withdraw": ("x",),
    "source supersede": ("x", "--by", "y"),
    "source restore": ("x",),
    "source erase": ("x", *_BASIS),
    "asset show": ("x",),
    "asset paths": ("x",),
    "ledger show": ("ENTRY",),
    "ledger diff": ("ENTRY", "ENTRY"),
    "ledger bisect": ("ENTRY",),
    "ledger proof": ("ENTRY",),
    "ledger claim": ("ANSWER",),
    "ledger receipt": ("ENTRY", "--html", "OUT"),
    "ledger package": ("ENTRY", "--out", "OUT"),
    "ledger attest": ("ENTRY", "--out", "OUT"),
    "ledger report": ("--month", "2026-01"),
    "ledger export": ("OUT",),
    "ledger redact": ("--entry", "ENTRY", *_BASIS),
    "replay": ("ENTRY",),
    "policy accept": (_DIGEST, "--key-file", "ANSWER"),
    "policy explain": ("ENTRY",),
    "key rotate": ("x",),
    "key revoke": ("x",),
    "tenant suspend": ("x",),
    "tenant resume": ("x",),
    "tenant quota": ("x", "none"),
    "tenant export": ("x", "OUT"),
    "tenant erase": ("x", *_BASIS),
    "home decrypt": ("--to", "OUT"),
    "home encrypt": ("--to", "OUT"),
}
"""The words that commands need beside their home, where they need any."""
MAKING = {"demo", "ingest", "serve", "ledger key create", "key create", "tenant create", "policy publish"}
"""They make a home that is not there, and some of them take long over it."""
WITHOUT = {
    *("config show", "doctor", "bench audit", "bench policy", "eval drafting"),
    *("policy status", "policy check", "policy test", "policy eval", "policy coverage", "policy lattice"),
    *("policy mutate", "policy export", "policy build", "policy backtest", "policy shadow"),
}
"""They have something to tell of a home that is not there: defaults, findings, the rules that are shipped."""


def _commands() -> Iterator[tuple[str, typing.Any]]:
    def walk(command: typing.Any, name: str) -> Iterator[tuple[str, typing.Any]]:
        if hasattr(command, "list_commands"):
            for each in command.list_commands(None):
                yield from walk(command.get_command(None, each), f"{name} {each}".strip())
        else:
            yield name, command

    yield from walk(get_command(app), "")


def _paths() -> Iterator[tuple[str, str]]:
    """Each command with each parameter that is a path; options by their longest name."""
    for name, command in _commands():
        hints = typing.get_type_hints(inspect.unwrap(command.callback))
        for parameter in command.params:
            hint = hints.get(parameter.name)
            if hint is Path or Path in typing.get_args(hint) or list[Path] in typing.get_args(hint):
                yield name, max((o for o in parameter.opts if o.startswith("--")), key=len, default=parameter.name)


BAD = {
    "missing": "none/such",
    "below a file": "text.txt/such",
    "loop": "loop",
    "long": "n" * 300,
    "folder": "folder",
    "empty": "empty.txt",
    "file": "text.txt",
}
FITTING = {
    *(("folder", each) for each in ("ingest paths", "eval data data")),
    *(("file", each) for each in ("ingest paths", "policy eval input_file")),
    ("empty", "ledger redact --recorded"),
    ("empty", "ledger verify --seen"),
}
"""What may be given: an empty list of redactions, an empty list of what was seen."""


class World:
    """A home with one document and one answer, files made of it, and a folder of bad paths."""

    def __init__(self, root: Path, run: Run) -> None:
        self.home, self.bad, self.run = root / "home", root / "bad", run
        (root / "mill.txt").write_text("The mill at Sedley was built in 1874 by Hannah Wyle.\n")
        assert run("ingest", root / "mill.txt", "--label", "public", "--home", self.home)[0] == 0
        code, answer, _ = run("ask", "When was the mill at Sedley built?", "--json", "--home", self.home)
        assert code == 0
        (root / "answer.json").write_text(answer)
        self.words = {"ANSWER": str(root / "answer.json"), "OUT": str(root / "out"), "BUNDLE": str(root / "bundle")}
        self.words["ENTRY"] = re.findall(r'"entry_id": "([^"]+)"', answer)[-1]
        (root / "receipt").write_text(run("ledger", "proof", self.words["ENTRY"], "--home", self.home)[1])
        self.words["VKEY"] = run("ledger", "key", "list", "--home", self.home)[1].split()[0]
        (root / "trust").write_text(f"log {self.words['VKEY']}\nquorum none\n")
        key = ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (root / "key.pem").write_bytes(key)
        self.words |= {"KEY": str(root / "key.pem"), "RECEIPT": str(root / "receipt"), "TRUST": str(root / "trust")}
        assert run("policy", "export", root / "bundle", "--home", self.home)[0] == 0
        self.root = root
        self.renew()

    def renew(self) -> None:
        """The bad paths as they were."""
        shutil.rmtree(self.bad, ignore_errors=True)
        (self.bad / "folder").mkdir(parents=True)
        (self.bad / "empty.txt").touch()
        (self.bad / "text.txt").write_text("Some words.\n")
        (self.bad / "loop").symlink_to(self.bad / "loop")

    def call(self, words: tuple[str, ...], path: Path) -> tuple[int, str]:
        code, out, err = self.run(*(str(path) if word == "@" else self.words.get(word, word) for word in words))
        return code, out + err

    def kept(self) -> dict[str, str]:
        """Everything in the folders, by what it holds: a database by its rows."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            if path.is_symlink() or path.is_dir():
                found[str(path)] = "link or folder"
            elif path.suffix == ".sqlite":
                with sqlite3.connect(path) as held:
                    found[str(path)] = hashlib.sha256("\n".join(held.iterdump()).encode()).hexdigest()
            elif not path.name.endswith(("-wal", "-shm", "-journal")):
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found


@pytest.fixture
def world(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> World:
    without_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return World(tmp_path, command_line(capsys, monkeypatch))


def test_every_path_of_every_command_is_tried() -> None:
    taken = {f"{name} {each}" for name, each in _paths() if each != "--home"}
    assert taken == {*READ, *WRITTEN, *LONG}


def _with_home(words: tuple[str, ...], home: Path) -> tuple[str, ...]:
    takes = {name for name, each in _paths() if each == "--home"}
    name = next(" ".join(words[:n]) for n in (3, 2, 1) if " ".join(words[:n]) in dict(_commands()))
    return (*words, "--home", str(home)) if name in takes else words


@pytest.mark.parametrize("kind", BAD)
def test_a_path_that_is_read(world: World, kind: str) -> None:
    for each, words in READ.items():
        if (kind, each) in FITTING:
            continue
        before = world.kept()
        code, told = world.call(_with_home(words, world.home), world.bad / BAD[kind])
        if kind == "empty" and each == "ingest paths":  # a row that says why; the run is recorded
            assert code == 1 and "VALIDATION_FAILED: the file is empty" in told.replace("empty.txt: ", "")
            continue
        assert code in (2, 3, 4, 7, 8), (kind, each, code, told)
        assert _CODED.search(told) or (code == 7 and told.startswith("broken")), (kind, each, told)
        if kind in ("missing", "below a file", "loop", "long") and each != "policy coverage --policy":
            assert code in (2, 3), (kind, each, code, told)
        assert world.kept() == before, (kind, each)


@pytest.mark.parametrize("kind", ["below a file", "loop", "long"])
def test_a_path_that_is_written(world: World, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXHIBIT_ENCRYPTION__KEY", "11" * 32)
    for each, words in WRITTEN.items():
        before = world.kept()
        code, told = world.call(_with_home(words, world.home), world.bad / BAD[kind])
        assert code not in (0, 1) and _CODED.search(told), (kind, each, code, told)
        after = {name: held for name, held in world.kept().items() if not name.startswith(str(world.home))}
        assert after.pop(world.words["OUT"], None) is None or each == "ledger attest --pem", (kind, each)
        assert after == {name: held for name, held in before.items() if not name.startswith(str(world.home))}, each
        (world.root / "out").unlink(missing_ok=True)


@pytest.mark.parametrize("kind", ["missing", "below a file", "loop", "long", "file"])
def test_a_home(world: World, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXHIBIT_ENCRYPTION__KEY", "11" * 32)
    for name in sorted({name for name, each in _paths() if each == "--home"}):
        if (kind == "missing" and name in MAKING | WITHOUT) or name in ("demo", "bench audit", "bench policy"):
            continue
        before = world.kept()
        words = (*name.split(), *HOMES.get(name, ()), "--home", "@")
        code, told = world.call(words, world.bad / BAD[kind])
        if name == "doctor":
            assert code == 1 and "settings" in told, (kind, told)
        else:
            assert code in (2, 3, 8) and _CODED.search(told), (kind, name, code, told)
        assert world.kept() == before, (kind, name)


def test_what_is_there_is_taken_in_beside_what_is_not(world: World) -> None:
    """A file that fails does not stop the others; a name of nothing stops all, before anything is made."""
    files = world.root / "more"
    files.mkdir()
    (files / "ferry.md").write_text("The ferry ran from 1880.\n")
    (files / "ferry.xyz").write_bytes(b"PK")
    fresh = world.root / "fresh"
    code, _, err = world.run("ingest", files / "ferry.md", files / "fery.md", "--label", "public", "--home", fresh)
    assert code == 2 and "fery.md (No such file or directory)" in err and not fresh.exists()
    code, out, _ = world.run("ingest", files, "--label", "public", "--home", fresh)
    assert code == 1 and re.search(r"ferry\.md +done", out) and "files of this kind are not read (.xyz)" in out


def test_a_corpus_is_not_begun_with_an_empty_folder(world: World) -> None:
    fresh, empty = world.root / "fresh", world.bad / "folder"
    code, _, err = world.run("ingest", empty, "--label", "public", "--home", fresh)
    assert code == 2 and "folder: " in err and not fresh.exists()
    assert world.run("ingest", empty, "--label", "public", "--home", world.home)[0] == 0  # an inbox may be empty


def test_a_manifest_that_lists_another_file(world: World) -> None:
    (world.root / "ferry.txt").write_text("The ferry ran from 1880.\n")
    (world.root / "m.toml").write_text(
        '[[source]]\npath = "ferry.txt"\nsource_id = "ferry"\ntitle = "Ferry"\nlicense = "CC0"\nlabel = "public"\n'
    )
    (world.root / "other.txt").write_text("Other words.\n")
    manifest = ("--manifest", world.root / "m.toml", "--home", world.home)
    code, _, err = world.run("ingest", world.root / "other.txt", *manifest)
    assert code == 2 and "other.txt: m.toml lists no such file" in err
    assert world.run("ingest", world.root / "ferry.txt", *manifest)[0] == 0
    (world.root / "ferry.txt").unlink()
    code, out, _ = world.run("ingest", "--verify", *manifest)
    assert code == 1 and "there is no such file" in out
