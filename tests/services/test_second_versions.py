"""The stores on PostgreSQL have a second version too: a planted one is taken by the command's own function, whole or not
at all; older and newer tables are refused with the command that helps."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from ledger.errors import SchemaUnsupported as LedgerSchemaUnsupported
from ledger.stores.postgres.schema import SCHEMA_VERSION as LEDGER_VERSION
from ledger.stores.postgres.store import PostgresLedgerStore, install
from ledger.stores.store import LogIdentity
from retrieval.errors import SchemaUnsupported
from retrieval.registry.postgres import SCHEMA_VERSION, open_postgres_store, upgrade_postgres_store
from tests.contracts.test_record_store import VISIBLE, fill
from tests.corpora import TENANT
from tests.services.postgres_backends import schema_of

pytestmark = pytest.mark.services

STEP = (
    "CREATE TABLE planted (n integer PRIMARY KEY)",
    "INSERT INTO planted SELECT generate_series(1, 1000)",
    "SELECT pg_sleep(0.5)",
)
IDENTITY = LogIdentity("planted.example/log", "vkey", "check")
RECORD = """
import asyncio, sys
from retrieval.registry.postgres import upgrade_postgres_store
from tests.services.test_second_versions import STEP, SCHEMA_VERSION
asyncio.run(upgrade_postgres_store(
    sys.argv[1], schema=sys.argv[2], version=SCHEMA_VERSION + 1, steps={SCHEMA_VERSION: STEP}))
"""
LEDGER = """
import asyncio, sys
from ledger.stores.postgres.store import install
from tests.services.test_second_versions import STEP, LEDGER_VERSION
asyncio.run(install(sys.argv[1], schema=sys.argv[2], version=LEDGER_VERSION + 1, steps={LEDGER_VERSION: STEP}))
"""


@pytest.fixture
def schema(tmp_path: Path) -> str:
    return schema_of(tmp_path)


def tables(dsn: str, schema: str) -> tuple[int, int]:
    """The version, and how many rows the planted table has; -1 where it is not there."""
    where = "store_generation" if _has(dsn, schema, "store_generation") else "log"
    column = "schema_version" if where == "store_generation" else "version"
    with psycopg.connect(dsn) as db:
        (version,) = db.execute(f"SELECT {column} FROM {schema}.{where}".encode()).fetchone() or (0,)
        rows = (-1,)
        if _has(dsn, schema, "planted"):
            rows = db.execute(f"SELECT count(*) FROM {schema}.planted".encode()).fetchone() or (0,)
    return int(version), int(rows[0])


def _has(dsn: str, schema: str, table: str) -> bool:
    with psycopg.connect(dsn) as db:
        row = db.execute("SELECT to_regclass(%s)", (f"{schema}.{table}",)).fetchone()
    return row is not None and row[0] is not None


def killed(program: str, dsn: str, schema: str) -> None:
    """Runs the migration and kills it while its last statement runs."""
    with subprocess.Popen([sys.executable, "-c", program, dsn, schema]) as process:
        for _ in range(2000):
            with psycopg.connect(dsn) as db:
                row = db.execute("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'").fetchone()
            if (row and row[0]) or process.poll() is not None:
                break
            time.sleep(0.01)
        process.kill()
        assert process.wait() != 0, "it was done before it was killed"
    time.sleep(1)  # the server ends the statement, and notices that nobody waits for it


async def test_the_store_of_record_is_taken_to_the_next_version(postgres_dsn: str, schema: str) -> None:
    store = open_postgres_store(postgres_dsn, schema=schema)
    await fill(store, VISIBLE)
    killed(RECORD, postgres_dsn, schema)
    assert tables(postgres_dsn, schema) == (SCHEMA_VERSION, -1)
    step = {SCHEMA_VERSION: STEP}
    found = await asyncio.gather(
        *(upgrade_postgres_store(postgres_dsn, schema=schema, version=SCHEMA_VERSION + 1, steps=step) for _ in range(3))
    )
    assert sorted(found) == [SCHEMA_VERSION, SCHEMA_VERSION + 1, SCHEMA_VERSION + 1]
    assert tables(postgres_dsn, schema) == (SCHEMA_VERSION + 1, 1000)
    with pytest.raises(SchemaUnsupported, match="the release that wrote it"):
        await store.classes(TENANT)
    with pytest.raises(SchemaUnsupported, match="the release that wrote it"):
        await upgrade_postgres_store(postgres_dsn, schema=schema)
    await store.aclose()


async def test_an_older_store_of_record_is_refused_with_the_command(postgres_dsn: str, schema: str) -> None:
    store = open_postgres_store(postgres_dsn, schema=schema)
    await fill(store, VISIBLE)
    with psycopg.connect(postgres_dsn) as foreign:
        foreign.execute(f"UPDATE {schema}.store_generation SET schema_version = 0".encode())
    with pytest.raises(SchemaUnsupported, match="exhibit index upgrade --backed-up"):
        await store.classes(TENANT)
    assert await upgrade_postgres_store(postgres_dsn, schema=schema, steps={0: ()}) == 0
    assert await store.classes(TENANT)
    await store.aclose()


async def test_a_step_that_fails_changes_nothing(postgres_dsn: str, schema: str) -> None:
    store = open_postgres_store(postgres_dsn, schema=schema)
    await fill(store, VISIBLE)
    steps = {SCHEMA_VERSION: (*STEP, "INSERT INTO nowhere VALUES (1)")}
    with pytest.raises(Exception, match="PostgreSQL says 42P01"):
        await upgrade_postgres_store(postgres_dsn, schema=schema, version=SCHEMA_VERSION + 1, steps=steps)
    assert tables(postgres_dsn, schema) == (SCHEMA_VERSION, -1)
    await store.aclose()


async def test_the_ledger_is_taken_to_the_next_version(postgres_dsn: str, schema: str) -> None:
    store = await PostgresLedgerStore.open(postgres_dsn, schema=schema)
    assert await store.bind(IDENTITY) == IDENTITY
    killed(LEDGER, postgres_dsn, schema)
    assert tables(postgres_dsn, schema) == (LEDGER_VERSION, -1)
    step = {LEDGER_VERSION: STEP}
    await asyncio.gather(
        *(install(postgres_dsn, schema=schema, version=LEDGER_VERSION + 1, steps=step) for _ in range(3))
    )
    assert tables(postgres_dsn, schema) == (LEDGER_VERSION + 1, 1000)
    with pytest.raises(LedgerSchemaUnsupported, match="the release that wrote it"):
        await store.bind(IDENTITY)
    with pytest.raises(LedgerSchemaUnsupported, match="the release that wrote it"):
        await install(postgres_dsn, schema=schema)
    assert await store.faults() == ()  # every trigger guards again
    await store.aclose()


async def test_an_older_ledger_is_refused_with_the_command(postgres_dsn: str, schema: str) -> None:
    store = await PostgresLedgerStore.open(postgres_dsn, schema=schema)
    await store.bind(IDENTITY)
    with psycopg.connect(postgres_dsn, autocommit=True) as foreign:
        for statement in ("DISABLE TRIGGER log_no_update", "ENABLE ALWAYS TRIGGER log_no_update"):
            foreign.execute(f"ALTER TABLE {schema}.log {statement}".encode())
            if statement.startswith("DISABLE"):
                foreign.execute(f"UPDATE {schema}.log SET version = 0".encode())
    with pytest.raises(LedgerSchemaUnsupported, match="exhibit ledger prepare"):
        await store.bind(IDENTITY)
    await install(postgres_dsn, schema=schema, steps={0: ()})
    assert await store.bind(IDENTITY) == IDENTITY
    await store.aclose()
