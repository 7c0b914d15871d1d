"""One database file: writes that stand or fall whole, reads that a cancelled caller stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest

from retrieval.errors import IndexNotReady
from retrieval.files.sqlite_file import SqliteFile

SCHEMA = "CREATE TABLE IF NOT EXISTS t(x INTEGER NOT NULL)"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[SqliteFile]:
    opened = SqliteFile(tmp_path / "some.sqlite", schema=SCHEMA, readers=1)
    yield opened
    await opened.aclose()


async def values(file: SqliteFile) -> list[int]:
    return await file.read(lambda c: [row[0] for row in c.execute("SELECT x FROM t ORDER BY x")])


async def test_writes_are_seen_after_commit(file: SqliteFile) -> None:
    await file.write(lambda c: c.execute("INSERT INTO t VALUES (1)").get)
    assert await values(file) == []
    await file.commit()
    assert await values(file) == [1]


async def test_work_that_raises_leaves_nothing_of_itself_and_the_rest_stands(file: SqliteFile) -> None:
    def half(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (2)")
        connection.execute("INSERT INTO t VALUES (NULL)")

    await file.write(lambda c: c.execute("INSERT INTO t VALUES (1)").get)
    with pytest.raises(apsw.ConstraintError):
        await file.write(half)
    await file.commit()
    assert await values(file) == [1]


async def test_a_reader_cannot_write(file: SqliteFile) -> None:
    with pytest.raises(apsw.ReadOnlyError):
        await file.read(lambda c: c.execute("INSERT INTO t VALUES (1)").get)


async def test_a_reader_opens_while_a_write_is_in_progress(file: SqliteFile) -> None:
    await file.write(lambda c: c.execute("INSERT INTO t VALUES (1)").get)
    assert await values(file) == []


async def test_cancelling_stops_the_statement_and_frees_the_only_reader(file: SqliteFile) -> None:
    assert await values(file) == []
    task = asyncio.create_task(file.read(lambda c: c.execute(ENDLESS).get))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(5):
        assert await values(file) == []


async def test_cancelling_before_the_start_runs_nothing(file: SqliteFile) -> None:
    ran: list[int] = []
    blocker = asyncio.create_task(file.read(lambda c: c.execute(ENDLESS).get))
    await asyncio.sleep(0.05)
    waiting = asyncio.create_task(file.read(lambda _: ran.append(1)))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    blocker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await blocker
    assert await values(file) == []
    assert ran == []


async def test_what_is_not_committed_is_gone_after_closing(file: SqliteFile, tmp_path: Path) -> None:
    await file.write(lambda c: c.execute("INSERT INTO t VALUES (1)").get)
    await file.commit()
    await file.write(lambda c: c.execute("INSERT INTO t VALUES (2)").get)
    await file.aclose()
    await file.aclose()
    again = SqliteFile(tmp_path / "some.sqlite", schema=SCHEMA, readers=1)
    assert await values(again) == [1]
    await again.aclose()


async def test_a_folder_that_is_not_there_is_an_error_of_the_store(tmp_path: Path) -> None:
    lost = SqliteFile(tmp_path / "missing" / "some.sqlite", schema=SCHEMA)
    with pytest.raises(apsw.CantOpenError):
        await values(lost)
    await lost.aclose()


@pytest.mark.parametrize("older", [SCHEMA, SCHEMA + "; CREATE VIRTUAL TABLE r USING rtree(id, a, b)"])
async def test_another_schema_is_not_read_and_made_anew_by_the_first_write(
    file: SqliteFile, tmp_path: Path, older: str
) -> None:
    path = tmp_path / "older.sqlite"
    written = SqliteFile(path, schema=older)
    await written.write(lambda c: c.execute("INSERT INTO t VALUES (1)").get)
    await written.commit()
    await written.aclose()
    newer = SqliteFile(path, schema="CREATE TABLE t(x INTEGER NOT NULL, y INTEGER)", readers=1)
    with pytest.raises(IndexNotReady):
        await values(newer)
    await newer.write(lambda c: c.execute("INSERT INTO t VALUES (2, 3)").get)
    await newer.commit()
    assert await values(newer) == [2]
    assert await newer.read(lambda c: c.execute("SELECT count(*) FROM sqlite_master").get) == 1
    await newer.aclose()
