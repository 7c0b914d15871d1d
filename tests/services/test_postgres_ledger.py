"""The ledger's store on a real PostgreSQL: the contract of every store, and what only a server can show."""

from __future__ import annotations

import asyncio
import json
import signal
import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import psycopg
import pytest

from api.audit.log.search import EntryCriteria, EntrySearch
from api.home.configuration import Configuration, load
from api.wiring import open_entry_index
from api.wiring.ledger.log import open_log, open_log_to_write
from api.wiring.ledger.server import prepare_ledger_server
from ledger.errors import LedgerNotResponding, LedgerUnavailable, LogForked
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.search.entry_index import EntryQuery
from ledger.stores.postgres.store import PostgresLedgerStore, install
from ledger.stores.store import LedgerStore, PartAt
from tests.contracts.test_ledger_store import *  # noqa: F403
from tests.contracts.test_ledger_store import entry
from tests.ledger_doubles import open_ledger
from tests.services.conftest import missing
from tests.services.postgres_server import NotPrepared, installed, running

pytestmark = pytest.mark.services
BOUND_S = 60.0
GRACE_S = 10.0  # of a machine that others use too


@pytest.fixture
def schema() -> str:
    return f"ledger_{uuid.uuid4().hex[:12]}"


@pytest.fixture
async def store(postgres_dsn: str, schema: str) -> AsyncIterator[LedgerStore]:
    made = await PostgresLedgerStore.open(postgres_dsn, schema=schema)
    yield made
    await made.aclose()
    _as_superuser(postgres_dsn, f"DROP SCHEMA {schema} CASCADE")


def _as_superuser(dsn: str, *statements: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


async def filled(store: LedgerStore, *, entries: int = 5) -> Ledger:
    ledger = await open_ledger(store)
    for number in range(entries):
        await ledger.record(Kind.INTENT, tenant="t", request_id=f"r{number}", parts={"question": b"where?"})
    await ledger.checkpoint()
    return ledger


async def test_a_ledger_on_it_verifies_and_gives_receipts(store: LedgerStore) -> None:
    ledger = await filled(store)
    report = await ledger.verify()
    assert (report.ok, report.entries, report.problems) == (True, 5, ())
    entry_id = (await ledger.entries())[3].leaf.entry_id
    assert "c2sp.org/tlog-proof@v1" in await ledger.receipt(entry_id, disclose=["question"])


TABLES = ("log", "leaves", "nodes", "checkpoints", "secrets", "blobs")
CHANGES = [
    *(f"TRUNCATE {table} CASCADE" for table in (*TABLES, "head")),
    *(f"DELETE FROM {table}" for table in (*TABLES, "head")),
    "UPDATE leaves SET leaf = leaf || '\\x20'::bytea",
    "UPDATE leaves SET tenant = 'another' WHERE idx = 2",
    "UPDATE nodes SET n = n + 100",
    "UPDATE checkpoints SET note = 'signed'",
    "UPDATE log SET origin = 'mine'",
    "UPDATE secrets SET salt = ''",
    "UPDATE blobs SET blob = ''",
    "UPDATE head SET size = 3",
]


@pytest.mark.parametrize("role", ["origin", "replica"])
async def test_a_superuser_cannot_change_a_row_whatever_the_replication_role(
    store: LedgerStore, postgres_dsn: str, schema: str, role: str
) -> None:
    ledger = await filled(store)
    for change in CHANGES:
        with pytest.raises(psycopg.errors.RaiseException):
            _as_superuser(postgres_dsn, f"SET search_path = {schema}", f"SET session_replication_role = {role}", change)
    assert (await ledger.verify()).ok


async def test_a_leaf_whose_hash_is_another_is_refused(store: LedgerStore, postgres_dsn: str, schema: str) -> None:
    forged = "INSERT INTO leaves VALUES (0, gen_random_uuid(), 'intent', 't', 'r', 'a', 1, sha256('x'), 'leaf')"
    with pytest.raises(psycopg.errors.CheckViolation):
        _as_superuser(postgres_dsn, f"SET search_path = {schema}", forged)


async def test_what_a_superuser_changes_without_the_guards_shows_in_verify(
    store: LedgerStore, postgres_dsn: str, schema: str
) -> None:
    ledger = await filled(store)
    _as_superuser(
        postgres_dsn,
        f"SET search_path = {schema}",
        "ALTER TABLE leaves DISABLE TRIGGER leaves_no_update",
        "UPDATE leaves SET leaf = convert_to(replace(convert_from(leaf, 'UTF8'), 'r2', 'r9'), 'UTF8'),"
        " hash = sha256('\\x00'::bytea || convert_to(replace(convert_from(leaf, 'UTF8'), 'r2', 'r9'), 'UTF8'))"
        " WHERE idx = 2",
    )
    steps = {problem.step for problem in (await ledger.verify()).problems}
    assert {"store", "node", "root"} <= steps
    _as_superuser(
        postgres_dsn, f"SET search_path = {schema}", "ALTER TABLE leaves ENABLE ALWAYS TRIGGER leaves_no_update"
    )
    assert "store" not in {problem.step for problem in (await ledger.verify()).problems}


async def test_a_truncated_tail_shows_in_verify(store: LedgerStore, postgres_dsn: str, schema: str) -> None:
    ledger = await filled(store)
    _as_superuser(
        postgres_dsn,
        f"SET search_path = {schema}",
        "ALTER TABLE leaves DISABLE TRIGGER ALL",
        "DELETE FROM leaves WHERE idx = 4",
        "ALTER TABLE leaves ENABLE TRIGGER ALL",
    )
    assert {"store", "truncated"} <= {problem.step for problem in (await ledger.verify()).problems}


@pytest.fixture
def application(postgres_dsn: str, schema: str, store: LedgerStore) -> str:
    """The DSN of a login role that may only write."""
    name = f"app_{schema}"
    _as_superuser(postgres_dsn, f"CREATE ROLE {name} LOGIN PASSWORD 'app'", f"GRANT exhibit_ledger_writer TO {name}")
    return psycopg.conninfo.make_conninfo(postgres_dsn, user=name, password="app")


async def test_the_writer_may_select_and_insert_and_nothing_else(application: str, schema: str) -> None:
    store = await PostgresLedgerStore.open(application, schema=schema)
    await store.append([entry(1)])
    for change in [*CHANGES, f"DROP TABLE {schema}.leaves", "ALTER TABLE leaves DISABLE TRIGGER ALL",
                   "INSERT INTO head VALUES (2, 0)", "CREATE TABLE mine (x int)",
                   "SET ROLE exhibit_ledger_owner", "SET ROLE exhibit_ledger_redactor"]:  # fmt: skip
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable)):
            _as_superuser(application, f"SET search_path = {schema}", change)
    assert await store.size() == 1
    await store.aclose()


async def test_nobody_can_log_in_as_the_owner(store: LedgerStore, postgres_dsn: str) -> None:
    rows = _as_superuser(
        postgres_dsn,
        "SELECT r.rolcanlogin, (SELECT count(*) FROM pg_auth_members m WHERE m.roleid = r.oid) FROM pg_roles r"
        " WHERE r.rolname = 'exhibit_ledger_owner'",
    )
    assert rows == [(False, 0)]


async def test_leaves_that_do_not_follow_the_head_are_refused(application: str, schema: str) -> None:
    row = "gen_random_uuid(), 'intent', 't', 'r{0}', 'a', {0} + 1, sha256('\\x00'::bytea || 'x'), 'x'"
    for indexes in ([1], [0, 2], [-1]):
        values = ", ".join(f"({index}, {row.format(index)})" for index in indexes)
        with pytest.raises((psycopg.errors.RaiseException, psycopg.errors.CheckViolation)):
            _as_superuser(application, f"SET search_path = {schema}", f"INSERT INTO leaves VALUES {values}")


async def test_a_role_that_may_not_make_the_tables_is_told_so(application: str) -> None:
    with pytest.raises(LedgerUnavailable, match="cannot be made"):
        await PostgresLedgerStore.open(application, schema="not_there")


async def test_a_role_that_may_not_write_is_refused(postgres_dsn: str, schema: str, store: LedgerStore) -> None:
    name = f"reader_{schema}"
    _as_superuser(postgres_dsn, f"CREATE ROLE {name} LOGIN PASSWORD 'app'")
    dsn = psycopg.conninfo.make_conninfo(postgres_dsn, user=name, password="app")
    other = await PostgresLedgerStore.open(dsn, schema=schema)
    with pytest.raises(LedgerUnavailable):
        await other.size()
    await other.aclose()
    await install(postgres_dsn, schema=schema, writers=[name])
    other = await PostgresLedgerStore.open(dsn, schema=schema)
    assert await other.size() == 0
    await other.aclose()


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(LedgerUnavailable, match="reached"):
        await PostgresLedgerStore.open("postgresql://nobody:x@127.0.0.1:1/none")


async def test_a_redactor_erases_and_rewrites_and_a_writer_does_neither(
    application: str, postgres_dsn: str, schema: str, store: LedgerStore
) -> None:
    item = entry(1)
    writer = await PostgresLedgerStore.open(application, schema=schema)
    await writer.append([item])
    gone = [PartAt(item.leaf.entry_id, "question")]
    for forbidden in (writer.append([entry(2, kind=Kind.REDACTION)], erase=gone), writer.shrink()):
        with pytest.raises(LedgerUnavailable):
            await forbidden
    assert len(await writer.parts(item.leaf.entry_id)) == 2
    await install(postgres_dsn, schema=schema, redactors=[f"app_{schema}"])
    await writer.append([entry(2, kind=Kind.REDACTION)], erase=gone)
    await writer.shrink()
    assert [part.name for part in await writer.parts(item.leaf.entry_id)] == ["context"]
    await writer.aclose()


async def test_what_a_later_transaction_still_sees_is_not_left_behind(
    postgres_dsn: str, schema: str, store: LedgerStore
) -> None:
    """A transaction that began after the erasure, while an earlier one was still writing, sees what the earlier did."""
    item = entry(1)
    await store.append([item])
    table = f"SELECT pg_read_binary_file(pg_relation_filepath('{schema}.secrets'))"
    async with (
        await psycopg.AsyncConnection.connect(postgres_dsn) as writing,
        await psycopg.AsyncConnection.connect(postgres_dsn) as reading,
    ):
        await writing.execute("SELECT pg_current_xact_id()")
        erased = [PartAt(item.leaf.entry_id, part.name) for part in await store.parts(item.leaf.entry_id)]
        await store.append([entry(2, kind=Kind.REDACTION)], erase=erased)
        shrinking = asyncio.create_task(store.shrink())
        await asyncio.wait({shrinking}, timeout=0.3)
        await reading.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
        await reading.execute("SELECT 1")
        await writing.commit()
        await asyncio.wait({shrinking}, timeout=1)
        await reading.rollback()
        await shrinking
    [(left,)] = _as_superuser(postgres_dsn, f"SELECT count(*) FROM {schema}.secrets WHERE salt = 'salt'")
    [(data,)] = _as_superuser(postgres_dsn, "CHECKPOINT", table)
    assert isinstance(data, bytes)
    assert data.count(b"salt") == left


async def test_an_administrator_prepares_and_the_application_needs_no_more(postgres_dsn: str, tmp_path: Path) -> None:
    """`exhibit ledger prepare`, then a whole home as the login role that may only write."""
    name = f"app_{uuid.uuid4().hex[:12]}"
    database = f"db_{uuid.uuid4().hex[:12]}"
    _as_superuser(postgres_dsn, f"CREATE ROLE {name} LOGIN PASSWORD 'app'", f"CREATE DATABASE {database}")
    admin = psycopg.conninfo.make_conninfo(postgres_dsn, dbname=database)
    await prepare_ledger_server(admin, writers=[name], redactors=[])
    dsn = psycopg.conninfo.make_conninfo(admin, user=name, password="app")
    configuration = load({"EXHIBIT_LEDGER__DSN": dsn}, home=tmp_path)
    ledger = await open_log(configuration)
    await ledger.record(Kind.CONFIG, tenant="t", request_id="r", parts={"detail": b"{}"})
    async with open_entry_index(configuration, origin=ledger.origin) as index:
        wanted = EntryCriteria(EntryQuery(kind=Kind.CONFIG))
        found = await EntrySearch(ledger, index).page(wanted, after=-1, limit=10)
        counted, complete = await EntrySearch(ledger, index).counts(wanted)
    assert [entry.leaf.request_id for entry, _ in found.found] == ["r"]
    assert (counted.entries, counted.values["kind"], complete) == (1, (("config", 1),), True)
    assert (await ledger.verify()).ok
    await ledger.aclose()
    _as_superuser(postgres_dsn, f"DROP DATABASE {database} WITH (FORCE)")


async def _put_back(postgres_dsn: str, configuration: Configuration, database: str) -> None:
    """Entries, a backup of the database, more entries; then the backup in its place."""
    for number in range(2):
        ledger = await open_log_to_write(configuration)
        for each in range(3):
            await ledger.record(Kind.CONFIG, tenant="t", request_id=f"r{number}-{each}", parts={"detail": b"{}"})
        await ledger.checkpoint()
        await ledger.aclose()
        if number == 0:
            _as_superuser(postgres_dsn, f"CREATE DATABASE {database}_backup TEMPLATE {database}")
    _as_superuser(
        postgres_dsn,
        f"DROP DATABASE {database} WITH (FORCE)",
        f"ALTER DATABASE {database}_backup RENAME TO {database}",
    )


async def test_a_log_put_back_is_left_and_goes_on_in_tables_of_its_own(postgres_dsn: str, tmp_path: Path) -> None:
    name, database = f"app_{uuid.uuid4().hex[:12]}", f"db_{uuid.uuid4().hex[:12]}"
    _as_superuser(postgres_dsn, f"CREATE ROLE {name} LOGIN PASSWORD 'app'", f"CREATE DATABASE {database}")
    admin = psycopg.conninfo.make_conninfo(postgres_dsn, dbname=database)
    await prepare_ledger_server(admin, writers=[name], redactors=[])
    dsn = psycopg.conninfo.make_conninfo(admin, user=name, password="app")
    configuration = load({"EXHIBIT_LEDGER__DSN": dsn}, home=tmp_path)
    await _put_back(postgres_dsn, configuration, database)
    with pytest.raises(LogForked, match="exhibit ledger prepare --dsn ADMIN --writer ROLE --shard 2"):
        await open_log_to_write(configuration)
    await prepare_ledger_server(admin, writers=[name], redactors=[], shard=2)
    for turn in range(2):
        ledger = await open_log_to_write(configuration)
        assert (ledger.origin, ledger.fork) == ("exhibit.local/ledger/2", None)
        first = (await ledger.entries(limit=1))[0]
        detail = json.loads(await ledger.part(first.leaf.entry_id, "detail"))
        assert (first.leaf.kind, detail["origin"], detail["stored"]["size"]) == (
            Kind.INCIDENT,
            "exhibit.local/ledger",
            3,
        )
        await ledger.record(Kind.CONFIG, tenant="t", request_id=f"anew{turn}", parts={"detail": b"{}"})
        await ledger.checkpoint()
        assert (await ledger.verify()).ok
        async with open_entry_index(configuration, origin=ledger.origin) as index:
            found = await EntrySearch(ledger, index).page(
                EntryCriteria(EntryQuery(kind=Kind.CONFIG)), after=-1, limit=10
            )
        assert len(found.found) == turn + 1
        await ledger.aclose()
    old = await open_log(configuration, shard=1)
    assert [problem.step for problem in (await old.verify()).problems] == ["behind"]
    with pytest.raises(LogForked):
        await old.record(Kind.CONFIG, tenant="t", request_id="late", parts={"detail": b"{}"})
    await old.aclose()
    _as_superuser(postgres_dsn, f"DROP DATABASE {database} WITH (FORCE)")


async def test_who_may_make_tables_needs_no_administrator_to_go_on(postgres_dsn: str, tmp_path: Path) -> None:
    database = f"db_{uuid.uuid4().hex[:12]}"
    _as_superuser(postgres_dsn, f"CREATE DATABASE {database}")
    dsn = psycopg.conninfo.make_conninfo(postgres_dsn, dbname=database)
    configuration = load({"EXHIBIT_LEDGER__DSN": dsn}, home=tmp_path)
    await _put_back(postgres_dsn, configuration, database)
    ledger = await open_log_to_write(configuration)
    assert ledger.origin == "exhibit.local/ledger/2"
    assert [entry.leaf.kind for entry in await ledger.entries()] == [Kind.INCIDENT]
    await ledger.aclose()
    _as_superuser(postgres_dsn, f"DROP DATABASE {database} WITH (FORCE)")


async def test_a_server_that_stands_still_is_silent_at_the_deadline_and_loses_nothing(tmp_path: Path) -> None:
    """Who is told that an entry is durable finds it; who is told that the server is silent finds it whole or not at
    all; the store goes on by itself."""
    try:
        installation = installed()
    except NotPrepared as error:
        missing(str(error))
    with running(installation) as server:
        store = await PostgresLedgerStore.open(server.dsn, deadline_s=1.0)
        # Tasks of a pool that is left open end by no cancellation: the loop would wait for them for ever.
        async with aclosing(await open_ledger(store, deadline_s=1.0)) as ledger:
            await ledger.record(Kind.INTENT, tenant="t", request_id="first", parts={"question": b"where?"})
            tasks = [asyncio.create_task(_recorded(ledger, f"r{number}")) for number in range(100)]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            # Whatever of the first is durable by now, no answer about the second comes before the server stands still.
            tasks += [asyncio.create_task(_recorded(ledger, f"s{number}")) for number in range(100)]
            server.send(signal.SIGSTOP)
            try:
                async with asyncio.timeout(1.0 + GRACE_S):
                    told = dict(await asyncio.gather(*tasks))
                    with pytest.raises(LedgerNotResponding):
                        await store.size()
            finally:
                server.send(signal.SIGCONT)
            assert set(told.values()) == {True, False}
            async with asyncio.timeout(BOUND_S):
                while not (await _recorded(ledger, "after"))[1]:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            report = await ledger.verify()
            assert report.ok, report.problems
            found = {entry.leaf.request_id for entry in await ledger.entries(limit=1_000)}
            assert {request_id for request_id, durable in told.items() if durable} | {"first", "after"} <= found
            assert {entry.leaf.request_id for entry in await ledger.dangling(limit=1_000)} == found


async def _recorded(ledger: Ledger, request_id: str) -> tuple[str, bool]:
    try:
        await ledger.record(Kind.INTENT, tenant="t", request_id=request_id, parts={"question": b"where?"})
    except LedgerNotResponding:
        return request_id, False
    return request_id, True
