"""The contract of channels and their indexes, asked of those on PostgreSQL: the same tests as over the embedded ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from tests.channel_backends import Backend, Opener
from tests.contracts.test_channel import *  # noqa: F403
from tests.contracts.test_channel_index import *  # noqa: F403
from tests.contracts.test_channel_index import CONTENT, WRITER, fill, seen, seen_of
from tests.contracts.test_shapes import *  # noqa: F403
from tests.services.postgres_backends import POSTGRES
from tests.writer_kills import write_and_kill

pytestmark = pytest.mark.services

# These open an embedded index by name; their like for a server stands below and in test_pgvector.py.
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


SERVER_WRITER = WRITER.replace(
    "tests.channel_backends import BACKENDS", "tests.services.postgres_backends import POSTGRES"
).replace("BACKENDS[sys.argv[1]](Path(sys.argv[2]))", "POSTGRES[sys.argv[1]](sys.argv[3], Path(sys.argv[2]))")


@pytest.mark.parametrize("name", POSTGRES)
async def test_after_a_writer_is_killed_every_document_is_wholly_there_or_can_be_added_again(
    name: str, postgres_dsn: str, tmp_path: Path
) -> None:
    opener, folder = partial(POSTGRES[name], postgres_dsn), tmp_path / "index"
    for delay_s in (0.02, 0.1):
        async with opener(folder) as reopened:
            await write_and_kill(SERVER_WRITER, name, folder, postgres_dsn, after_s=delay_s, watching=reopened.index)
            await reopened.index.remove(["nothing"])
            await reopened.index.commit()  # waits until the server has let go of the writer
            listed = await reopened.index.documents()
            shown = {hit.record_id.split("#")[0] for hits in await seen(reopened) for hit in hits}
            assert shown <= listed <= set(CONTENT.document_ids)
            await fill(reopened, CONTENT)
            assert await seen(reopened) == await seen_of(opener, tmp_path / f"fresh{delay_s}", CONTENT)
