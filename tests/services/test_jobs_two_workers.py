"""Jobs over PostgreSQL with two workers: one is killed at any point, the other goes on, and the corpus is that of one worker that
nobody disturbed. The store is held by one run at a time, whichever home it is of."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from api.errors import HomeBusy
from api.home.configuration import load
from api.wiring import open_indexes, open_ingest, open_job_store
from retrieval.errors import StoreUnavailable
from tests.api.test_job_kills import outcome, prepared
from tests.job_kills import worker
from tests.services.postgres_backends import schema_of

pytestmark = pytest.mark.services
ROUNDS = 5


@pytest.fixture
def dsn(postgres_dsn: str, tmp_path: Path) -> Iterator[str]:
    name = schema_of(tmp_path)
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    yield conninfo.make_conninfo(postgres_dsn, dbname=name)
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def emptied(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS exhibit CASCADE")


async def test_two_workers_of_which_one_is_killed_make_the_same_corpus(dsn: str, tmp_path: Path) -> None:
    environment = {"POSTGIS_DSN": dsn}
    await prepared(tmp_path / "whole")
    counted = worker(tmp_path / "whole", 0)
    points = int(counted.communicate()[0])
    expected = await outcome(load({}, home=tmp_path / "whole"))
    chance, killed = random.Random(18), 0
    for number in range(ROUNDS):
        emptied(dsn)
        home = tmp_path / f"killed-{number}"
        configuration = await prepared(home, environment)
        doomed = worker(home, chance.randrange(1, points), environment)
        other = worker(home, 0, environment)
        doomed.communicate()
        other.communicate()
        killed += doomed.returncode != 0
        assert other.returncode == 0
        found = await outcome(configuration)
        assert (found[0], found[2]) == (expected[0], expected[2])
        assert [(source, "done" if state == "skipped" else state) for source, state in found[1]] == expected[1]
    assert killed >= 2


async def test_a_store_is_held_by_one_run_whichever_home_it_is_of(dsn: str, tmp_path: Path) -> None:
    one, two = (load({"POSTGIS_DSN": dsn}, home=tmp_path / name) for name in ("one", "two"))
    async with open_ingest(one):
        with pytest.raises(HomeBusy):
            async with open_ingest(two):
                raise AssertionError
    async with open_ingest(two):
        pass


async def test_a_run_whose_hold_is_lost_ends(dsn: str, tmp_path: Path) -> None:
    configuration = load({"POSTGIS_DSN": dsn}, home=tmp_path / "home")
    with pytest.raises(StoreUnavailable, match="lost"):
        async with open_ingest(configuration):
            with psycopg.connect(dsn, autocommit=True) as connection:
                found = connection.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory'").fetchall()
                assert len(found) == 1
                connection.execute("SELECT pg_terminate_backend(%s)", found[0])
            await asyncio.sleep(60)


async def test_a_store_of_an_earlier_version_gets_the_table(dsn: str, tmp_path: Path) -> None:
    configuration = load({"POSTGIS_DSN": dsn}, home=tmp_path / "home")
    async with open_indexes(configuration) as (store, _, _indexes):
        await store.put_files([])
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE exhibit.ingest_job")
    async with open_job_store(configuration) as jobs:
        with pytest.raises(StoreUnavailable, match="earlier version"):
            await jobs.newest("default", limit=1)
        await jobs.prepare()
        assert await jobs.newest("default", limit=1) == ()
