"""A server, and the embedded engine for when the server gives no decision: the same bundle in both, or neither.

The server is given most of the deadline, so that a server that hangs leaves the embedded engine its time. What the
server decided stands, however wrong it is: only silence, a fault or another bundle is fallen back from.
"""

from __future__ import annotations

import time
from dataclasses import replace

from policy.engine import PolicyEngine, Reply
from policy.errors import BundleRejected, PolicyUnavailable

SHARE = 0.7  # of the deadline, for the first engine


class FallbackEngine:
    """PolicyEngine over `first`, and over `second` where that gives no decision. The reply says which one decided."""

    def __init__(self, *, first: PolicyEngine, second: PolicyEngine) -> None:
        """Raises BundleRejected where the two serve different bundles."""
        if first.bundle_digest != second.bundle_digest:
            raise BundleRejected("an engine can only stand in for another one with the same bundle")
        self._first = first
        self._second = second

    @property
    def name(self) -> str:
        """The engine that is asked first."""
        return self._first.name

    @property
    def bundle_digest(self) -> str:
        """Digest of the one bundle."""
        return self._first.bundle_digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine."""
        ends = time.monotonic() + deadline_s
        try:
            reply = await self._first.evaluate(entrypoint, input, deadline_s=deadline_s * SHARE)
            named = reply.engine or self._first.name
        except PolicyUnavailable:
            reply = await self._second.evaluate(entrypoint, input, deadline_s=ends - time.monotonic())
            named = reply.engine or self._second.name
        return replace(reply, engine=named)

    async def aclose(self) -> None:
        """See PolicyEngine."""
        try:
            await self._first.aclose()
        finally:
            await self._second.aclose()
