"""Outages on the record: that no checkpoint could be published for too long, and that one was again.

Both are entries of kind `incident`, once each per outage and replica; the second points at the first (`clears`). An
outage that a restart finds open is neither told again nor cleared before a checkpoint covers the entry that tells it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from ledger.canonical import canonical_json
from ledger.errors import LedgerError
from ledger.ledger import SYSTEM_TENANT, Ledger
from ledger.model import Entry, EntryRef, Kind

_LOG = logging.getLogger("exhibit.ledger")
INCIDENT_VERSION = "exhibit.incident/1"
UNPUBLISHED, PUBLISHED = "unpublished", "published"
CLEARS = "clears"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class OutageWatch:
    """Looks at a log that somebody keeps signed, and records its outages until it is closed. `why` says what is in the
    way, where that is known."""

    def __init__(self, ledger: Ledger, *, after_ms: int, why: Callable[[], str | None], every_s: float = 1.0) -> None:
        self._ledger = ledger
        self._after_ms = after_ms
        self._why = why
        self._every_s = every_s
        self._open: EntryRef | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Find the outage that is open, and go on looking. Raises LedgerUnavailable."""
        self._open = await self._left_open()
        self._task = asyncio.create_task(self._run())

    async def aclose(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def look(self) -> None:
        """Record that an outage began or ended, if one did. Raises LedgerError: then it is tried at the next look."""
        waited_ms = self._ledger.unpublished_ms or 0
        if self._open is None and waited_ms > self._after_ms:
            since = self._ledger.now_ms() - waited_ms
            self._open = await self._record(UNPUBLISHED, f"unpublished:{self._ledger.replica}:{since}", since_ms=since)
        elif self._open is not None and (self._ledger.head.published_size or 0) > self._open.index:
            await self._record(PUBLISHED, f"published:{self._open.entry_id}", since_ms=self._open.t_ms)
            self._open = None

    async def _run(self) -> None:
        while True:
            with suppress(LedgerError):  # a log that cannot be written says so by itself
                await self.look()
            await asyncio.sleep(self._every_s)

    async def _record(self, what: str, request_id: str, *, since_ms: int) -> EntryRef:
        why = self._why() or "the quorum of the witnesses was not reached"
        told = {
            "v": INCIDENT_VERSION,
            "what": what,
            "why": why if what == UNPUBLISHED else "a checkpoint was published",
            "replica": self._ledger.replica,
            "since": (_EPOCH + timedelta(milliseconds=since_ms)).isoformat(timespec="milliseconds"),
            "bound_ms": self._after_ms,
        }
        refs = (self._open.as_ref(CLEARS),) if self._open is not None else ()
        _LOG.warning("%s: %s", what, told["why"])
        return await self._ledger.record(
            Kind.INCIDENT,
            tenant=SYSTEM_TENANT,
            request_id=request_id,
            parts={"detail": canonical_json(told)},
            refs=refs,
        )

    async def _left_open(self) -> EntryRef | None:
        """The last outage of this replica that nothing clears."""
        found: dict[str, Entry] = {}
        async for entry in self._ledger.every(kind=Kind.INCIDENT):
            cleared = [ref.id for ref in entry.leaf.refs if ref.rel == CLEARS]
            if cleared:
                found.pop(cleared[0], None)
            elif entry.leaf.replica == self._ledger.replica and await self._tells(entry):
                found[entry.leaf.entry_id] = entry
        return list(found.values())[-1].ref if found else None

    async def _tells(self, entry: Entry) -> bool:
        data = (await self._ledger.contents(entry, ("detail",))).get("detail")
        return bool(data) and json.loads(data or b"{}").get("what") == UNPUBLISHED
