"""The filter language on PostgreSQL and pgvector: the same tests as over SQLite, Tantivy and the vectors in files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from retrieval.model import Lifecycle
from retrieval.registry.postgres import open_postgres_store
from retrieval.vector.pgvector import PgvectorChannel, PgvectorIndex
from tests.corpora import corpus, hidden
from tests.fakes_retrieval import HashEmbedder
from tests.services.postgres_backends import TIMEOUT_MS, schema_of
from tests.unit.test_filters import (  # noqa: F401  the tests themselves
    Stores,
    test_a_filter_means_the_same_everywhere,
    test_facts_and_metadata_change_apart,
    test_standard_fields_and_hidden_documents,
)

pytestmark = pytest.mark.services


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=[10_000, 3])
async def stores(
    request: pytest.FixtureRequest, postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stores]:
    """A fresh schema; with 3, every class is in a partition with an index."""
    folder: Path = tmp_path_factory.mktemp("filters")
    schema, embedder = schema_of(folder), HashEmbedder()
    content = corpus(11, documents=9) + hidden(12, documents=4)
    records = open_postgres_store(postgres_dsn, schema=schema)
    channel = PgvectorChannel.open(postgres_dsn, embedder=embedder, statement_timeout_ms=TIMEOUT_MS, schema=schema)
    index = PgvectorIndex.open(postgres_dsn, embedder=embedder, schema=schema, exact_rows=request.param)
    for batch in content.batches():
        ids = {r.document_id for r in batch.records}
        documents = [d for d in content.documents if d.facts.document_id in ids]
        await records.put_all(documents, batch, lifecycle=Lifecycle.ACTIVE)
        await index.add(batch)
    await index.commit()
    yield Stores(content, records, [channel])
    for part in (channel, index, records):
        await part.aclose()
