"""Replay of a recorded answer, to a grade.

R0: the entry's bytes, commitments and inclusion proof hold. R1: moreover the deterministic shell of this software, run
again on the recorded inputs and the recorded words of the model, gives every recorded part byte for byte. The shell is
recomputed, never compared with itself; when a part differs, the first stage that differs is named. R2: moreover the
same model, asked again with the recorded prompts and options, gives the recorded words (`ai.repetition`). R3: moreover
the stores, asked again, find the very same (`ai.replay_stores`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import cattrs

from ai.agent_record import AgentCall
from ai.canonical import from_json
from ai.case import Case, Services
from ai.chat_model import ChatModel, ChatRequest
from ai.comparison import Stage, compare
from ai.errors import AIError, ReplayImpossible
from ai.focus_pipeline import refused
from ai.model import Completion, ModelIdentity
from ai.prompt_gate import GateResult
from ai.recorded_policy import recorded_decision
from ai.recording import FAULT, ReplayInputs, body_of, deterministic_parts, pinned
from ai.render import evidence_json
from ai.repetition import repeat, repeatable
from ai.replay_case import computed_again, front_again, part_of, recorded_case, recorded_runs
from ai.replay_stores import Drift, drift_between, search_again
from ai.retrieval_replay import is_retrieval, recompute_retrieval
from ai.shell import Shell, run_shell
from ledger.errors import LedgerError, PartErased
from ledger.model import PART_NAMES, Entry, Kind
from policy.errors import PolicyError
from policy.model import RequestFacts
from retrieval.bundle import Gathered
from retrieval.errors import RetrievalError

STAGES = ("policy.evidence", "bundle", "calls", "policy.answer", "answer")
"""The recorded parts in the order in which the shell makes them."""


class Grade(StrEnum):
    """How far an entry was reproduced; `NONE` when not even its bytes hold."""

    NONE = "NONE"
    R0 = "R0"
    R1 = "R1"
    R2 = "R2"
    R3 = "R3"


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result for one entry. `changed` names pinned settings (template, gate, fusion ...) that differ from the
    recorded ones. `limit` says why a higher grade was not tried, where one was asked for."""

    entry_id: str
    kind: Kind
    grade: Grade
    stages: tuple[Stage, ...]
    changed: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    limit: str = ""
    drift: tuple[Drift, ...] = ()

    @property
    def reproduced(self) -> bool:
        """Whether everything that this kind of entry lets one compare was the same."""
        return self.grade is not Grade.NONE and self.differs_at is None

    @property
    def differs_at(self) -> str | None:
        """The first stage that was not the same."""
        return next((stage.name for stage in self.stages if not stage.same), None)


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The shell run again, and how it compares."""

    case: Case
    shell: Shell
    stages: tuple[Stage, ...]
    changed: tuple[str, ...]


async def replay(entry_id: str, *, services: Services, up_to: Grade = Grade.R1) -> Replayed:
    """Replay one entry, up to a grade. Raises `EntryNotFound`; what does not hold is in the result."""
    entry = await services.ledger.entry(entry_id)
    proven, parts, erased = await _prove(entry, services)
    result = Replayed(entry_id, entry.leaf.kind, Grade.R0, proven, erased=erased)
    if not all(stage.same for stage in proven):
        return replace(result, grade=Grade.NONE)
    kind = entry.leaf.kind
    shown = kind is Kind.RETRIEVAL and is_retrieval(parts)
    if up_to is Grade.R0 or erased or _failed(parts) or not (shown or kind is Kind.OUTCOME):
        # A failed request has no shell to run again: its bytes are all there is to prove.
        return result
    try:
        if shown:
            return await _shown_again(result, parts, services, up_to)
        again = await _recompute(entry, parts, services)
    except (ReplayImpossible, cattrs.BaseValidationError, AIError, PolicyError, RetrievalError, ValueError) as exc:
        return replace(result, stages=(*proven, Stage("inputs", False, _reason(exc))))
    return await _graded(result, again, services, up_to)


async def _graded(result: Replayed, again: Recomputed, services: Services, up_to: Grade) -> Replayed:
    """R1 where the shell gave the same again, then what is asked for beyond it."""
    result = replace(result, stages=(*result.stages, *again.stages), changed=again.changed)
    if not all(stage.same for stage in again.stages):
        return result
    result = replace(result, grade=Grade.R1)
    if up_to is Grade.R1:
        return result
    result = await _repeated(result, again, services.model)
    return await _searched_again(result, again, services) if up_to is Grade.R3 else result


async def _shown_again(result: Replayed, parts: Mapping[str, bytes], services: Services, up_to: Grade) -> Replayed:
    """R1 for what was shown without an answer, and R3 where the stores find the very same; no model was asked."""
    again = await recompute_retrieval(parts, services)
    result = replace(result, stages=(*result.stages, *again.stages), changed=again.changed)
    if not result.reproduced:
        return result
    result = replace(result, grade=Grade.R1, limit="" if up_to is Grade.R1 else "no model call")
    if up_to is not Grade.R3 or again.case is None or again.gathered is None:
        return result
    drift = drift_between(again.gathered, await search_again(again.case, services))
    return replace(result, drift=drift, grade=result.grade if drift else Grade.R3)


async def _searched_again(result: Replayed, again: Recomputed, services: Services) -> Replayed:
    """R3 where everything before held and the stores find the very same; drift is listed, and is no fault."""
    if again.shell.gathered is None:
        return result
    drift = drift_between(again.shell.gathered, await search_again(again.case, services))
    return replace(result, drift=drift, grade=Grade.R3 if result.reproduced and not drift else result.grade)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run as it was recorded: the case up to the query point's decision, what the channels found (None for a refused
    question), the parts of the outcome and of the intent, and the classes that the query point decided over."""

    case: Case
    gathered: Gathered | None
    parts: Mapping[str, bytes]
    asked: Mapping[str, bytes]
    classes: tuple[Mapping[str, Any], ...]
    canary: str


async def recorded_run(entry_id: str, services: Services) -> RecordedRun:
    """Read an outcome back. Raises `EntryNotFound`, and `ReplayImpossible` for what is no outcome, failed, does not
    verify or was erased."""
    entry = await services.ledger.entry(entry_id)
    proven, parts, erased = await _prove(entry, services)
    if entry.leaf.kind is not Kind.OUTCOME or erased or _failed(parts) or not all(stage.same for stage in proven):
        raise ReplayImpossible("the entry holds no whole, verified run")
    inputs = from_json(part_of(parts, "replay"), ReplayInputs)
    asked = await _intent_parts(entry, services)
    run = json.loads(asked["policy.query"])[0]
    case = replace(
        recorded_case(inputs, asked, services),
        gate=from_json(json.loads(asked["scope"])["gate"], GateResult),
        request=from_json(run["input"]["request"], RequestFacts),
        decision=recorded_decision(run),
    )
    if case.agent is not None:
        case = replace(case, agent=replace(case.agent, calls=_agent_calls(parts)))
    gathered = recorded_runs(parts, inputs) if parts.get("candidates") else None
    return RecordedRun(case, gathered, parts, asked, tuple(run["input"]["classes"]), inputs.canary)


async def _repeated(result: Replayed, again: Recomputed, model: ChatModel) -> Replayed:
    if not repeatable(again.shell):
        limit = "no model call" if again.shell.call is None else "sampled without a seed"
        return replace(result, limit=limit)
    stages = await repeat(again.case, again.shell, model)
    grade = Grade.R2 if all(stage.same for stage in stages) else Grade.R1
    return replace(result, grade=grade, stages=(*result.stages, *stages))


async def _prove(entry: Entry, services: Services) -> tuple[tuple[Stage, ...], dict[str, bytes], tuple[str, ...]]:
    """R0: every part against its commitment, the leaf against a signed checkpoint."""
    stages, parts, erased = [], {}, []
    for name in PART_NAMES[entry.leaf.kind]:
        try:
            parts[name] = await services.ledger.part(entry.leaf.entry_id, name)
        except PartErased:
            erased.append(name)
        except LedgerError as exc:
            stages.append(Stage(f"commitment {name}", False, _reason(exc)))
    try:
        await services.ledger.receipt(entry.leaf.entry_id, disclose=())
        stages.append(Stage("inclusion", True))
    except LedgerError as exc:
        stages.append(Stage("inclusion", False, _reason(exc)))
    return tuple(stages), parts, tuple(erased)


async def _recompute(entry: Entry, parts: Mapping[str, bytes], services: Services) -> Recomputed:
    inputs = from_json(part_of(parts, "replay"), ReplayInputs)
    asked = await _intent_parts(entry, services)
    case = recorded_case(inputs, asked, services)
    if case.agent is not None:
        case = replace(case, agent=replace(case.agent, calls=_agent_calls(parts)))
    case, stages = await front_again(case, asked, services)
    if not case.decided.allowed:
        shell = refused(case)
    else:
        gathered = recorded_runs(parts, inputs)
        stages = (*stages, computed_again(gathered))
        shell = await run_shell(
            case, gathered, services=replace(services, model=RecordedModel(parts), canary=inputs.canary)
        )
    shown = [evidence_json(item) for item in shell.items]
    again = deterministic_parts(shell, body_of(case, shell, shown), shown)
    stages = (*stages, *(compare(name, parts.get(name, b""), again.get(name, b"")) for name in STAGES))
    now = pinned(services, case.profile)
    changed = tuple(sorted(name for name, value in inputs.pinned.items() if now.get(name) != value))
    return Recomputed(case, shell, stages, changed)


async def _intent_parts(entry: Entry, services: Services) -> dict[str, bytes]:
    """The parts of the intent that the outcome points to."""
    intents = [ref.id for ref in entry.leaf.refs if ref.rel == "intent"]
    if len(intents) != 1:
        raise ReplayImpossible("the outcome names no intent")
    return {name: await services.ledger.part(intents[0], name) for name in PART_NAMES[Kind.INTENT]}


def _agent_calls(parts: Mapping[str, bytes]) -> tuple[AgentCall, ...]:
    """The model calls of the agent as they were recorded: given, like the runs of the channels."""
    calls = [call for call in json.loads(parts["calls"]) if "purpose" in call] if parts.get("calls") else []
    return tuple(
        AgentCall(
            purpose=call["purpose"],
            system=call["system"],
            prompt=call["prompt"],
            template=call["template"],
            template_digest=call["template_digest"],
            max_tokens=call["options"]["max_tokens"],
            completion=from_json(call["completion"], Completion),
        )
        for call in calls
    )


class RecordedModel:
    """A `ChatModel` that says again what was recorded."""

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        calls = json.loads(parts["calls"]) if parts.get("calls") else []
        self._completions = [from_json(call["completion"], Completion) for call in calls if "purpose" not in call]

    async def identity(self) -> ModelIdentity:
        """The recorded model's."""
        return self._next().model

    async def complete(self, request: ChatRequest) -> Completion:
        """The recorded completion, whatever the prompt is now: the prompt is compared as a stage of its own."""
        return self._next()

    async def aclose(self) -> None:
        """Nothing to close."""

    def _next(self) -> Completion:
        if not self._completions:
            raise ReplayImpossible("the record holds no model call, but the shell makes one now")
        return self._completions[0]


def _failed(parts: Mapping[str, bytes]) -> bool:
    """Whether the outcome is that the request failed."""
    return bool(parts.get("answer")) and json.loads(parts["answer"]).get("outcome") == FAULT


def _reason(exc: Exception) -> str:
    return f"{type(exc).__name__}: {exc}".splitlines()[0]
