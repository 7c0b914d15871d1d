"""The log's tables in a SQLite file, and the triggers that keep them insert-only."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import apsw

from ledger.errors import LedgerUnavailable, SchemaUnsupported
from ledger.stores.sqlite import checkpoints as sqlite_checkpoints

APPLICATION_ID = 0x45584C47  # "EXLG"
SCHEMA_VERSION = 2
BUSY_TIMEOUT_MS = 5_000
_SPACE = re.compile(r"\s")

_SCHEMA = """
CREATE TABLE log (
    id INTEGER PRIMARY KEY CHECK (id = 1), origin TEXT NOT NULL, vkey TEXT NOT NULL, pseudonym_check TEXT NOT NULL
) STRICT;
CREATE TABLE leaves (
    idx INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, tenant TEXT NOT NULL, req TEXT NOT NULL,
    replica TEXT NOT NULL, rseq INTEGER NOT NULL, hash BLOB NOT NULL CHECK (length(hash) = 32),
    leaf BLOB NOT NULL CHECK (length(leaf) <= 4096), UNIQUE (req, kind), UNIQUE (replica, rseq)
) STRICT;
CREATE TABLE nodes (
    level INTEGER NOT NULL, n INTEGER NOT NULL, hash BLOB NOT NULL CHECK (length(hash) = 32), PRIMARY KEY (level, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoints (size INTEGER PRIMARY KEY, root BLOB NOT NULL CHECK (length(root) = 32), note TEXT NOT NULL)
STRICT; CREATE TABLE secrets (
    idx INTEGER NOT NULL REFERENCES leaves (idx), name TEXT NOT NULL, salt BLOB NOT NULL, key BLOB NOT NULL, PRIMARY
    KEY (idx, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (idx INTEGER NOT NULL REFERENCES leaves (idx), name TEXT NOT NULL, blob BLOB NOT NULL, UNIQUE (idx,
name)) STRICT;
"""
# Of each table, when an inserted row would take the place of one that is there: REPLACE fires no other trigger.
_INSERT_ONLY = {
    "log": "EXISTS (SELECT 1 FROM log)",
    "leaves": "NEW.idx <> (SELECT coalesce(max(idx) + 1, 0) FROM leaves)"
    " OR EXISTS (SELECT 1 FROM leaves WHERE id = NEW.id)"
    " OR EXISTS (SELECT 1 FROM leaves WHERE req = NEW.req AND kind = NEW.kind)"
    " OR EXISTS (SELECT 1 FROM leaves WHERE replica = NEW.replica AND rseq = NEW.rseq)",
    "nodes": "EXISTS (SELECT 1 FROM nodes WHERE level = NEW.level AND n = NEW.n)",
    "checkpoints": "EXISTS (SELECT 1 FROM checkpoints WHERE size = NEW.size)",
}
# The newest leaf is one of the transaction itself: a batch that erases ends with its redaction.
_ONLY_WITH_REDACTION = """
CREATE TRIGGER IF NOT EXISTS {table}_redacted BEFORE DELETE ON {table}
    WHEN NOT EXISTS (SELECT 1 FROM leaves WHERE idx = (SELECT max(idx) FROM leaves) AND kind = 'redaction')
    BEGIN SELECT RAISE(ABORT, '{table} loses rows with a redaction only'); END;
CREATE TRIGGER IF NOT EXISTS {table}_no_update BEFORE UPDATE ON {table}
    BEGIN SELECT RAISE(ABORT, '{table} is insert-only'); END;
"""
# What takes version n to n + 1; whoever opens the file of an earlier version runs them first.
STEPS = {
    1: (
        sqlite_checkpoints.COSIGNATURES,
        *(_ONLY_WITH_REDACTION.format(table=table) for table in ("secrets", "blobs")),
    )
}


def connect(path: Path) -> apsw.Connection:
    """A connection to the log in that file, made if it is not there; one that may not be written is read as it stands.
    Raises LedgerUnavailable."""
    try:
        try:
            return _opened(str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, _prepare)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            if not path.exists():
                raise
            return _opened(as_it_stands(path), apsw.SQLITE_OPEN_READONLY, _migrate)
    except apsw.Error as exc:
        raise LedgerUnavailable(f"the ledger's file {path} cannot be used: {exc}") from exc


def as_it_stands(path: Path) -> str:
    """The name by which SQLite reads a file that nobody writes, with no file beside it. Raises LedgerUnavailable where
    somebody does, or did not close it: the newest entries are then in the file beside it."""
    beside = path.with_name(f"{path.name}-wal")
    if beside.exists() and beside.stat().st_size:
        raise LedgerUnavailable(
            f"{path} may not be written here, and its newest entries are in {beside}: copy the home"
        )
    return f"file:{quote(str(path))}?immutable=1"


def _opened(name: str, flags: int, prepare: Callable[[apsw.Connection], None]) -> apsw.Connection:
    db = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_URI)
    try:
        db.execute("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF")
        prepare(db)
    except BaseException:
        db.close()
        raise
    return db


def schema_faults(db: apsw.Connection) -> list[str]:
    """Tables, indexes and triggers that are not those of this version: one that is missing, changed or too many."""
    fresh = apsw.Connection(":memory:")
    _migrate(fresh)
    wanted, found = _schema(fresh), _schema(db)
    fresh.close()
    names = sorted(set(wanted) | set(found))
    faults = [name for name in names if wanted.get(name) != found.get(name)]
    what = {name: "missing" if name not in found else "unknown" if name not in wanted else "changed" for name in faults}
    return [f"{' '.join(name)} is {what[name]}" for name in faults]


def _schema(db: apsw.Connection) -> dict[tuple[str, str], str]:
    """The SQL that made each object, however it was spaced."""
    rows = db.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'")
    return {(kind, name): _SPACE.sub("", sql) for kind, name, sql in rows}


def _prepare(db: apsw.Connection) -> None:
    db.set_busy_timeout(BUSY_TIMEOUT_MS)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("BEGIN IMMEDIATE")
    try:
        _migrate(db)
        db.execute("COMMIT")
    except BaseException:
        if not db.get_autocommit():
            db.execute("ROLLBACK")
        raise


def _migrate(db: apsw.Connection) -> None:
    application, version = db.pragma("application_id"), db.pragma("user_version")
    if (application, version) == (APPLICATION_ID, SCHEMA_VERSION):
        return
    if application == APPLICATION_ID:
        raise SchemaUnsupported(f"the ledger has schema {version}, this program uses schema {SCHEMA_VERSION}")
    if application or version or db.execute("SELECT count(*) FROM sqlite_schema").get:
        raise LedgerUnavailable("the file is not a ledger of this version")
    db.execute(_SCHEMA)
    for table, taken in _INSERT_ONLY.items():
        db.execute(
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {taken}"
            f" BEGIN SELECT RAISE(ABORT, '{table} is insert-only'); END"
        )
        for verb in ("UPDATE", "DELETE"):
            db.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}"
                f" BEGIN SELECT RAISE(ABORT, '{table} is insert-only'); END"
            )
    for step in STEPS.values():
        for statement in step:
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
