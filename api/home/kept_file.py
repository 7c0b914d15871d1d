"""Database files that outlive a release. Each has a schema version (SQLite's `user_version`), and an older one is
brought up to date when it is opened.

Before the first statement a whole copy is made beside the file, named after its version (`ledger.sqlite.v1`). All steps
are one transaction, so a process that is killed, or a full disk, leaves the file as it was. Of two processes the second
waits and finds the work done. A file of a later version is refused.

Only SQLite opens these files: POSIX drops every lock that a process holds on a file when it closes any handle of it, so
a look into the header would open the file to other writers in the middle of a transaction.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import apsw

from api.errors import HomeFileBusy, HomeUnusable, VersionUnsupported

Statements = Sequence[str]
_BUSY_MS = 30_000


@dataclass(frozen=True, slots=True)
class KeptSchema:
    """The schema of a kept file: `steps[n]` takes version n to n + 1, and has no statements where only the number
    changed. `create` makes the tables of `version` in an empty file; None where the store makes its own."""

    name: str
    version: int
    steps: Mapping[int, Statements] = field(default_factory=dict)
    create: Statements | None = None


def bring_up_to_date(path: Path, schema: KeptSchema) -> Path | None:
    """Take the file to the version of `schema`; returns the copy that was made of an older one. Does nothing for a file
    that is not there. Raises VersionUnsupported, HomeFileBusy, HomeUnusable; the file is then as it was."""
    version = None
    try:
        if not path.exists():
            return None
        with closing(_connected(path)) as db:
            db.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            db.execute("PRAGMA synchronous = FULL")
            version = _version(db)
            if version == schema.version:
                return None
            db.execute("BEGIN IMMEDIATE")  # an error closes the connection, which takes everything back
            copy = _migrate(db, path, schema)
            db.execute("COMMIT")
    except apsw.BusyError as exc:
        raise HomeFileBusy(f"another process is using {path}") from exc
    except (apsw.Error, OSError) as exc:
        reason = getattr(exc, "strerror", None) or exc
        if version is not None:
            told = f"{path} cannot be brought to version {schema.version} of {schema.name}: {reason}"
        elif isinstance(exc, apsw.ReadOnlyError | apsw.CantOpenError):
            if _version_as_it_stands(path) == schema.version:
                return None
            told = f"{path} cannot be used, because it or its folder may not be written: {reason}; copy the home"
        else:
            told = f"{path} cannot be used: {reason}"
        raise HomeUnusable(told) from exc
    return copy


@contextmanager
def kept_connection(
    path: Path, schema: KeptSchema, *, create: bool = True, busy_ms: int = 2_000
) -> Iterator[apsw.Connection]:
    """A connection to a file of the schema, brought up to date, and closed with the context; with `create` the file is
    made for its owner alone where there is none. Raises HomeUnusable, HomeFileBusy, VersionUnsupported."""
    try:
        if create and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        bring_up_to_date(path, schema)
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            db.set_busy_timeout(busy_ms)
            yield db
        finally:
            db.close()
    except apsw.BusyError as exc:
        raise HomeFileBusy(f"another process or request is using {path}") from exc
    except (OSError, apsw.Error) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise HomeUnusable(f"the {schema.name} in {path} cannot be used: {reason}") from exc


def _migrate(db: apsw.Connection, path: Path, schema: KeptSchema) -> Path | None:
    version, copy = _version(db), None
    if version == schema.version:  # another process was first
        return None
    if not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall():
        if schema.create is None:
            return None
        statements: Statements = schema.create
    elif version > schema.version or any(n not in schema.steps for n in range(version, schema.version)):
        raise VersionUnsupported(
            f"{path} holds {schema.name} of version {version}, and this program reads up to {schema.version}: use the"
            " release that wrote it or a later one"
        )
    else:
        statements = [each for n in range(version, schema.version) for each in schema.steps[n]]
        copy = _copy(path, version) if statements else None
    for statement in statements:
        db.execute(statement)
    db.execute(f"PRAGMA user_version = {schema.version}")
    return copy


def _copy(path: Path, version: int) -> Path:
    """A whole copy, complete or absent; the caller holds the write lock."""
    copy = path.with_name(f"{path.name}.v{version}")
    beside = copy.with_name(f"{copy.name}.part")
    try:
        beside.unlink(missing_ok=True)
        beside.touch(mode=path.stat().st_mode & 0o777)
        with closing(_connected(path)) as reader:
            reader.execute("VACUUM INTO '" + str(beside).replace("'", "''") + "'")
        _sync(beside)
        beside.replace(copy)
        _sync(copy.parent)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return copy


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _connected(path: Path) -> apsw.Connection:
    """In autocommit mode; the file must be there."""
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)


def _version_as_it_stands(path: Path) -> int | None:
    """The version of a file that may not be written: read without files beside it, which SQLite makes else."""
    try:
        name = f"file:{quote(str(path))}?immutable=1"
        with closing(apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)) as db:
            return _version(db)
    except apsw.Error:
        return None


def _version(db: apsw.Connection) -> int:
    return int(db.pragma("user_version"))
