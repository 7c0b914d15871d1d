"""The boundary behind which a policy is evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

MAX_INPUT_BYTES = 4 * 1024 * 1024  # what no engine takes more of


@dataclass(frozen=True, slots=True)
class Reply:
    """An engine's raw answer.

    `results` is a UTF-8 JSON array with one `{"result": value}` per result; undefined is `[]`. `engine` names who
    decided where that may be one of several; empty: the engine that was asked.
    """

    results: bytes
    bundle_digest: str
    engine: str = ""


class PolicyEngine(Protocol):
    """Evaluates one entry point over one input.

    `entrypoint` is a path such as `kfm/ai/query`; `input` is canonical JSON. The reply names the bundle that decided,
    asserted anew with each reply. A rule that is undefined, or whose value is wrong, is a reply like any other: the
    caller judges it. Raises only PolicyUnavailable: no answer within `deadline_s`, a trap, an abort, an engine that is
    gone or closed. Work stops at the deadline. Safe to call concurrently and to cancel. Nothing of one evaluation is
    visible to the next.
    """

    @property
    def name(self) -> str:
        """Product and version, as it is written into stamps."""
        ...

    @property
    def bundle_digest(self) -> str:
        """Digest of the bundle that this engine serves now."""
        ...

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """Evaluate `entrypoint` over `input`."""
        ...

    async def aclose(self) -> None:
        """Release what the engine holds; later evaluations raise PolicyUnavailable."""
        ...


class WrappedEngine:
    """A PolicyEngine that is the one it is given (which it closes), but for what a subclass does around it."""

    def __init__(self, inner: PolicyEngine) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """See PolicyEngine."""
        return self._inner.name

    @property
    def bundle_digest(self) -> str:
        """See PolicyEngine."""
        return self._inner.bundle_digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine."""
        return await self._inner.evaluate(entrypoint, input, deadline_s=deadline_s)

    async def aclose(self) -> None:
        """See PolicyEngine."""
        await self._inner.aclose()
