"""The engines that a bundle is tested on, each as an `Evaluator`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from policy.authoring.deciding import DEADLINE_S, FAULT, by_engine, by_opa
from policy.authoring.opa import Opa
from policy.authoring.vectors import Evaluator
from policy.checks import Untrusted, single_result
from policy.engine import PolicyEngine
from policy.errors import PolicyUnavailable


def engine_evaluator(name: str, engine: PolicyEngine) -> Evaluator:
    """A PolicyEngine: the module in process, or a server."""

    async def allows(inputs: Sequence[bytes]) -> list[object]:
        return [await _allows(engine, asked) for asked in inputs]

    return Evaluator(name, by_engine(engine), allows)


def opa_evaluator(opa: Opa, root: Path) -> Evaluator:
    """OPA's own evaluator over the sources below `root`."""

    async def allows(inputs: Sequence[bytes]) -> list[object]:
        return await asyncio.to_thread(_evaluated, opa, root, inputs)

    return Evaluator("opa eval", by_opa(opa, root), allows)


async def _allows(engine: PolicyEngine, asked: bytes) -> object:
    try:
        reply = await engine.evaluate("kfm/ai/allow_answer", asked, deadline_s=DEADLINE_S)
        return single_result(reply.results)
    except PolicyUnavailable:
        return FAULT
    except Untrusted as exc:
        return str(exc)


def _evaluated(opa: Opa, root: Path, inputs: Sequence[bytes]) -> list[object]:
    query = "[d | some asked in input; d := data.kfm.ai.allow_answer with input as asked]"
    arguments = ("eval", "-b", ".", "--ignore", "*_test.rego", "--stdin-input", "--format", "raw", query)
    found: list[object] = json.loads(opa.run(*arguments, cwd=root, stdin=b"[" + b",".join(inputs) + b"]"))
    return found
