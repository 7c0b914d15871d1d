"""An adversary with the disk, the backups and at last the signing key; each attack has a verdict by name and an exit
code of `exhibit ledger verify`. What only a witness can tell is shown both ways."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from api.cli.main import run
from api.home.backends import backends_of
from api.home.configuration import Configuration, load
from api.wiring.ledger.log import last_shard, open_log, open_log_to_write
from ledger.canonical import canonical_json
from ledger.errors import EntryConflict, LogForked, VerificationFailed
from ledger.ledger import SYSTEM_TENANT, Ledger
from ledger.merkle.tree import hash_leaf
from ledger.model import Kind, TreeHead
from ledger.notes.note import SigningKey, checkpoint_text, parse_signing_key, parse_vkey, sign_note
from ledger.notes.trust import parse_policy
from ledger.rotation import key_request, statement_text
from tests.command_line import without_settings
from tests.ledger_witnesses import open_witness, paired, policy_text

REQUESTS = 4
INTACT, BROKEN = 0, 7


@dataclass(frozen=True)
class Scene:
    """A home with a log of eight entries, cosigned at 4 and 8, and what its auditors hold outside of it: the key, a
    policy of two witnesses, the checkpoints."""

    folder: Path
    vkey: str

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def database(self) -> Path:
        return self.home / "ledger.sqlite"

    @property
    def highest(self) -> Path:
        return self.home / "checkpoint.highest"

    @property
    def policy(self) -> Path:
        return self.folder / "trust.policy"

    @property
    def configuration(self) -> Configuration:
        return load({}, home=self.home)

    @property
    def key(self) -> SigningKey:
        return parse_signing_key((self.home / "keys" / "log.key").read_text().strip())


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Ledger]:
    ledger = await open_log(load({}, home=home))
    try:
        yield ledger
    finally:
        await ledger.aclose()


async def ask(ledger: Ledger, request_id: str) -> None:
    intent = await ledger.record(Kind.INTENT, tenant="default", request_id=request_id, parts={"question": b"Who?"})
    await ledger.record(
        Kind.OUTCOME,
        tenant="default",
        request_id=request_id,
        parts={"answer": b'{"outcome":"ANSWER"}', "bundle": b"[]"},
        sources=[b"one", b"two"],
        refs=[intent.as_ref("intent")],
    )


async def show(folder: Path, ledger: Ledger) -> None:
    """Show the log to its two witnesses."""
    log = parse_vkey(ledger.vkeys[0])
    policy = parse_policy(policy_text(log))
    cosigner = ledger.cosigner(policy, paired(policy, [await open_witness(folder, log, n) for n in (1, 2)]))
    try:
        assert (await ledger.show_to(cosigner)).lines
    finally:
        await cosigner.aclose()


async def make_scene(folder: Path) -> Scene:
    (folder / "home").mkdir()
    async with opened(folder / "home") as ledger:
        (folder / "trust.policy").write_bytes(policy_text(parse_vkey(ledger.vkey)))
        for number in range(REQUESTS):
            await ask(ledger, f"r{number}")
            if number % 2:
                (folder / f"checkpoint-{2 * number + 2}").write_text(await ledger.checkpoint(), "utf-8")
                await show(folder, ledger)
        return Scene(folder, ledger.vkey)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return asyncio.run(make_scene(tmp_path_factory.mktemp("scene")))


@pytest.fixture
def scene(original: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A copy of the scene to spoil."""
    without_settings(monkeypatch)
    copy = tmp_path / "scene"
    shutil.copytree(original.folder, copy)
    yield Scene(copy, original.vkey)


@pytest.fixture
def verify(scene: Scene, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run `exhibit ledger verify`: its exit code, and the step of the first problem or the verdict."""

    def command(*arguments: object, log: bool = True) -> tuple[int, str]:
        home = ["--home", scene.home] if log else []
        capsys.readouterr()
        code = run(["ledger", "verify", "--json", *map(str, home), *map(str, arguments)])
        document = json.loads(capsys.readouterr().out)
        if "error" in document:
            return code, document["error"]["message"].partition(":")[0]
        problems = document.get("problems", [])
        return code, problems[0]["step"] if problems else str(document["verdict"])

    return command


def spoil(database: Path, *statements: str) -> None:
    """Change the file as somebody with the disk does, who puts the triggers back; foreign keys off."""
    db: Any = apsw.Connection(str(database))
    db.create_scalar_function("flip", lambda data: bytes([data[0] ^ 1]) + data[1:])
    db.create_scalar_function("leaf_hash", hash_leaf)
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        db.execute(statement)
    for _, sql in triggers:
        db.execute(sql)
    db.close()


def test_the_scene_is_intact_and_witnessed(scene: Scene, verify: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify() == (INTACT, "intact")
    assert verify("--policy", scene.policy, "--outside", scene.folder / "checkpoint-8") == (INTACT, "intact")
    run(["ledger", "verify", "--home", str(scene.home)])
    assert "unwitnessed" in capsys.readouterr().out
    run(["ledger", "verify", "--home", str(scene.home), "--policy", str(scene.policy)])
    assert "witnessed up to 8 entries" in capsys.readouterr().out


SWAP = (
    "UPDATE {t} SET name = 'x' WHERE idx = 3 AND name = 'answer';"
    "UPDATE {t} SET name = 'answer' WHERE idx = 3 AND name = 'bundle';"
    "UPDATE {t} SET name = 'bundle' WHERE idx = 3 AND name = 'x';"
)
GONE = (
    "DELETE FROM blobs WHERE idx {where}; DELETE FROM secrets WHERE idx {where}; DELETE FROM leaves WHERE idx {where}"
)
DISK = {
    "a bit of a leaf": ("UPDATE leaves SET leaf = flip(leaf) WHERE idx = 3", "leaf-hash"),
    "a leaf with its hash": ("UPDATE leaves SET leaf = flip(leaf), hash = leaf_hash(flip(leaf)) WHERE idx = 3", "node"),
    "a bit of a part": ("UPDATE blobs SET blob = flip(blob) WHERE idx = 3 AND name = 'answer'", "part"),
    "a bit of a source": ("UPDATE blobs SET blob = flip(blob) WHERE idx = 3 AND name = 'sources/2'", "part"),
    "a bit of a salt": ("UPDATE secrets SET salt = flip(salt) WHERE idx = 3 AND name = 'answer'", "salt"),
    "a bit of a part's key": ("UPDATE secrets SET key = flip(key) WHERE idx = 3 AND name = 'answer'", "key"),
    "a bit of a tree node": ("UPDATE nodes SET hash = flip(hash) WHERE level = 1 AND n = 2", "node"),
    "a bit of a checkpoint's root": ("UPDATE checkpoints SET root = flip(root) WHERE size = 4", "checkpoint"),
    "a bit of a checkpoint": (
        "UPDATE checkpoints SET note = replace(note, 'exhibit', 'exhibiu') WHERE size = 4",
        "checkpoint",
    ),
    "parts swapped": (SWAP.format(t="blobs"), "part"),
    "parts swapped with salts and keys": (SWAP.format(t="blobs") + SWAP.format(t="secrets"), "salt"),
    "a middle row deleted": (GONE.format(where="= 3"), "index"),
    "the tail truncated": (GONE.format(where=">= 6"), "behind"),
    "rows reordered": (
        "UPDATE leaves SET idx = -1 WHERE idx = 3; UPDATE leaves SET idx = 3 WHERE idx = 4;"
        "UPDATE leaves SET idx = 4 WHERE idx = -1",
        "node",
    ),
    "a part deleted without a redaction": (
        "DELETE FROM blobs WHERE idx = 3 AND name = 'answer'; DELETE FROM secrets WHERE idx = 3 AND name = 'answer'",
        "part-missing",
    ),
    "a column that hides a row": ("UPDATE leaves SET tenant = 'nobody' WHERE idx = 3", "store"),
    "a number that hides a row": ("UPDATE leaves SET rseq = 99 WHERE idx = 7", "store"),
    "a checkpoint deleted": ("DELETE FROM cosignatures; DELETE FROM checkpoints WHERE size = 4", "seen"),
}


@pytest.mark.parametrize("attack", DISK)
def test_who_has_the_disk_is_found_out(scene: Scene, verify: Any, attack: str) -> None:
    statements, step = DISK[attack]
    spoil(scene.database, statements)
    assert verify() == (BROKEN, step)


def test_a_truncated_tail_is_found_without_what_is_outside(scene: Scene, verify: Any) -> None:
    spoil(scene.database, GONE.format(where=">= 6"))
    scene.highest.unlink()
    assert verify() == (BROKEN, "truncated")


def test_a_bit_of_a_cosignature(scene: Scene, verify: Any) -> None:
    spoil(
        scene.database,
        "UPDATE cosignatures SET line = substr(line, 1, length(line) - 6)"
        " || CASE substr(line, -6, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(line, -5) WHERE size = 8 AND n = 0",
    )
    assert verify("--policy", scene.policy) == (BROKEN, "cosignature")
    assert verify() == (INTACT, "intact")  # nobody was named whose cosignature it should be


def test_a_cosignature_taken_away(scene: Scene, verify: Any) -> None:
    spoil(scene.database, "DELETE FROM cosignatures WHERE size = 8 AND n = 0")
    assert verify("--policy", scene.policy) == (BROKEN, "quorum")


def resign(scene: Scene, *more: str) -> None:
    """Truncate the tail everywhere on this machine, and sign what is left, and something new, with the real key."""
    spoil(
        scene.database,
        "DELETE FROM cosignatures WHERE size > 4; DELETE FROM checkpoints WHERE size > 4",
        GONE.format(where=">= 6"),
        "DELETE FROM nodes WHERE (n + 1) << level > 6",
    )
    scene.highest.unlink()

    async def work() -> None:
        async with opened(scene.home) as ledger:
            for request_id in more:
                await ask(ledger, request_id)
            await ledger.checkpoint()

    asyncio.run(work())


def test_a_tail_truncated_and_signed_again_only_a_witness_can_tell(
    scene: Scene, verify: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    resign(scene)
    assert verify() == (INTACT, "intact")
    run(["ledger", "verify", "--home", str(scene.home)])
    assert "unwitnessed" in capsys.readouterr().out
    assert verify("--outside", scene.folder / "checkpoint-8") == (BROKEN, "behind")
    assert re.fullmatch("6 leaves are stored, witness w[12].example/witness has cosigned 8", asyncio.run(shown(scene)))


def test_a_history_rewritten_under_the_real_key_only_a_witness_can_tell(scene: Scene, verify: Any) -> None:
    resign(scene, "another", "more")
    assert verify() == (INTACT, "intact")
    assert verify("--outside", scene.folder / "checkpoint-8") == (BROKEN, "behind")
    assert verify("--outside", scene.folder / "checkpoint-4") == (INTACT, "intact")
    assert "are not this log's" in asyncio.run(shown(scene))


async def shown(scene: Scene) -> str:
    """What the witnesses say against the log."""
    async with opened(scene.home) as ledger:
        with pytest.raises(LogForked) as fork:
            await show(scene.folder, ledger)
        with pytest.raises(LogForked):
            await ask(ledger, "after")
        assert [problem.step for problem in (await ledger.verify()).problems] == ["behind"]
        return str(fork.value)


def test_a_log_put_back_from_a_backup_is_left_and_goes_on_beside_itself(scene: Scene, verify: Any) -> None:
    backup = scene.folder / "backup"
    shutil.copy2(scene.database, backup)

    async def go_on() -> None:
        async with opened(scene.home) as ledger:
            await ask(ledger, "later")
            await ledger.checkpoint()

    asyncio.run(go_on())
    for name in ("-wal", "-shm"):
        scene.database.with_name(scene.database.name + name).unlink(missing_ok=True)
    shutil.copy2(backup, scene.database)
    assert verify() == (BROKEN, "behind")

    async def restart() -> None:
        for turn in range(2):
            ledger = await open_log_to_write(scene.configuration)
            assert ledger.origin == "exhibit.local/ledger/2"
            assert ledger.vkey != scene.vkey
            first = (await ledger.entries(limit=1))[0]
            assert first.leaf.kind is Kind.INCIDENT
            detail = json.loads(await ledger.part(first.leaf.entry_id, "detail"))
            assert (detail["origin"], detail["stored"]["size"]) == ("exhibit.local/ledger", 8)
            assert parse_vkey(scene.vkey).name in detail["seen"]
            await ask(ledger, f"anew {turn}".replace(" ", "-"))
            await ledger.checkpoint()
            await ledger.aclose()

    asyncio.run(restart())
    assert asyncio.run(last_shard(backends_of(scene.configuration).ledger)) == 2
    assert verify("--shard", 2) == (INTACT, "intact")
    assert verify("--shard", 1) == (BROKEN, "behind")
    assert verify() == (BROKEN, "behind")  # all logs of the home are shown: the old one did not get better
    assert verify("--shard", 3)[0] not in (INTACT, BROKEN)


def test_a_shard_cut_off_before_its_incident_says_it_at_the_next_start(scene: Scene) -> None:
    scene.highest.write_text(sign_note(checkpoint_text(scene.key.name, TreeHead(99, b"x" * 32)), [scene.key]), "utf-8")

    async def restart() -> list[str]:
        ledger = await open_log_to_write(scene.configuration)
        kinds = [str(entry.leaf.kind) for entry in await ledger.entries()]
        await ledger.aclose()
        return kinds

    assert asyncio.run(restart()) == ["incident"]
    for name in ("ledger-2.sqlite", "ledger-2.sqlite-wal", "ledger-2.sqlite-shm"):
        (scene.home / name).unlink(missing_ok=True)
    (scene.home / "ledger-2.sqlite").touch()  # all that a kill at the wrong moment leaves
    assert asyncio.run(restart()) == ["incident"]


def test_a_highest_checkpoint_that_was_forged_stops_the_log(scene: Scene, verify: Any) -> None:
    scene.highest.write_text(scene.highest.read_text("utf-8").replace("\n8\n", "\n9\n"), "utf-8")
    assert verify() == (BROKEN, "behind")


def test_a_request_repeated_is_one_entry_and_a_forged_repeat_is_found(scene: Scene, verify: Any) -> None:
    async def repeat() -> None:
        async with opened(scene.home) as ledger:
            again = await ledger.record(Kind.INTENT, tenant="default", request_id="r1", parts={"question": b"Who?"})
            assert again.index == 2
            with pytest.raises(EntryConflict):
                await ledger.record(Kind.INTENT, tenant="default", request_id="r1", parts={"question": b"What?"})
            assert len(await ledger.entries()) == 2 * REQUESTS

    asyncio.run(repeat())
    assert verify() == (INTACT, "intact")
    # Whoever holds the key can let one request stand twice: renamed in its column, it passes the store's own check.
    spoil(scene.database, "UPDATE leaves SET req = 'hidden' WHERE idx = 2")
    asyncio.run(ask_again(scene))
    assert verify() == (BROKEN, "duplicate")


async def ask_again(scene: Scene) -> None:
    async with opened(scene.home) as ledger:
        await ledger.record(Kind.INTENT, tenant="default", request_id="r1", parts={"question": b"Who?"})
        await ledger.checkpoint()


def test_a_key_changed_in_the_middle(scene: Scene, verify: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "key", "rotate", "--home", str(scene.home)]) == 0
    new = capsys.readouterr().out.strip()

    async def go_on() -> tuple[str, str, str]:
        async with opened(scene.home) as ledger:
            assert ledger.vkeys == (scene.vkey, new)
            await ask(ledger, "after")
            ids = [entry.leaf.entry_id for entry in await ledger.entries()]
            checkpoint = await ledger.checkpoint()
            both = (await ledger.checkpoint_of(9)).text
            assert [both.count(f"— {scene.key.name} "), checkpoint.count("— ")] == [2, 1]
            return await ledger.receipt(ids[0], disclose=()), await ledger.receipt(ids[-1], disclose=()), both

    before, after, _ = asyncio.run(go_on())
    assert verify() == (INTACT, "intact")
    old_receipt, new_receipt = scene.folder / "old.tlog-proof", scene.folder / "new.tlog-proof"
    old_receipt.write_text(before, "utf-8")
    new_receipt.write_text(after, "utf-8")
    assert verify("--receipt", old_receipt, "--vkey", scene.vkey, log=False) == (INTACT, "intact")
    assert verify("--receipt", new_receipt, "--vkey", new, log=False) == (INTACT, "intact")
    assert verify("--receipt", new_receipt) == (INTACT, "intact")
    assert verify("--receipt", new_receipt, "--vkey", scene.vkey, log=False) == (BROKEN, "signature")
    capsys.readouterr()
    assert run(["ledger", "key", "list", "--home", str(scene.home), "--json"]) == 0
    assert [each["from_size"] for each in json.loads(capsys.readouterr().out)] == [0, 9]


@pytest.mark.parametrize("line", [-1, -2], ids=["of the new key", "of the replaced key"])
def test_a_bit_of_either_signature_of_the_checkpoint_at_a_change_of_keys(
    scene: Scene, verify: Any, capsys: pytest.CaptureFixture[str], line: int
) -> None:
    assert run(["ledger", "key", "rotate", "--home", str(scene.home)]) == 0
    new = capsys.readouterr().out.strip()

    async def signed_by_both() -> tuple[str, str]:
        async with opened(scene.home) as ledger:
            last = (await ledger.entries())[-1].leaf.entry_id
            return (await ledger.checkpoint_of(9)).text, await ledger.receipt(last, disclose=())

    note, receipt = asyncio.run(signed_by_both())
    folder, file = scene.folder / "export", scene.folder / "receipt.tlog-proof"
    assert run(["ledger", "export", str(folder), "--home", str(scene.home)]) == 0
    file.write_text(receipt, "utf-8")
    keys = ("--vkey", scene.vkey, "--vkey", new)
    for given in (("--export", folder, *keys), ("--receipt", file, *keys)):
        assert verify(*given, log=False) == (INTACT, "intact")

    def flipped(text: str) -> str:
        lines = text.removesuffix("\n").split("\n")
        lines[line] = lines[line][:-8] + ("A" if lines[line][-8] != "A" else "B") + lines[line][-7:]
        return "\n".join(lines) + "\n"

    (folder / "checkpoint").write_text(flipped((folder / "checkpoint").read_text("utf-8")), "utf-8")
    file.write_text(flipped(receipt), "utf-8")
    for given in (("--export", folder, *keys), ("--receipt", file, *keys)):
        assert verify(*given, log=False) == (BROKEN, "signature")
    spoil(scene.database, f"UPDATE checkpoints SET note = '{flipped(note)}' WHERE size = 9")
    assert verify()[0] == BROKEN


def test_a_replaced_key_signs_nothing_any_more(scene: Scene, verify: Any) -> None:
    assert run(["ledger", "key", "rotate", "--home", str(scene.home)]) == 0

    async def stolen() -> None:
        async with opened(scene.home) as ledger:
            await ask(ledger, "after")
            head = await ledger.head.stored()
        note = sign_note(checkpoint_text(scene.key.name, head), [scene.key])
        db: Any = apsw.Connection(str(scene.database))
        db.execute("INSERT INTO checkpoints VALUES (?, ?, ?)", (head.size, head.root, note))
        db.close()

    asyncio.run(stolen())
    assert verify() == (BROKEN, "signature")


FORGED_ROTATIONS: dict[str, Callable[[SigningKey, SigningKey], dict[str, str]]] = {
    "signed by the new key alone": lambda old, new: detail(old, new, [new]),
    "signed by the old key alone": lambda old, new: detail(old, new, [old]),
    "from another key": lambda old, new: detail(new, old, [old, new]),
    "to the same key": lambda old, new: detail(old, old, [old]),
    "to a key of another log": lambda old, new: detail(old, SigningKey.from_seed("other", b"x" * 32), [old]),
    "with more": lambda old, new: detail(old, new, [old, new]) | {"more": ""},
    "of another version": lambda old, new: detail(old, new, [old, new]) | {"v": "exhibit.key/2"},
    "a statement about others": lambda old, new: (
        detail(old, new, [old, new]) | {"statement": sign_note("another text\n", [old, new])}
    ),
    "no statement": lambda old, new: detail(old, new, [old, new]) | {"statement": ""},
    "nothing": lambda old, new: {},
}


def detail(old: SigningKey, new: SigningKey, signers: list[SigningKey]) -> dict[str, str]:
    statement = sign_note(statement_text(old.verifier, new.verifier), signers)
    return {"v": "exhibit.key/1", "from": str(old.verifier), "to": str(new.verifier), "statement": statement}


@pytest.mark.parametrize("name", FORGED_ROTATIONS)
def test_a_change_of_key_needs_both_keys(scene: Scene, verify: Any, name: str) -> None:
    new = SigningKey.from_seed(scene.key.name, b"n" * 32)
    body = FORGED_ROTATIONS[name](scene.key, new)

    async def forge() -> None:
        async with opened(scene.home) as ledger:
            await ledger.record(
                Kind.KEY, tenant=SYSTEM_TENANT, request_id=key_request(1), parts={"detail": canonical_json(body)}
            )
            with pytest.raises(VerificationFailed):
                await ledger.checkpoint()

    asyncio.run(forge())
    assert verify() == (BROKEN, "key")


async def receipt_of_the_first(scene: Scene) -> str:
    async with opened(scene.home) as ledger:
        return await ledger.receipt((await ledger.entries())[0].leaf.entry_id, disclose=())


@pytest.mark.parametrize("bit", [0, 5, 7])
def test_any_bit_of_a_receipt(scene: Scene, verify: Any, bit: int) -> None:
    """Also one that leaves no text: what was changed does not verify, it is no wrong use of the command."""
    file = scene.folder / "receipt.tlog-proof"
    data = asyncio.run(receipt_of_the_first(scene)).encode()
    for at in range(bit, len(data), 23):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
        assert verify("--receipt", file, "--vkey", scene.vkey, "--policy", scene.policy, log=False)[0] == BROKEN, at


@pytest.mark.parametrize("bit", [0, 7])
def test_a_bit_of_the_checkpoint_that_somebody_kept(scene: Scene, verify: Any, bit: int) -> None:
    file = scene.folder / "checkpoint-8"
    data = file.read_bytes()
    for at in range(0, len(data), 11):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
        assert verify("--outside", file)[0] == BROKEN, at


@pytest.mark.parametrize(("line", "step"), [(-1, "cosignature"), (-2, "cosignature"), (-3, "signature")])
def test_a_bit_of_a_signature_in_a_receipt(scene: Scene, verify: Any, line: int, step: str) -> None:
    lines = asyncio.run(receipt_of_the_first(scene)).removesuffix("\n").split("\n")
    file = scene.folder / "receipt.tlog-proof"
    given = ("--receipt", file, "--vkey", scene.vkey, "--policy", scene.policy)
    file.write_text("\n".join(lines) + "\n", "utf-8")
    assert verify(*given, log=False) == (INTACT, "intact")
    lines[line] = lines[line][:-8] + ("A" if lines[line][-8] != "A" else "B") + lines[line][-7:]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    assert verify(*given, log=False) == (BROKEN, step)


EXPORTED = {
    "a bit of a tile": ("tile/0/000.p/8", "tile"),
    "a bit of a bundle's length": ("tile/entries/000.p/8", "bundle"),
    "a bit of the checkpoint": ("checkpoint", "signature"),
}


@pytest.mark.parametrize("attack", EXPORTED)
def test_an_export_that_was_changed(scene: Scene, verify: Any, attack: str) -> None:
    folder = scene.folder / "export"
    assert run(["ledger", "export", str(folder), "--home", str(scene.home)]) == 0
    given = ("--export", folder, "--vkey", scene.vkey, "--policy", scene.policy)
    assert verify(*given, log=False) == (INTACT, "intact")
    path, step = EXPORTED[attack]
    data = bytearray((folder / path).read_bytes())
    data[1] ^= 1
    (folder / path).write_bytes(data)
    assert verify(*given, log=False) == (BROKEN, step)
    (folder / path).unlink()
    assert verify(*given, log=False)[0] == BROKEN


def test_an_export_whose_leaf_or_cosignature_was_changed(scene: Scene, verify: Any) -> None:
    folder = scene.folder / "export"
    assert run(["ledger", "export", str(folder), "--home", str(scene.home), "--format", "c2sp"]) == 0
    bundle, checkpoint = folder / "tile/entries/000.p/8", folder / "checkpoint"
    bundle.write_bytes(bundle.read_bytes().replace(b'"kind":"intent"', b'"kind":"intenT"', 1))
    assert verify("--export", folder, "--vkey", scene.vkey, log=False) == (BROKEN, "leaf")
    assert run(["ledger", "export", str(folder), "--home", str(scene.home)]) == 5  # the folder is not empty
    text = checkpoint.read_text("utf-8")
    line = text.rstrip("\n").split("\n")[-1]
    checkpoint.write_text(text.replace(line, line[:-8] + ("A" if line[-8] != "A" else "B") + line[-7:]), "utf-8")
    assert verify("--export", folder, "--vkey", scene.vkey, "--policy", scene.policy, log=False) == (
        BROKEN,
        "cosignature",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--receipt", "r", "--export", "e", "--vkey", "k"),
        ("--export", "nowhere", "--vkey", "k"),
        ("--export", "{here}", "--home", "{here}/empty"),
        ("--export", "{here}", "--vkey", "k", "--witness"),
        ("--receipt", "r", "--vkey", "k", "--outside", "o"),
        ("--receipt", "r", "--vkey", "k", "--seen", "s"),
        ("--witness",),
        ("--seen", "s"),
    ],
)
def test_nothing_that_was_asked_to_be_checked_is_passed_over(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    given = [each.replace("{here}", str(tmp_path)) for each in arguments]
    assert run(["ledger", "verify", *given]) == 2
