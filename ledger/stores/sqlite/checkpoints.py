"""Checkpoints and their cosignatures in the SQLite file; insert-only like the leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from ledger.model import Checkpoint, TreeHead

# Added to files of schema version 1 when they are opened.
COSIGNATURES = """
CREATE TABLE cosignatures (
    size INTEGER NOT NULL REFERENCES checkpoints (size), n INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (size, n)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER cosignatures_no_replace BEFORE INSERT ON cosignatures
    WHEN EXISTS (SELECT 1 FROM cosignatures WHERE size = NEW.size AND n = NEW.n)
    BEGIN SELECT RAISE(ABORT, 'cosignatures is insert-only'); END;
CREATE TRIGGER cosignatures_no_update BEFORE UPDATE ON cosignatures
    BEGIN SELECT RAISE(ABORT, 'cosignatures is insert-only'); END;
CREATE TRIGGER cosignatures_no_delete BEFORE DELETE ON cosignatures
    BEGIN SELECT RAISE(ABORT, 'cosignatures is insert-only'); END;
"""
_CHECKPOINT = "SELECT size, root, note FROM checkpoints"
_SIGNED = "SELECT min(size) FROM checkpoints WHERE size >= ?"
_COSIGNED = "SELECT min(size) FROM cosignatures WHERE size >= ?"


def add(db: apsw.Connection, checkpoint: Checkpoint) -> None:
    """Keep the checkpoint unless one of its size is kept."""
    head = checkpoint.head
    if not db.execute("SELECT 1 FROM checkpoints WHERE size = ?", (head.size,)).fetchall():
        db.execute("INSERT INTO checkpoints VALUES (?, ?, ?)", (head.size, head.root, checkpoint.note))


def cosign(db: apsw.Connection, size: int, lines: Sequence[str]) -> None:
    """Keep the lines unless the checkpoint of that size bears some."""
    if not db.execute("SELECT 1 FROM cosignatures WHERE size = ?", (size,)).fetchall():
        db.executemany("INSERT INTO cosignatures VALUES (?, ?, ?)", [(size, n, line) for n, line in enumerate(lines)])


def kept(db: apsw.Connection, size: int) -> Checkpoint:
    """The checkpoint of that size, which is there."""
    found = _first(db, f"{_CHECKPOINT} WHERE size = ?", (size,))
    if found is None:
        raise apsw.CorruptError("a checkpoint is missing")
    return found


def latest(db: apsw.Connection) -> Checkpoint | None:
    """The largest checkpoint."""
    return _first(db, f"{_CHECKPOINT} ORDER BY size DESC LIMIT 1", ())


def covering(db: apsw.Connection, size: int, *, cosigned: bool) -> Checkpoint | None:
    """The smallest checkpoint of at least that size; with `cosigned`, the smallest such that bears cosignatures."""
    return _first(db, f"{_CHECKPOINT} WHERE size = ({_COSIGNED if cosigned else _SIGNED})", (size,))


def every(db: apsw.Connection) -> tuple[Checkpoint, ...]:
    """All checkpoints by size."""
    lines: dict[int, list[str]] = {}
    for size, line in _rows(db, "SELECT size, line FROM cosignatures ORDER BY size, n"):
        lines.setdefault(size, []).append(line)
    rows = _rows(db, f"{_CHECKPOINT} ORDER BY size")
    return tuple(Checkpoint(TreeHead(row[0], row[1]), row[2], tuple(lines.get(row[0], ()))) for row in rows)


def _first(db: apsw.Connection, sql: str, bindings: Sequence[Any]) -> Checkpoint | None:
    rows = _rows(db, sql, bindings)
    if not rows:
        return None
    size, root, note = rows[0]
    lines = _rows(db, "SELECT line FROM cosignatures WHERE size = ? ORDER BY n", (size,))
    return Checkpoint(TreeHead(size, root), note, tuple(line for (line,) in lines))


def _rows(db: apsw.Connection, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    return db.execute(sql, tuple(bindings)).fetchall()
