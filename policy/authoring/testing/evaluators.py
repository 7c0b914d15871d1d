"""The engines that a bundle is tested on, each as an `Evaluator`."""

from __future__ import annotations

from collections.abc import Sequence

from policy.authoring.lattice.deciding import DEADLINE_S, FAULT, by_engine
from policy.authoring.testing.vectors import Evaluator
from policy.checks import UntrustedReply, single_result
from policy.engine import PolicyEngine
from policy.errors import PolicyUnavailable


def engine_evaluator(name: str, engine: PolicyEngine) -> Evaluator:
    """A PolicyEngine: the module in process, or a server."""

    async def allows(inputs: Sequence[bytes]) -> list[object]:
        return [await _allows(engine, asked) for asked in inputs]

    return Evaluator(name, by_engine(engine), allows)


async def _allows(engine: PolicyEngine, asked: bytes) -> object:
    try:
        reply = await engine.evaluate("kfm/ai/allow_answer", asked, deadline_s=DEADLINE_S)
        return single_result(reply.results)
    except PolicyUnavailable:
        return FAULT
    except UntrustedReply as exc:
        return str(exc)
