"""Keeps a log signed: a checkpoint at intervals or after so many entries, and each one shown to the witnesses."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from ledger.errors import LedgerError, LogForked, WitnessUnavailable
from ledger.head import HeadSigner
from ledger.model import Checkpoint
from ledger.stores.store import LedgerStore
from ledger.witnesses.cosigning import Cosigner

_LOG = logging.getLogger("exhibit.ledger")
LONGEST_WAIT_S = 2.0
LOOK_EVERY_S = 0.1


class Checkpointer:
    """Signs the head of one log until it is closed. A fault that may pass is tried again at the next interval; a store
    that was changed, or a fork, stops the signing and is told by `fault`."""

    def __init__(
        self,
        *,
        store: LedgerStore,
        head: HeadSigner,
        cosigner: Cosigner | None = None,
        interval_s: float = 1.0,
        entries: int = 256,
        clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._clock_ms = clock_ms
        self._store = store
        self._head = head
        self._cosigner = cosigner
        self._interval_s = interval_s
        self._entries = entries
        self._compared = False
        self._signed = 0
        self._cosigned = -1
        self._task: asyncio.Task[None] | None = None
        self.fault: str | None = None

    async def start(self) -> None:
        """Compare the store with what the witnesses have cosigned, sign what is unsigned, and go on doing so. Raises
        LogForked. If no witness can be reached, nothing is signed until one can."""
        self._head.keep_signing(
            min(2 * self._interval_s, LONGEST_WAIT_S) + (self._cosigner.deadline_s if self._cosigner else 0)
        )
        self._head.published_ms = self._clock_ms()
        await self._turn()
        latest = await self._store.latest_checkpoint()
        if latest is not None:
            await self._head.announce(latest)
        fork = self._head.fork
        if fork is not None:
            raise fork
        self._task = asyncio.create_task(self._run())

    async def aclose(self) -> None:
        """Stop, and close the connections to the witnesses."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._cosigner is not None:
            await self._cosigner.aclose()

    async def _run(self) -> None:
        while True:
            await self._pause()
            await self._turn()

    async def _pause(self) -> None:
        """An interval, or less if enough entries wait for a signature."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._interval_s
        while (left := until - loop.time()) > 0:
            await asyncio.sleep(min(left, LOOK_EVERY_S))
            try:
                if await self._store.size() - self._signed >= self._entries:
                    return
            except LedgerError:
                continue

    async def _turn(self) -> None:
        try:
            if self._cosigner is not None and not self._compared:
                await self._compare(self._cosigner)
            signed = await self._head.checkpoint()
            await self._show(signed)
            await self._head.announce(signed)
            self._signed = signed.head.size
            if self._cosigner is None or self._cosigned == signed.head.size:
                self._head.published_ms = self._clock_ms()
                self._head.published_size = signed.head.size
            self.fault = None
        except LogForked as fork:
            self._head.refuse(fork)
            self._tell(fork)
        except LedgerError as exc:
            self._tell(exc)

    async def _compare(self, cosigner: Cosigner) -> None:
        """Show the witnesses the latest signed checkpoint, or that of the empty tree, before anything new is signed.
        Raises LogForked, WitnessUnavailable."""
        latest = await self._store.latest_checkpoint() or await self._head.empty()
        shown = await cosigner.cosign(latest)
        if not shown.reached:
            raise WitnessUnavailable("no witness can be reached to compare the log with")
        self._compared = True

    async def _show(self, signed: Checkpoint) -> None:
        if self._cosigner is None or signed.head.size == self._cosigned:
            return
        shown = await self._cosigner.cosign(signed)
        for each in shown.asked:
            if each.fault is not None:
                _LOG.warning("witness %s: %s", each.witness.key.name, each.fault)
        if shown.lines:
            self._cosigned = signed.head.size

    def _tell(self, exc: LedgerError) -> None:
        if self.fault != str(exc):
            _LOG.error("no checkpoint is signed: %s", exc)
        self.fault = str(exc)
