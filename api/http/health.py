"""True if each part answers, and how fast."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from api.audit.reauthorise import reading_of
from api.home.backends import Backends
from api.home.folder import prove_writable
from api.home.identity.principal import DEFAULT_TENANT, public_subject
from api.home.stores import OllamaModel, OpenAIModel, Postgres, SqlStore
from api.problems import code_of, problem_of
from api.wiring import System
from ledger.errors import CheckpointPending, LedgerNotResponding, LedgerUnavailable
from policy.checks import INVALID
from policy.errors import OpaUnavailable
from retrieval.channels.channel import Channel
from retrieval.errors import ChannelError
from retrieval.model import EntityRef, Intent, Mention, Query, TimeRange
from retrieval.scope import Scope

DEADLINE_S = 2.0
# Without these nothing can be answered; a channel or a model that fails leaves less, not nothing.
ESSENTIAL = frozenset({"records", "policy", "ledger"})
_NOBODY = "sha256:" + 64 * "0"
# A real search, with a name, a time and words, so that every store is asked; in a class that no document has.
PROBE = Query(
    text="ready",
    scope=Scope(DEFAULT_TENANT, frozenset({_NOBODY})),
    top_k=1,
    intent=Intent(
        mentions=(Mention("ready", 0, 5, (EntityRef("probe:ready", "ready", "probe"),)),),
        times=(TimeRange.year(1900),),
        terms=("ready",),
    ),
)


@dataclass(frozen=True, slots=True)
class PartHealth:
    """One part: what answers (`store`), whether it does, and after how long. `code` is that of its error and `said` its
    words, for the operator alone; `problem` says in one word what was wrong with an OPA server; `circuit` is the state
    of the breaker in front of a server; `silent`: it is known to have given no answer at all; `refusing`: it answers,
    in a way that leaves everything refused."""

    store: str
    ok: bool
    latency_ms: float
    code: str | None = None
    said: str | None = None
    circuit: str | None = None
    silent: bool = False
    problem: str | None = None
    refusing: bool = False


class _WrongDecision(Exception):
    """The policy engine answers, and what it answers is no decision, so that every request is denied; `code` says what
    is wrong with it."""

    def __init__(self, code: str) -> None:
        super().__init__("what the policy engine decides cannot be trusted, so every request is denied")
        self.code = code


async def examine(system: System) -> dict[str, PartHealth]:
    """Every part by name, asked at the same time, each within two seconds."""
    checks = _checks(system)
    found = await asyncio.gather(*(_timed(store, check) for store, check in checks.values()))
    circuits = system.circuits.states()
    return {part: replace(health, circuit=circuits.get(part)) for part, health in zip(checks, found, strict=True)}


async def _ledger(system: System) -> None:
    """It reads, nothing outside of it says that it was put back, and where it is a file there is room to write."""
    ledger = system.services.ledger
    await ledger.entries(limit=1)
    ledger.head.check()
    ledger.check_published()
    if not isinstance(system.chosen.ledger.store, Postgres):
        try:
            await asyncio.to_thread(prove_writable, system.configuration.home)
        except OSError as exc:
            raise LedgerUnavailable(f"the ledger's folder cannot be written: {exc.strerror}") from exc


async def _checkpoints(system: System) -> None:
    """One was published within the bound of the settings."""
    waited_ms = system.services.ledger.unpublished_ms or 0
    if waited_ms > system.configuration.settings.ledger.longest_unpublished_ms:
        raise CheckpointPending(f"no checkpoint could be published for {waited_ms // 1000} s")


def state_of(parts: Mapping[str, PartHealth]) -> str:
    """`ready`, `degraded` (still answers, if only by refusing) or `unavailable`."""
    down = {name for name, part in parts.items() if not part.ok}
    if any(not parts[name].refusing for name in down & ESSENTIAL):
        return "unavailable"
    return "degraded" if down else "ready"


def _checks(system: System) -> dict[str, tuple[str, Callable[[], Awaitable[object]]]]:
    services = system.services
    stores = stores_of(system.chosen)

    async def policy() -> None:
        reading = await reading_of(public_subject(system.data), request_id=services.new_id(), services=services)
        for reason in reading.access.decision.reasons:
            if reason.code.startswith(INVALID):
                raise _WrongDecision(reason.code)

    checks: dict[str, tuple[str, Callable[[], Awaitable[object]]]] = {
        "records": (stores["records"], lambda: services.store.collections(DEFAULT_TENANT)),
        "policy": (system.engine.name, policy),
        "ledger": (stores["ledger"], lambda: _ledger(system)),
        "model": (stores["model"], services.model.identity),
    }
    if services.ledger.unpublished_ms is not None:
        witnessed = system.configuration.settings.ledger.trust_policy is not None
        checks["checkpoints"] = ("witnesses" if witnessed else stores["ledger"], lambda: _checkpoints(system))
    for channel in services.channels:
        checks[str(channel.name)] = (channel.store, _search(channel))
    return checks


def _search(channel: Channel) -> Callable[[], Awaitable[object]]:
    return lambda: channel.search(PROBE)


def stores_of(chosen: Backends) -> dict[str, str]:
    """The backends of the store of record, the ledger and the model."""
    match chosen.chat:
        case OllamaModel(model=name):
            model = f"ollama:{name}"
        case OpenAIModel(model=name):
            model = f"openai:{name}"
        case _:
            model = "extractive"
    return {"records": _sql(chosen.records), "model": model, "ledger": _sql(chosen.ledger.store)}


def _sql(store: SqlStore) -> str:
    return "postgresql" if isinstance(store, Postgres) else "sqlite"


async def _timed(store: str, check: Callable[[], Awaitable[object]]) -> PartHealth:
    started, code, said, silent, problem, refusing = time.perf_counter(), None, None, False, None, False
    try:
        async with asyncio.timeout(DEADLINE_S):
            await check()
    except TimeoutError:
        code, said, silent = "TIMEOUT", f"no answer within {DEADLINE_S:g} s", True
    except ChannelError as exc:
        code, said = exc.code, exc.message  # as a limitation would name it
    except _WrongDecision as exc:
        code, said, refusing = exc.code, str(exc), True
    except OpaUnavailable as exc:
        code, said, problem = code_of(exc), problem_of(exc).local, exc.problem
    except Exception as exc:
        code, said, silent = code_of(exc), problem_of(exc).local, isinstance(exc, LedgerNotResponding)
    latency_ms = round((time.perf_counter() - started) * 1000, 3)
    return PartHealth(store, code is None, latency_ms, code, said, silent=silent, problem=problem, refusing=refusing)
