"""`Idempotency-Key`: the same request twice is answered once.

Kept per (tenant, principal, route, key) are the digest of the body, the entry and the timings, no text: a repeat's
body is read back from the ledger, so erasure reaches it, and only if all of it may still be shown to the caller.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from api.callers import Call
from api.errors import HomeUnusable, KeyReused, NoSuchThing
from api.records import Reader
from retrieval.scope import digest

REQUESTS_FILE = "requests.sqlite"
KEPT_MS = 86_400_000
# A first use that has not ended after this long was cut off; the next one takes its place.
ABANDONED_MS = 120_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS repeat (
    tenant TEXT, principal TEXT, route TEXT, key TEXT, body TEXT NOT NULL, started_ms INTEGER NOT NULL,
    entry_id TEXT, timings TEXT, PRIMARY KEY (tenant, principal, route, key)
) STRICT, WITHOUT ROWID
"""
_FIND = "SELECT body, entry_id, timings FROM repeat WHERE tenant = ? AND principal = ? AND route = ? AND key = ?"
_KEEP = "UPDATE repeat SET entry_id = ?, timings = ? WHERE tenant = ? AND principal = ? AND route = ? AND key = ?"
_FORGET = "DELETE FROM repeat WHERE tenant = ? AND principal = ? AND route = ? AND key = ?"


@dataclass(frozen=True, slots=True)
class _First:
    """What is known of the first use of a key."""

    body: str
    entry_id: str | None
    timings: str | None


@dataclass(frozen=True, slots=True)
class Repeats:
    """The idempotency keys of one caller on one route."""

    call: Call
    route: str

    async def once(self, key: str, body: object, work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """The result of `work`, or the first one's if the key was used with the same body. Raises KeyReused for
        another body, for a first use that has not ended, and for a recorded answer that may no longer be shown."""
        identity = (self.call.caller.subject.tenant, self.call.caller.subject.id, self.route, key)
        wanted = digest(body)
        first = await asyncio.to_thread(self._claim, identity, wanted)
        if first is not None:
            return await self._again(first, wanted)
        try:
            result = await work()
        except BaseException:
            await asyncio.to_thread(self._forget, identity)
            raise
        await asyncio.to_thread(self._keep, identity, result)
        return result

    async def _again(self, first: _First, wanted: str) -> dict[str, Any]:
        if first.body != wanted:
            raise KeyReused("The Idempotency-Key was used with another body.")
        if first.entry_id is None or first.timings is None:
            raise KeyReused("The first request with this Idempotency-Key has not ended yet.")
        reader = Reader(self.call.caller, self.call.request_id, self.call.system.services)
        try:
            recorded = await reader.recorded_answer(first.entry_id)
        except NoSuchThing as exc:
            raise KeyReused("The recorded answer may no longer be shown; ask again with another key.") from exc
        return in_wire_order(recorded) | {"timings_ms": json.loads(first.timings)}

    def _claim(self, identity: tuple[str, ...], body: str) -> _First | None:
        """Take the key, or say who has it."""
        now_ms = self.call.system.services.clock_ms()
        with _transaction(self.call.system.configuration.home / REQUESTS_FILE) as db:
            db.execute(
                "DELETE FROM repeat WHERE started_ms < ? OR (entry_id IS NULL AND started_ms < ?)",
                (now_ms - KEPT_MS, now_ms - ABANDONED_MS),
            )
            row = db.execute(_FIND, identity).fetchone()
            if row is not None:
                return _First(*row)
            db.execute("INSERT INTO repeat VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)", (*identity, body, now_ms))
        return None

    def _keep(self, identity: tuple[str, ...], result: Mapping[str, Any]) -> None:
        kept = (result["provenance"]["entry_id"], json.dumps(result["timings_ms"]))
        with _transaction(self.call.system.configuration.home / REQUESTS_FILE) as db:
            db.execute(_KEEP, (*kept, *identity))

    def _forget(self, identity: tuple[str, ...]) -> None:
        with _transaction(self.call.system.configuration.home / REQUESTS_FILE) as db:
            db.execute(_FORGET, identity)


_ORDER = (
    *("request_id", "outcome", "reason_codes", "answer", "answer_markdown", "sentences", "citations", "evidence"),
    *("limitations", "policy", "provenance"),
)


def in_wire_order(body: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded body, whose keys are sorted, in the order of the wire."""
    return {name: body[name] for name in _ORDER if name in body}


@contextmanager
def _transaction(path: Path) -> Iterator[apsw.Connection]:
    try:
        db = apsw.Connection(str(path))
        try:
            db.set_busy_timeout(2_000)
            db.execute(_SCHEMA)
            with db:
                yield db
        finally:
            db.close()
    except apsw.Error as exc:
        raise HomeUnusable(f"{path} cannot be used: {exc}") from exc
