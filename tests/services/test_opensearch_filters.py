"""The filter language on a real OpenSearch: the same tests as over SQLite, Tantivy and the vectors in files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from retrieval.model import Lifecycle
from retrieval.registry.sqlite import open_sqlite_store
from tests.corpora import corpus, hidden
from tests.services.opensearch_backend import opener_on, wipe
from tests.unit.test_filters import (  # noqa: F401  the tests themselves
    Stores,
    test_a_filter_means_the_same_everywhere,
    test_standard_fields_and_hidden_documents,
)

pytestmark = pytest.mark.services


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stores(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stores]:
    """The documents and their metadata in SQLite, their text on the server."""
    folder: Path = tmp_path_factory.mktemp("filters")
    content = corpus(11, documents=9) + hidden(12, documents=4)
    records = open_sqlite_store(folder / "record.sqlite")
    async with opener_on(opensearch_url)(folder) as backend:
        for batch in content.batches():
            ids = {r.document_id for r in batch.records}
            documents = [d for d in content.documents if d.facts.document_id in ids]
            await records.put_all(documents, batch, lifecycle=Lifecycle.ACTIVE)
            await backend.index.add(batch)
        await backend.index.commit()
        yield Stores(content, records, [backend.channel])
    await records.aclose()
    await wipe(opensearch_url)
