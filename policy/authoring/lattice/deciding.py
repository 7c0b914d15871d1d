"""Many inputs put to one evaluator, and what came back, so that two evaluators can be compared.

An outcome is the decision as a document with its arrays in canonical order, or one word for what was no decision: so
that equal outcomes are equal values, with equal digests. Nothing is believed here that `policy.checks` does not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from policy.authoring.opa import Opa, OpaFailed
from policy.canonical import digest, encode_plain, parse_plain
from policy.checks import Document, UntrustedReply, decision_of
from policy.engine import PolicyEngine
from policy.errors import PolicyUnavailable
from policy.model import Point

DEADLINE_S = 30.0
FAULT = "FAULT"
"""The evaluator stopped: a conflict of rules, a trap, an input that it does not read."""

Outcome = Document | str
Decide = Callable[[Point, Sequence[bytes]], Awaitable[list[Outcome]]]
"""The outcomes of inputs (canonical JSON) at one point, in order."""


def outcome_of(results: bytes) -> Outcome:
    """An engine's result set as an outcome."""
    try:
        return decision_of(results)
    except UntrustedReply as exc:
        return str(exc)


def outcome_digest(outcome: Outcome) -> str:
    """`sha256:<hex>`; for a decision the one that the ledger keeps."""
    return digest(encode_plain(outcome))


def is_denial(outcome: Outcome) -> bool:
    """True if nothing may pass: a denial, or no decision at all."""
    return isinstance(outcome, str) or outcome["effect"] == "deny"


def by_engine(engine: PolicyEngine, *, at_once: int = 4) -> Decide:
    """Through an engine, without the checks of the points."""

    async def decide(point: Point, inputs: Sequence[bytes]) -> list[Outcome]:
        slots = asyncio.Semaphore(at_once)

        async def one(asked: bytes) -> Outcome:
            async with slots:
                try:
                    reply = await engine.evaluate(f"kfm/ai/{point}", asked, deadline_s=DEADLINE_S)
                except PolicyUnavailable:
                    return FAULT
            return outcome_of(reply.results)

        return list(await asyncio.gather(*(one(asked) for asked in inputs)))

    return decide


def by_opa(opa: Opa, root: Path) -> Decide:
    """By OPA's own evaluator over the sources below `root`, all inputs of a call in one run of the program."""

    async def decide(point: Point, inputs: Sequence[bytes]) -> list[Outcome]:
        return await asyncio.to_thread(_evaluate, opa, root, point, list(inputs))

    return decide


def _evaluate(opa: Opa, root: Path, point: Point, inputs: list[bytes]) -> list[Outcome]:
    """One input that stops the evaluator stops the run; then each half is run alone."""
    query = f"{{i: d | some i, asked in input; d := data.kfm.ai.{point} with input as asked}}"
    arguments = ("eval", "-b", ".", "--ignore", "*_test.rego", "--stdin-input", "--format", "raw", query)
    try:
        found = parse_plain(opa.run(*arguments, cwd=root, stdin=b"[" + b",".join(inputs) + b"]"))
    except OpaFailed:
        if len(inputs) == 1:
            return [FAULT]
        half = len(inputs) // 2
        return _evaluate(opa, root, point, inputs[:half]) + _evaluate(opa, root, point, inputs[half:])
    decided = [[{"result": found[str(i)]}] if str(i) in found else [] for i in range(len(inputs))]
    return [outcome_of(json.dumps(each).encode()) for each in decided]
