"""Logs that were tampered with: by somebody who has the disk, and by somebody who has the log's keys too."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from ledger.model import Kind
from tests.harness import ask, opened


@contextmanager
def changed(home: Path, *statements: str) -> Iterator[None]:
    """The log's file changed by somebody with the disk, who puts the triggers back; afterwards as it was."""
    db = apsw.Connection(str(home / "ledger.sqlite"))
    db.create_scalar_function("flip", lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:])
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    held = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in ("secrets", "blobs")}
    try:
        _without(db, triggers, statements)
        yield
    finally:
        fields = {"secrets": "(idx, name, salt, key)", "blobs": "(idx, name, blob)"}
        _without(db, triggers, [f"DELETE FROM {name}" for name in held])
        for name, rows in held.items():
            marks = ", ".join("?" * len(rows[0]))
            db.executemany(f"INSERT INTO {name} {fields[name]} VALUES ({marks})", rows)
        db.close()


def _without(db: apsw.Connection, triggers: Collection[Any], statements: Collection[str]) -> None:
    db.execute("BEGIN IMMEDIATE")
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        db.execute(statement)
    for _, sql in triggers:
        db.execute(sql)
    db.execute("COMMIT")


async def forged(home: Path, question: str, alter: Mapping[str, Callable[[bytes], bytes]]) -> str:
    """Put an answer on the log of the home as another home with the same corpus and keys recorded it, but for those parts, as
    whoever holds the keys can. Returns the entry's id."""
    twin = home.parent / f"twin-of-{home.name}"
    async with opened(home):  # has its keys from now on
        pass
    shutil.copytree(home, twin)
    async with opened(twin) as true:
        before = await true.services.ledger.size()
        await ask(true, question)
        made = await true.services.ledger.entries(after=before - 1)
        held = [(entry, await true.services.ledger.contents(entry)) for entry in made]
        sources = [await true.services.ledger.sources(entry.leaf.entry_id) for entry in made]
    async with opened(home) as false:
        refs = dict[str, Any]()
        for (entry, parts), cited in zip(held, sources, strict=True):
            leaf, outcome = entry.leaf, entry.leaf.kind is Kind.OUTCOME
            told = {name: alter[name](data) if outcome and name in alter else data for name, data in parts.items()}
            ref = await false.services.ledger.record(
                leaf.kind,
                tenant="default",
                request_id=leaf.request_id,
                parts={name: data for name, data in told.items() if not name.startswith("sources")},
                sources=cited,
                refs=[refs[each.id].as_ref(each.rel) if each.id in refs else each for each in leaf.refs],
                entry_id=leaf.entry_id,
            )
            refs[leaf.entry_id] = ref
        await false.services.ledger.checkpoint()
    shutil.rmtree(twin)
    return entry.leaf.entry_id
