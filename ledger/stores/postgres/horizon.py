"""Waiting until no transaction of a server can see rows that were deleted: a table that is rewritten keeps each row
that one still can.

It is not enough to wait for the transactions that are open: one that begins later takes over the horizon of any that is
still writing when it begins. So the horizon itself is waited for: of sessions, prepared transactions and replicas.
"""

from __future__ import annotations

import asyncio
from time import monotonic, sleep

from psycopg import AsyncConnection, Connection

from ledger.errors import LedgerUnavailable

_LONGEST_S = 60
_PAUSE_S = 0.02
_NEXT = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
"""The transaction after all that have deleted something by now."""
_SEEN = b"""
SELECT EXISTS (
    SELECT FROM pg_stat_activity
    WHERE coalesce(datname, current_database()) = current_database() AND pid <> pg_backend_pid()
        AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
        AND greatest(age(backend_xid), age(backend_xmin)) > age(%(next)s::xid8::xid)
    UNION ALL
    SELECT FROM pg_prepared_xacts
    WHERE database = current_database() AND age(transaction) > age(%(next)s::xid8::xid)
    UNION ALL
    SELECT FROM pg_replication_slots WHERE age(xmin) > age(%(next)s::xid8::xid)
)
"""


async def until_unseen(db: AsyncConnection[tuple[object, ...]]) -> None:
    """Return when no transaction sees what was deleted before. Raises LedgerUnavailable where one still does after a
    minute."""
    after, until = await (await db.execute(_NEXT)).fetchone(), monotonic() + _LONGEST_S
    while await (await db.execute(_SEEN, {"next": after[0] if after else None})).fetchone() == (True,):
        _in_time(until)
        await asyncio.sleep(_PAUSE_S)


def wait_until_unseen(db: Connection[tuple[object, ...]]) -> None:
    """The same for a connection that blocks."""
    after, until = db.execute(_NEXT).fetchone(), monotonic() + _LONGEST_S
    while db.execute(_SEEN, {"next": after[0] if after else None}).fetchone() == (True,):
        _in_time(until)
        sleep(_PAUSE_S)


def _in_time(until: float) -> None:
    if monotonic() > until:
        raise LedgerUnavailable(f"a transaction has been open for {_LONGEST_S} s and sees what was erased")
