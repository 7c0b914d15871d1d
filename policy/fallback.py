"""A server, and the embedded engine for when the server gives no decision: the same bundle in both, or neither.

The server is given most of the deadline, so that a server that hangs leaves the embedded engine its time. What the
server decided stands, however wrong it is: only silence, a fault or another bundle is fallen back from.
"""

from __future__ import annotations

import time
from dataclasses import replace

from policy.engine import PolicyEngine, Reply, WrappedEngine
from policy.errors import BundleRejected, PolicyUnavailable

SHARE = 0.7  # of the deadline, for the first engine


class FallbackEngine(WrappedEngine):
    """The engine `first`, and `second` where that gives no decision. The reply says which one decided."""

    def __init__(self, *, first: PolicyEngine, second: PolicyEngine) -> None:
        """Raises BundleRejected where the two serve different bundles."""
        if first.bundle_digest != second.bundle_digest:
            raise BundleRejected("an engine can only stand in for another one with the same bundle")
        super().__init__(first)
        self._second = second

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine."""
        ends = time.monotonic() + deadline_s
        try:
            reply = await super().evaluate(entrypoint, input, deadline_s=deadline_s * SHARE)
            named = reply.engine or self._inner.name
        except PolicyUnavailable:
            reply = await self._second.evaluate(entrypoint, input, deadline_s=ends - time.monotonic())
            named = reply.engine or self._second.name
        return replace(reply, engine=named)

    async def aclose(self) -> None:
        """See PolicyEngine."""
        try:
            await super().aclose()
        finally:
            await self._second.aclose()
