"""The contract of channels and their indexes, asked of those on PostgreSQL: the same tests as over the embedded ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from tests.channel_backends import Backend, Opener
from tests.contracts.test_channel import *  # noqa: F403
from tests.contracts.test_channel_index import *  # noqa: F403
from tests.services.postgres_backends import POSTGRES

pytestmark = pytest.mark.services

# These name files and processes of an embedded index; their like for a server stands in test_pgvector.py.
del test_a_damaged_index_is_unavailable_and_says_no_path  # noqa: F821
del test_after_a_kill_every_document_is_wholly_there_or_can_be_added_again  # noqa: F821


@pytest.fixture(params=POSTGRES)
def opener(request: pytest.FixtureRequest, postgres_dsn: str) -> Opener:
    return partial(POSTGRES[request.param], postgres_dsn)


@pytest.fixture(params=POSTGRES)
def durable(request: pytest.FixtureRequest, postgres_dsn: str) -> Opener:
    return partial(POSTGRES[request.param], postgres_dsn)


@pytest.fixture
async def backend(opener: Opener, tmp_path: Path) -> AsyncIterator[Backend]:
    async with opener(tmp_path / "index") as opened:
        yield opened
