"""The open system as requests see it: each holds the one that it began with, while a newly published policy takes over
for the next.

The home's policy state is looked at once a second. What was published is opened and must deny the empty input at every
point, named by its own digest; then the change is put on the ledger; then it decides. If any of that fails, the bundle
that decided so far goes on deciding, and the failure is logged. An engine is closed when the last request that began
with it has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from api.home.identity.principal import DEFAULT_TENANT
from api.problems import code_of
from api.wiring import OpenPolicy, System, open_policy, releases_of
from api.wiring.publications import TAKEN_UP, require_published
from ledger.errors import LedgerError
from ledger.model import Kind
from policy.canonical import canonical
from policy.checks import UntrustedReply, single_result
from policy.engine import PolicyEngine
from policy.errors import BundleNotFound, BundleRejected, PolicyError
from policy.model import Point

LOOK_EVERY_S = 1.0
PROOF_S = 2.0
_log = structlog.get_logger("exhibit.policy")


@dataclass(eq=False)
class _Generation:
    """A system, and how many requests began with it and have not ended."""

    system: System
    requests: int = 0
    retired: bool = False
    unused: asyncio.Event = field(default_factory=asyncio.Event)


class LiveSystem:
    """Holds the current system. One event loop."""

    def __init__(self, system: System) -> None:
        self._now = _Generation(system)
        self._closing: set[asyncio.Task[None]] = set()
        self._refused: object = None

    @property
    def system(self) -> System:
        """The system that the next request begins with."""
        return self._now.system

    @contextmanager
    def lease(self) -> Iterator[System]:
        """The current system, kept open until the block ends."""
        mine = self._now
        mine.requests += 1
        try:
            yield mine.system
        finally:
            mine.requests -= 1
            if mine.retired and mine.requests == 0:
                mine.unused.set()

    async def refresh(self) -> bool:
        """Take up what was published or put into the shadow since; whether something was. A bundle that cannot be taken
        up raises nothing."""
        system = self.system
        wanted = self._wanted()
        if wanted is None or wanted == self._refused:
            return False
        try:
            policy = await self._proved(system)
        except (BundleRejected, BundleNotFound) as exc:
            self._refused = wanted
            _log.error("policy refused", problem=code_of(exc), detail=str(exc))
            return False
        except (PolicyError, LedgerError) as exc:
            # A server that does not serve the new bundle yet, a ledger that cannot record: the next look tries again.
            _log.warning("policy not taken up yet", problem=code_of(exc), detail=str(exc))
            return False
        self._refused = None
        self._take_over(system.with_policy(policy))
        _log.info("policy active", bundle=policy.bundle.digest, shadow=policy.shadow, shadow_fault=policy.shadow_fault)
        return True

    async def watch(self, every_s: float = LOOK_EVERY_S) -> None:
        """Refresh until cancelled."""
        while True:
            await asyncio.sleep(every_s)
            try:
                await self.refresh()
            except Exception as exc:
                # The watcher outlives a bug of ours; requests go on under the bundle that decides.
                _log.error("policy not refreshed", problem=type(exc).__name__)

    async def aclose(self) -> None:
        """Close the engines that took over; the first one belongs to whoever opened the system."""
        await asyncio.gather(*self._closing, return_exceptions=True)
        await self.system.policy.aclose()

    def _wanted(self) -> tuple[str | None, str | None] | None:
        """The bundle that the home asks for, if it is not the one in use; None also where the state cannot be read."""
        backend, policy = self.system.chosen.policy, self.system.policy
        try:
            state = releases_of(backend).state()
        except PolicyError as exc:
            _log.error("policy state unreadable", detail=str(exc))
            return None
        active = None if backend.folder is not None else state.active
        same_bundle = active is None or active == policy.bundle.digest
        shadow = None if state.shadow == (active or policy.bundle.digest) else state.shadow
        return None if same_bundle and shadow == policy.shadow else (active, shadow)

    async def _proved(self, system: System) -> OpenPolicy:
        """The policy that the home asks for, open, proved and recorded. Raises PolicyError."""
        policy = await open_policy(system.chosen.policy, system.circuits)
        try:
            await deny_the_empty_input(policy.alone)
            await require_published(system.configuration, system.services.ledger, policy.bundle.digest)
            if policy.bundle.digest != system.policy.bundle.digest:
                await record_change(system, policy.bundle.digest)
        except BaseException:
            await policy.aclose()
            raise
        return policy

    def _take_over(self, system: System) -> None:
        old, self._now = self._now, _Generation(system)
        old.retired = True
        task = asyncio.create_task(_retire(old))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


async def _retire(old: _Generation) -> None:
    if old.requests:
        await old.unused.wait()
    await old.system.policy.aclose()


async def deny_the_empty_input(engine: PolicyEngine) -> None:
    """The empty input is denied at every point, by the bundle that is named. Raises BundleRejected and
    PolicyUnavailable."""
    for point in Point:
        reply = await engine.evaluate(f"kfm/ai/{point}", b"{}", deadline_s=PROOF_S)
        try:
            decision = single_result(reply.results)
        except UntrustedReply as exc:
            raise BundleRejected(f"{point}: the empty input gets no decision ({exc.code})") from exc
        if not isinstance(decision, dict) or decision.get("effect") != "deny":
            raise BundleRejected(f"{point}: the empty input is not denied")


async def record_change(system: System, digest: str) -> None:
    """Put on the ledger that another bundle decides from now on. Raises LedgerUnavailable."""
    detail = {TAKEN_UP: {"before": system.policy.bundle.digest, "after": digest}}
    services = system.services
    await services.ledger.record(
        Kind.CONFIG, tenant=DEFAULT_TENANT, request_id=services.new_id(), parts={"detail": canonical(detail)}
    )


@asynccontextmanager
async def live(system: System) -> AsyncIterator[LiveSystem]:
    """The system, refreshed in the background until the block ends."""
    made = LiveSystem(system)
    watcher = asyncio.create_task(made.watch())
    try:
        yield made
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
        await made.aclose()


class PinnedSystem:
    """Gives each request the system that it began with, in `request.state.system`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        holder: LiveSystem = scope["app"].state.live
        with holder.lease() as system:
            scope.setdefault("state", {})["system"] = system
            await self._app(scope, receive, send)
