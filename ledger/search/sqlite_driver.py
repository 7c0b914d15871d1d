"""SQLite for SQLAlchemy by apsw, which opens every other database of a home: as much of a driver (PEP 249) as
SQLAlchemy's dialect asks of one.

With one library a file has one set of locks in a process, and a home's encryption, a hook of that library, reaches
every file. apsw itself follows SQLite rather than PEP 249.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

paramstyle = "qmark"
threadsafety = 1
apilevel = "2.0"
sqlite_version = apsw.sqlite_lib_version()
sqlite_version_info = tuple(int(each) for each in sqlite_version.split("."))
Error = apsw.Error
DatabaseError = apsw.Error
ProgrammingError = apsw.ConnectionClosedError
"""The error that SQLAlchemy takes for a lost connection."""
Binary = bytes


class Cursor:
    """A cursor whose rows are read when it is executed: the pages of an index are small."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._rows: list[tuple[Any, ...]] = []
        self.description: tuple[tuple[Any, ...], ...] | None = None
        self.rowcount = -1
        self.arraysize = 1

    @property
    def lastrowid(self) -> int:
        """The row that was added last."""
        return self._connection.last_insert_rowid()

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Cursor:
        """Run one statement. Raises apsw.Error."""
        described: list[tuple[tuple[Any, ...], ...]] = []

        def starts(cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
            described.append(tuple((name, *(None,) * 6) for name, *_ in cursor.get_description()))
            return True

        cursor = self._connection.cursor()
        cursor.exec_trace = starts  # the columns are known before the first row, and without one
        self._rows = cursor.execute(statement, tuple(parameters)).fetchall()
        self.description = described[-1] if described and described[-1] else None
        self.rowcount = -1 if self.description else self._connection.changes()
        return self

    def executemany(self, statement: str, parameters: Iterable[Sequence[Any]]) -> Cursor:
        """Run one statement for each row of parameters. Raises apsw.Error."""
        before = self._connection.total_changes()
        self._connection.cursor().executemany(statement, (tuple(each) for each in parameters)).fetchall()
        self._rows, self.description = [], None
        self.rowcount = self._connection.total_changes() - before
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row."""
        return self._rows.pop(0) if self._rows else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows."""
        count = size or self.arraysize
        taken, self._rows = self._rows[:count], self._rows[count:]
        return taken

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        taken, self._rows = self._rows, []
        return taken

    def close(self) -> None:
        """Drop the rows that are left."""
        self._rows = []


class SqliteConnection:
    """A connection in autocommit mode; who works in a transaction says BEGIN."""

    isolation_level: str | None = None

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def cursor(self) -> Cursor:
        """See PEP 249."""
        return Cursor(self._connection)

    def execute(self, statement: str) -> Cursor:
        """A statement without parameters."""
        return self.cursor().execute(statement)

    def commit(self) -> None:
        """Keep what the transaction did, if one is open."""
        if self._connection.in_transaction:
            self.execute("COMMIT")

    def rollback(self) -> None:
        """Take back what the transaction did, if one is open."""
        if self._connection.in_transaction:
            self.execute("ROLLBACK")

    def close(self) -> None:
        """Close it; a second call does nothing."""
        self._connection.close()

    def create_function(
        self, name: str, arguments: int, function: Callable[..., Any], *, deterministic: bool = False
    ) -> None:
        """Give SQL a function."""
        self._connection.create_scalar_function(name, function, arguments, deterministic=deterministic)


def connect(path: Path, *, busy_ms: int) -> SqliteConnection:
    """A connection to that file, which is made if it is not there; to a copy in memory where it may not be written.
    Raises apsw.Error."""
    try:
        connection = apsw.Connection(str(path))
        connection.set_busy_timeout(busy_ms)
        connection.execute("BEGIN IMMEDIATE; ROLLBACK")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection = _copy(path)
    return SqliteConnection(connection)


def _copy(path: Path) -> apsw.Connection:
    """A copy of the file in memory; an empty one if there is no file, or one that a writer left in the middle."""
    copy = apsw.Connection(":memory:")
    if path.exists() and not path.with_name(f"{path.name}-journal").exists():
        name, flags = f"file:{quote(str(path))}?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with closing(apsw.Connection(name, flags=flags)) as file, copy.backup("main", file, "main") as backup:
            backup.step()
    return copy
