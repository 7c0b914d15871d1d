"""`Idempotency-Key`: the same request twice is answered once.

Kept per (tenant, principal, route, key) are the digest of the body, the entry and the timings, no text: a repeat's
body is read back from the ledger, so erasure reaches it, and only if all of it may still be shown to the caller.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ai.canonical import canonical
from api.audit.entries.records import Reader
from api.errors import KeyReused, NoSuchThing
from api.home.request_records import FirstUse, RequestRecords
from api.http.callers import Call
from retrieval.scope import digest


@dataclass(frozen=True, slots=True)
class IdempotencyKeys:
    """The idempotency keys of one caller on one route."""

    call: Call
    route: str

    async def once(self, key: str, body: object, work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """The result of `work`, or the first one's if the key was used with the same body. Raises KeyReused for
        another body, for a first use that has not ended, and for a recorded answer that may no longer be shown."""
        identity = (self.call.caller.subject.tenant, self.call.caller.subject.id, self.route, key)
        wanted = digest(body)
        records = RequestRecords(self.call.system.configuration.home)
        now_ms = self.call.system.services.clock_ms()
        first = await asyncio.to_thread(records.claim, identity, wanted, now_ms=now_ms)
        if first is not None:
            return await self._again(first, wanted)
        try:
            result = await work()
        except BaseException:
            await asyncio.to_thread(records.forget, identity)
            raise
        entry_id, timings = result["provenance"]["entry_id"], json.dumps(result["timings_ms"])
        await asyncio.to_thread(records.keep, identity, entry_id=entry_id, timings=timings)
        return result

    async def _again(self, first: FirstUse, wanted: str) -> dict[str, Any]:
        if first.body != wanted:
            raise KeyReused("The Idempotency-Key was used with another body.")
        if first.entry_id is None or first.timings is None:
            raise KeyReused("The first request with this Idempotency-Key has not ended yet.")
        try:
            return await released_again(self.call, first.entry_id, first.timings)
        except NoSuchThing as exc:
            raise KeyReused("The recorded answer may no longer be shown; ask again with another key.") from exc


async def released_again(call: Call, entry_id: str, timings: str) -> dict[str, Any]:
    """The answer of an entry as it was released: read back from the ledger, with the times that were kept and the same
    promise. Raises NoSuchThing where it may no longer be shown."""
    ledger = call.system.services.ledger
    recorded = await Reader(call.caller, call.request_id, call.system.services).recorded_answer(entry_id)
    promise = await ledger.promise((await ledger.entry(entry_id)).ref, answer=canonical(recorded))
    return in_wire_order(recorded) | {"timings_ms": json.loads(timings), "promise": promise.as_json()}


_ORDER = (
    *("request_id", "outcome", "reason_codes", "answer", "answer_markdown", "sentences", "citations", "evidence"),
    *("limitations", "policy", "provenance", "bbox", "agent"),
)


def in_wire_order(body: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded body, whose keys are sorted, in the order of the wire; what that does not name comes last."""
    return {name: body[name] for name in (*_ORDER, *sorted(set(body) - set(_ORDER))) if name in body}
