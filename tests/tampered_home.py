"""A home with an entry of every kind, what its auditors hold outside of it, and how somebody with the disk changes it."""

from __future__ import annotations

import asyncio
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import apsw

from ai.case.profiles import BASIC
from ai.model import Ask, Options
from ai.retrieve import retrieve
from ai.search.surface import Surface
from api import wiring
from api.cli.main import run
from api.home.configuration import load
from api.wiring.ledger.log import open_log
from ledger.ledger import SYSTEM_TENANT, Ledger
from ledger.merkle.tree import hash_leaf
from ledger.model import Kind, VerifyReport
from ledger.notes.note import parse_vkey
from ledger.notes.trust import TrustPolicy, parse_policy
from tests.api_world import FERRY, POPULATION, make_world
from tests.harness import ask, opened, subject
from tests.ledger_witnesses import open_witness, paired, policy_text


@dataclass(frozen=True)
class TamperedHome:
    """The home in a folder, and beside it receipts, an export, a package, a report, an answer and a kept checkpoint."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def database(self) -> Path:
        return self.home / "ledger.sqlite"

    @property
    def policy(self) -> TrustPolicy:
        return parse_policy((self.folder / "trust.policy").read_bytes())

    @property
    def vkeys(self) -> tuple[str, ...]:
        return tuple((self.folder / "vkeys").read_text("utf-8").split())

    def copied(self, folder: Path) -> TamperedHome:
        return TamperedHome(Path(shutil.copytree(self.folder, folder)))

    async def verified(self) -> VerifyReport:
        """What the log says of itself, held to the policy."""
        ledger = await open_log(load({}, home=self.home))
        try:
            return await ledger.verify(policy=self.policy)
        finally:
            await ledger.aclose()

    async def chosen(self) -> dict[Kind, tuple[int, int]]:
        """Of each kind the index of an entry whose parts are all there, and that of another entry."""
        ledger = await open_log(load({}, home=self.home))
        try:
            entries = [entry async for entry in ledger.every()]
            whole = [e for e in entries if set(e.leaf.parts) <= set(await ledger.part_names(e.leaf.entry_id))]
        finally:
            await ledger.aclose()
        found = dict[Kind, tuple[int, int]]()
        for kind in Kind:
            same = [entry.index for entry in whole if entry.leaf.kind is kind]
            others = [entry.index for entry in whole if entry.leaf.kind is not kind]
            found[kind] = (same[0], (same[1:] or others)[0])
        return found


async def _show(folder: Path, ledger: Ledger, policy: TrustPolicy) -> None:
    log = parse_vkey(ledger.vkeys[0])
    cosigner = ledger.cosigner(policy, paired(policy, [await open_witness(folder, log, n) for n in (1, 2)]))
    try:
        assert (await ledger.show_to(cosigner)).lines
    finally:
        await cosigner.aclose()


async def _asked(home: Path) -> None:
    """Questions, a search and an incident."""
    async with opened(home) as system:
        for question, role in ((POPULATION, "public_viewer"), (FERRY, "contributor"), (POPULATION, "contributor")):
            await ask(system, question, role=role)
        for _ in range(2):
            asked = Ask(wiring.new_id(), POPULATION, subject(system), options=Options(profile="basic", top_k=3))
            await retrieve(asked, services=system.services, profile=BASIC, surface=Surface("basic"))
            await system.services.ledger.record(
                Kind.INCIDENT, tenant=SYSTEM_TENANT, request_id=wiring.new_id(), parts={"detail": b'{"what":"test"}'}
            )


async def _witnessed(scene: TamperedHome) -> str:
    """Sign the log and show it to its witnesses; the checkpoint."""
    ledger = await open_log(load({}, home=scene.home))
    try:
        (scene.folder / "vkeys").write_text("\n".join(ledger.vkeys), "utf-8")
        if not (scene.folder / "trust.policy").exists():
            (scene.folder / "trust.policy").write_bytes(policy_text(parse_vkey(ledger.vkey)))
        note = await ledger.checkpoint()
        await _show(scene.folder, ledger, scene.policy)
        return note
    finally:
        await ledger.aclose()


def exhibit(*words: object) -> tuple[int, str]:
    """A command of `exhibit`; its exit code and what it prints."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
        code = run([str(word) for word in words])
    return code, out.getvalue()


def make_home(folder: Path) -> TamperedHome:
    """A home with entries of every kind, witnessed twice, and what its auditors took with them."""
    scene = TamperedHome(folder)
    home = asyncio.run(make_world(folder)).configuration.home
    asyncio.run(_asked(home))

    def told(*words: object) -> str:
        code, out = exhibit(*words, "--home", home)
        assert code == 0, (words, out)
        return out

    told("key", "create", "--name", "more", "--role", "public_viewer")
    told("ledger", "redact", "--source", "ferry", "--basis", "x")
    (folder / "kept-checkpoint").write_text(asyncio.run(_witnessed(scene)), "utf-8")
    (folder / "answer.json").write_text(told("ask", POPULATION, "--json"), "utf-8")
    told("ledger", "key", "rotate")
    asyncio.run(_witnessed(scene))
    told("ledger", "search", "--text", "Shawnee")  # makes the index of entries
    entry_id = json.loads((folder / "answer.json").read_bytes())["provenance"]["entry_id"]
    (folder / "receipt").write_text(told("ledger", "proof", entry_id, "--disclose", "sources/1"), "utf-8")
    told("ledger", "export", folder / "export")
    told("ledger", "package", entry_id, "--out", folder / "package.zip")
    return scene


def tamper(database: Path, statements: str) -> None:
    """Change the file as somebody with the disk does, who puts back the triggers that were in the way."""
    db: Any = apsw.Connection(str(database))
    db.create_scalar_function("flip", lambda data: data[:12] + bytes([data[12] ^ 1]) + data[13:])
    db.create_scalar_function("leaf_hash", hash_leaf)
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    db.execute("PRAGMA synchronous = OFF; BEGIN")
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    db.execute(statements)
    for _, sql in triggers:
        db.execute(sql)
    db.execute("COMMIT")
    db.close()
