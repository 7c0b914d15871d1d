"""The budgets of one run (requirement 000): wall clock on an injected clock, tokens by the one counter."""

from __future__ import annotations

from collections.abc import Callable

from ai.case.agent_record import Cut, context_tokens
from ai.model import AgentOptions


class Budget:
    """`spent` are tokens of model calls, `held` those of the evidence that waits for the answer. Nothing is started
    once `stop` says why not, and `hold` never lets evidence pass its share."""

    def __init__(
        self,
        options: AgentOptions,
        *,
        clock_ms: Callable[[], int],
        model_s: float = 60.0,
        started_ms: int | None = None,
    ) -> None:
        self.options = options
        self.spent = 0
        self.held = 0
        self.cut: Cut | None = None
        self._clock_ms = clock_ms
        self._started_ms = clock_ms() if started_ms is None else started_ms
        self._model_s = model_s

    @property
    def elapsed_ms(self) -> int:
        """Since the request began."""
        return self._clock_ms() - self._started_ms

    @property
    def left_s(self) -> float:
        """Of the wall clock; not below zero."""
        return max(0, self.options.max_latency_ms - self.elapsed_ms) / 1000

    @property
    def deadline_s(self) -> float:
        """For one model call: what is left, and no more than a call may take anyway."""
        return min(self.left_s, self._model_s)

    @property
    def left_tokens(self) -> int:
        """The budget that is left, with the evidence counted as if it were in the answer's prompt."""
        return max(0, self.options.token_budget - self.spent - self.held)

    def stop(self) -> Cut | None:
        """Why the next step may not begin; remembered as the cut."""
        if self.elapsed_ms >= self.options.max_latency_ms:
            self.cut = self.cut or "latency"
            return "latency"
        if self.left_tokens <= 0:
            self.cut = self.cut or "budget"
            return "budget"
        return None

    def hold(self, tokens: int) -> bool:
        """True if evidence of that size still fits its share of the budget; if it does, it is held."""
        limit = context_tokens(self.options.token_budget)
        if self.held + tokens > limit or tokens > self.left_tokens:
            self.cut = self.cut or "budget"
            return False
        self.held += tokens
        return True

    def spend(self, tokens: int) -> None:
        """A model call took so many; a call is only made with a bound that fits."""
        self.spent += tokens
