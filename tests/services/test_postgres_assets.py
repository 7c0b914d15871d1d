"""The contract of the asset registry, asked of PostgreSQL: the same tests as over the file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retrieval.ingest.upkeep.upkeep import IngestStore
from retrieval.registry.assets.model import EntityFilters, RelationshipFilters
from retrieval.registry.postgres import open_postgres_store
from retrieval.registry.sqlite import open_sqlite_store
from tests.contracts.test_asset_reads import *  # noqa: F403
from tests.contracts.test_asset_reads import CONTENT, EVERYONE
from tests.contracts.test_record_store import fill
from tests.services.postgres_backends import schema_of

pytestmark = pytest.mark.services


@pytest.fixture
async def store(postgres_dsn: str, tmp_path: Path) -> AsyncIterator[IngestStore]:
    opened: IngestStore = open_postgres_store(postgres_dsn, schema=schema_of(tmp_path))
    yield opened
    await opened.aclose()


async def test_both_products_list_the_same(store: IngestStore, tmp_path: Path) -> None:
    embedded: IngestStore = open_sqlite_store(tmp_path / "record.sqlite")
    for one in (store, embedded):
        await fill(one, CONTENT)
    for read in (
        lambda s: s.entity_statements(EntityFilters(), scope=EVERYONE),
        lambda s: s.relationships(RelationshipFilters(), scope=EVERYONE),
    ):
        assert await read(store) == await read(embedded) != ()
    listed = [await one.assets(scope=EVERYONE, lifecycles=("active",)) for one in (store, embedded)]
    told = [[(a.facts, a.media_type, a.stored_sha256, a.metadata) for a in assets] for assets in listed]
    assert told[0] == told[1] != []
    await embedded.aclose()
