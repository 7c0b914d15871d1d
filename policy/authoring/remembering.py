"""An engine that decides nothing twice. A decision depends on its input and the bundle alone; a trial asks for the same
ones again where it tries the invariants, what is newly permitted, and what is newly forbidden."""

from __future__ import annotations

from hashlib import sha256

from policy.engine import PolicyEngine, Reply

_MAX_BYTES = 128 * 1024 * 1024


class RememberingEngine:
    """PolicyEngine over another one, with its replies kept until it is closed, up to a bound of their bytes."""

    def __init__(self, engine: PolicyEngine, *, max_bytes: int = _MAX_BYTES) -> None:
        self._engine = engine
        self._left = max_bytes
        self._known: dict[tuple[str, bytes], Reply] = {}

    @property
    def name(self) -> str:
        """That of the engine."""
        return self._engine.name

    @property
    def bundle_digest(self) -> str:
        """That of the engine."""
        return self._engine.bundle_digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine. A failure is not kept."""
        asked = entrypoint, sha256(input).digest()
        if (known := self._known.get(asked)) is not None:
            return known
        reply = await self._engine.evaluate(entrypoint, input, deadline_s=deadline_s)
        if len(reply.results) <= self._left:
            self._left -= len(reply.results)
            self._known[asked] = reply
        return reply

    async def aclose(self) -> None:
        """See PolicyEngine."""
        self._known.clear()
        await self._engine.aclose()
