"""Whether each part answers, and how fast."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from api.principal import DEFAULT_TENANT, public_subject
from api.problems import code_of
from api.reading import access_of
from api.wiring import System
from retrieval.model import Query
from retrieval.scope import Scope

DEADLINE_S = 2.0
# Without these nothing can be answered; a channel or a model that fails leaves less, not nothing.
ESSENTIAL = frozenset({"records", "policy", "ledger"})


@dataclass(frozen=True, slots=True)
class PartHealth:
    """One part: what answers (`store`), whether it does, and after how long. `code` is that of its error."""

    store: str
    ok: bool
    latency_ms: float
    code: str | None = None


async def examine(system: System) -> dict[str, PartHealth]:
    """Every part by name, asked at the same time, each within two seconds."""
    services = system.services

    async def records() -> None:
        await services.store.collections(DEFAULT_TENANT)

    async def policy() -> None:
        await access_of(public_subject(system.data), request_id=services.new_id(), services=services)

    async def ledger() -> None:
        await services.ledger.entries(limit=1)

    async def model() -> None:
        await services.model.identity()

    nothing = Query(text="ready", scope=Scope(DEFAULT_TENANT, frozenset()), top_k=1)
    checks: dict[str, tuple[str, Callable[[], Awaitable[object]]]] = {
        "records": ("sqlite", records),
        "policy": (system.engine.name, policy),
        "ledger": ("sqlite", ledger),
        "model": (system.configuration.settings.models.chat or "extractive", model),
    }
    for channel in services.channels:
        checks[str(channel.name)] = (channel.store, lambda channel=channel: channel.search(nothing))  # type: ignore[misc]
    found = await asyncio.gather(*(_timed(store, check) for store, check in checks.values()))
    return dict(zip(checks, found, strict=True))


def state_of(parts: dict[str, PartHealth]) -> str:
    """`ready`, `degraded` (still answers) or `unavailable`."""
    down = {name for name, part in parts.items() if not part.ok}
    if down & ESSENTIAL:
        return "unavailable"
    return "degraded" if down else "ready"


async def _timed(store: str, check: Callable[[], Awaitable[object]]) -> PartHealth:
    started, code = time.perf_counter(), None
    try:
        async with asyncio.timeout(DEADLINE_S):
            await check()
    except TimeoutError:
        code = "TIMEOUT"
    except Exception as exc:
        code = code_of(exc)
    return PartHealth(store, code is None, round((time.perf_counter() - started) * 1000, 3), code)
