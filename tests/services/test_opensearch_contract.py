"""The contract of channels and their indexes, asked of a real OpenSearch: the same tests as over the embedded ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.channel_backends import Backend, Opener
from tests.contracts.test_channel import *  # noqa: F403  the suite
from tests.contracts.test_channel_index import *  # noqa: F403  the suite
from tests.contracts.test_shapes import *  # noqa: F403  the suite
from tests.services.opensearch_backend import opener_on, wipe

pytestmark = pytest.mark.services
# They are about the files of an embedded backend; their like is in test_opensearch_index.py and test_opensearch_faults.py.
del test_after_a_kill_every_document_is_wholly_there_or_can_be_added_again  # noqa: F821
del test_a_damaged_index_is_unavailable_and_says_no_path  # noqa: F821


@pytest.fixture
async def opener(opensearch_url: str) -> AsyncIterator[Opener]:
    yield opener_on(opensearch_url)
    await wipe(opensearch_url)


@pytest.fixture
def durable(opener: Opener) -> Opener:
    return opener


@pytest.fixture
async def backend(opener: Opener, tmp_path: Path) -> AsyncIterator[Backend]:
    async with opener(tmp_path / "index") as opened:
        yield opened
