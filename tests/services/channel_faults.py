"""What every channel over a server of ours must do when that is killed: shared by the tests of the single stores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import pytest

from retrieval.channels.channel import Channel
from retrieval.errors import ChannelError, ChannelUnavailable
from retrieval.index import ChannelIndex
from retrieval.model import Query, Run
from tests.corpora import Corpus
from tests.services.recovery import recovered

SHORT_S = 2.0
GRACE_S = 5.0  # of a machine that others use too
Opener = Callable[[float], AbstractAsyncContextManager[Channel]]


class Mortal(Protocol):
    """A server that can be killed and started again."""

    def kill(self) -> None: ...
    def start(self) -> None: ...


async def refused(channel: Channel, probe: Query) -> ChannelError:
    """The error of a search, which comes within the deadline and names no address."""
    with pytest.raises(ChannelError) as caught:
        async with asyncio.timeout(SHORT_S + GRACE_S):
            await channel.search(probe)
    assert "127.0.0.1" not in caught.value.message
    return caught.value


async def unavailable_and_found_again(server: Mortal, opened: Opener, probe: Query, *, deadline_s: float) -> None:
    """Searches on their way end whole or as unavailable, later ones as unavailable at once, and the same channel gives
    the same runs when the server is back."""
    async with opened(deadline_s) as channel, opened(SHORT_S) as other:
        runs = await asyncio.gather(*(channel.search(probe) for _ in range(8)))  # a pool of connections
        searches = [asyncio.create_task(_outcome(channel, probe)) for _ in range(8)]
        server.kill()
        assert all(o == runs[0] or isinstance(o, ChannelUnavailable) for o in await asyncio.gather(*searches))
        for _ in range(3):
            assert isinstance(await refused(other, probe), ChannelUnavailable)
        await asyncio.to_thread(server.start)
        again = [recovered(lambda: channel.search(probe)) for _ in range(8)]
        assert await asyncio.gather(*again) == runs


async def commit_made_again(server: Mortal, index: ChannelIndex, *, there: Corpus, more: Corpus) -> None:
    """A commit that a kill interrupts leaves nothing, and can be made again. Closes the index."""
    await index.add(more.batch())
    server.kill()
    with pytest.raises(ChannelUnavailable):
        await index.commit()
    with pytest.raises(ChannelUnavailable):
        await index.documents()
    await asyncio.to_thread(server.start)
    assert await recovered(index.documents) == set(there.document_ids)
    await index.add(more.batch())
    await recovered(index.commit)
    assert await index.documents() == {*there.document_ids, *more.document_ids}
    await index.aclose()


async def _outcome(channel: Channel, probe: Query) -> Run | ChannelError:
    try:
        return await channel.search(probe)
    except ChannelError as error:
        return error
