"""A TCP proxy between Exhibit and a real server, which can refuse, delay or garble what passes through it."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Proxy:
    """Listens on a port of loopback that stays its own from the first `open` on, and hands everything to `target`."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.delay_s = 0.0
        self.says: bytes | None = None

    @property
    def listening(self) -> bool:
        """Whether connections are taken."""
        return self._server is not None

    async def open(self) -> None:
        """Takes connections."""
        if self._server is not None:
            return
        self._server = await asyncio.start_server(self._take, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Refuses connections and drops those that there are."""
        if self._server is not None:
            self._server.close()
        self._server = None
        await self.drop()

    async def drop(self) -> None:
        """Breaks off every connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the sockets are closed in the loop's next turn, which may be its last

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            if self.says is not None:
                await self._lie(reader, writer, self.says)
            else:
                await self._forward(reader, writer)
            writer.close()
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()  # closing would wait for a reader who may stand still

    async def _lie(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, says: bytes) -> None:
        await reader.read(1)
        writer.write(says)
        await writer.drain()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, to_them = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, to_them, slow=False))
                group.create_task(self._pass(theirs, writer, slow=True))
        except* OSError:  # one side broke off, so the other is dropped
            pass
        finally:
            to_them.transport.abort()

    async def _pass(self, source: asyncio.StreamReader, to: asyncio.StreamWriter, *, slow: bool) -> None:
        while part := await source.read(65_536):
            if slow and self.delay_s:
                await asyncio.sleep(self.delay_s)
            to.write(part)
            await to.drain()
        with suppress(OSError, RuntimeError):
            to.write_eof()
