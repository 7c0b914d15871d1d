"""The contract of the entry index on a real PostgreSQL: the same tests as over the file."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import psycopg
import pytest

from ledger.search.entry_index import EntryIndex
from ledger.search.sql import SqlEntryIndex
from tests.contracts.test_entry_index import *  # noqa: F403

pytestmark = pytest.mark.services


@pytest.fixture
async def index(postgres_dsn: str) -> AsyncIterator[EntryIndex]:
    schema = f"index_{uuid.uuid4().hex[:12]}"
    made = await SqlEntryIndex.open_postgres(postgres_dsn, schema=schema)
    yield made
    await made.aclose()
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE".encode())
