"""Replay of a recorded answer, to a grade.

R0: the entry's bytes, commitments and inclusion proof hold. R1: moreover the deterministic core of this software, run
again on the recorded inputs and the recorded words of the model, gives every recorded part byte for byte. The core is
recomputed, never compared with itself; when a part differs, the first stage that differs is named. R2: moreover the
same model, asked again with the recorded prompts and options, gives the recorded words (`repetition`). R3: moreover
the stores, asked again, find the very same (`stores`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import cattrs

from ai.answer.core import CoreResult, run_core
from ai.answer.places import PlacesFound, admit_places
from ai.canonical import from_json
from ai.case.agent_record import AgentCall
from ai.case.case import Case, Services
from ai.errors import AIError, ReplayImpossible
from ai.gate import GateResult
from ai.model import Completion, ModelIdentity
from ai.models.chat_model import ChatRequest, StructuredRequest
from ai.record.recording import FAULT, ReplayInputs, body_of, deterministic_parts, shown_items
from ai.replay.case import (
    bundle_missing,
    checked_again,
    checks_missing,
    computed_again,
    entry_named,
    front_again,
    part_of,
    recorded_case,
    recorded_runs,
)
from ai.replay.comparison import Stage, compare
from ai.replay.derived import derived_stages
from ai.replay.parts import Findings, PartGrade
from ai.replay.proving import Proven, prove, reason_of
from ai.replay.recorded_policy import recorded_decision
from ai.replay.repetition import IDENTITY, model_of_record, repeat, repeatable
from ai.replay.retrieval import is_retrieval, recompute_retrieval
from ai.replay.settings import as_recorded
from ai.replay.stores import Drift, drift_between, search_again
from ledger.model import Entry, Kind
from policy.errors import PolicyError
from policy.model import RequestFacts
from prompt_templates import PromptTemplate
from retrieval.bundle import GatheredRuns
from retrieval.errors import RetrievalError

STAGES = ("policy.evidence", "bundle", "calls", "policy.answer", "answer")
"""The recorded parts in the order in which the core makes them."""


class Verdict(StrEnum):
    """The verdict of a replay on an entry. `CANNOT_RUN` is not a finding about the record: this software lacks the
    policy, the setting or the model that it names, or does not know a value in it."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    CANNOT_RUN = "cannot_run"
    BROKEN = "broken"


class Grade(StrEnum):
    """How far an entry was reproduced; `NONE` when not even its bytes hold."""

    NONE = "NONE"
    R0 = "R0"
    R1 = "R1"
    R2 = "R2"
    R3 = "R3"


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The result for one entry. `changed` names pinned settings (template, gate, fusion ...) that are others today, and
    `missing` what the run needed of the record and this home does not have: today's ran in its place. `limit` says why
    a higher grade was not tried, where one was asked for."""

    entry_id: str
    kind: Kind
    grade: Grade
    stages: tuple[Stage, ...]
    changed: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    limit: str = ""
    drift: tuple[Drift, ...] = ()
    missing: tuple[str, ...] = ()
    parts: tuple[PartGrade, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on the entry."""
        if self.grade is Grade.NONE:
            return Verdict.BROKEN
        if self.reproduced:
            return Verdict.REPRODUCED
        return Verdict.CANNOT_RUN if self.missing else Verdict.DIFFERS

    @property
    def reproduced(self) -> bool:
        """True if everything that this kind of entry lets one compare was the same."""
        return self.grade is not Grade.NONE and self.differs_at is None

    @property
    def differs_at(self) -> str | None:
        """The first stage that was not the same."""
        return next((stage.name for stage in self.stages if not stage.same), None)


@dataclass(frozen=True, slots=True)
class Recomputation:
    """The core run again, and how it compares."""

    case: Case
    core: CoreResult
    stages: tuple[Stage, ...]
    changed: tuple[str, ...]
    missing: tuple[str, ...] = ()


async def replay(entry_id: str, *, services: Services, up_to: Grade = Grade.R1) -> ReplayReport:
    """Replay one entry, up to a grade. Raises `EntryNotFound`; what does not hold is in the result."""
    entry = await services.ledger.entry(entry_id)
    proven = await prove(entry, services.ledger)
    found = await _replayed(entry, proven, services, up_to)
    empty = {name for name, data in proven.parts.items() if not data}
    findings = Findings(found.stages, str(found.grade), proven.erased, empty)
    return replace(found, parts=tuple(map(findings.of, proven.names)))


async def _replayed(entry: Entry, proven: Proven, services: Services, up_to: Grade) -> ReplayReport:
    result = ReplayReport(entry.leaf.entry_id, entry.leaf.kind, Grade.R0, proven.stages, erased=proven.erased)
    if not proven.holds:
        return replace(result, grade=Grade.NONE)
    try:
        return await _run_again(entry, result, proven, services, up_to)
    except (ReplayImpossible, json.JSONDecodeError, KeyError, TypeError, AttributeError, IndexError) as exc:
        return replace(result, stages=(*proven.stages, Stage("inputs", False, reason_of(exc))))
    except (cattrs.BaseValidationError, AIError, PolicyError, RetrievalError, ValueError) as exc:
        return replace(result, stages=(*proven.stages, Stage("inputs", False, reason_of(exc))), missing=("software",))


async def _run_again(
    entry: Entry, result: ReplayReport, proven: Proven, services: Services, up_to: Grade
) -> ReplayReport:
    kind, parts, erased = entry.leaf.kind, proven.parts, proven.erased
    lost = bool(parts.get("bundle")) and not parts.get("replay")  # what was shown has no inputs any more
    shown = kind is Kind.RETRIEVAL and (is_retrieval(parts) or lost)
    if up_to is Grade.R0 or erased or _failed(parts) or not (shown or kind is Kind.OUTCOME):
        # A failed request has no core to run again: its bytes are all there is to prove.
        return result
    if shown:
        return await _shown_again(entry, result, parts, services, up_to)
    return await _graded(result, await _recompute(entry, parts, services), services, up_to)


async def _graded(result: ReplayReport, again: Recomputation, services: Services, up_to: Grade) -> ReplayReport:
    """R1 where the core gave the same again, then what is asked for beyond it."""
    result = replace(result, stages=(*result.stages, *again.stages), changed=again.changed, missing=again.missing)
    if not all(stage.same for stage in again.stages):
        return result
    result = replace(result, grade=Grade.R1)
    if up_to is Grade.R1:
        return result
    result = await _repeated(result, again, services)
    return await _searched_again(result, again, services) if up_to is Grade.R3 else result


async def _shown_again(
    entry: Entry, result: ReplayReport, parts: Mapping[str, bytes], services: Services, up_to: Grade
) -> ReplayReport:
    """R1 for what was shown without an answer, and R3 where the stores find the very same; no model was asked."""
    again = await recompute_retrieval(entry.leaf, parts, services)
    result = replace(result, stages=(*result.stages, *again.stages), changed=again.changed, missing=again.missing)
    if not result.reproduced:
        return result
    result = replace(result, grade=Grade.R1, limit="" if up_to is Grade.R1 else "no model call")
    if up_to is not Grade.R3 or again.case is None or again.gathered is None:
        return result
    drift = drift_between(again.gathered, await search_again(again.case, services))
    return replace(result, drift=drift, grade=result.grade if drift else Grade.R3)


async def _searched_again(result: ReplayReport, again: Recomputation, services: Services) -> ReplayReport:
    """R3 where everything before held and the stores find the very same; drift is listed, and is no fault."""
    if again.core.gathered is None:
        return result
    drift = drift_between(again.core.gathered, await search_again(again.case, services))
    return replace(result, drift=drift, grade=Grade.R3 if result.reproduced and not drift else result.grade)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run as it was recorded: the case up to the query point's decision, what the channels found (None for a refused
    question), the parts of the outcome and of the intent, and the classes that the query point decided over.
    `checks_missing`: today's checks run in the place of those that it was made with."""

    case: Case
    gathered: GatheredRuns | None
    parts: Mapping[str, bytes]
    asked: Mapping[str, bytes]
    classes: tuple[Mapping[str, Any], ...]
    canary: str
    places: PlacesFound | None = None
    checks_missing: bool = False


async def recorded_run(entry_id: str, services: Services) -> RecordedRun:
    """Read an outcome back. Raises `EntryNotFound`, and `ReplayImpossible` for what is no outcome, failed, does not
    verify or was erased."""
    entry = await services.ledger.entry(entry_id)
    proven = await prove(entry, services.ledger)
    parts = proven.parts
    if entry.leaf.kind is not Kind.OUTCOME or proven.erased or _failed(parts) or not proven.holds:
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
    return RecordedRun(
        case,
        gathered,
        parts,
        asked,
        tuple(run["input"]["classes"]),
        inputs.canary,
        inputs.places,
        bool(checks_missing(inputs)),
    )


async def _repeated(result: ReplayReport, again: Recomputation, services: Services) -> ReplayReport:
    if not repeatable(again.core):
        limit = "no model call" if again.core.call is None else "sampled without a seed"
        return replace(result, limit=limit)
    model = await model_of_record(again.core, services)
    stages = await repeat(again.case, again.core, model, services.fallback, services.judge)
    grade = Grade.R2 if all(stage.same for stage in stages) else Grade.R1
    away = any(stage.name == IDENTITY and not stage.same for stage in stages)
    missing = (*result.missing, *(["model"] if away else []))
    return replace(result, grade=grade, stages=(*result.stages, *stages), missing=missing)


async def _recompute(entry: Entry, parts: Mapping[str, bytes], services: Services) -> Recomputation:
    inputs = from_json(part_of(parts, "replay"), ReplayInputs)
    asked = await _intent_parts(entry, services)
    named = entry_named(entry.leaf, entry_id=inputs.entry_id, request_id=inputs.request_id)
    case = recorded_case(inputs, asked, services)
    if case.agent is not None:
        case = replace(case, agent=replace(case.agent, calls=_agent_calls(parts)))
    settings = as_recorded(inputs.pinned, services, case.profile)
    case, stages = await front_again(settings.case(case), asked, settings.services)
    stages = (named, *stages)
    missing = (*settings.missing, *bundle_missing(case, asked), *checks_missing(inputs))
    gathered = recorded_runs(parts, inputs) if case.decided.allowed else None
    if gathered is not None:
        stages = (*stages, computed_again(gathered))
    running = replace(
        with_recorded_words(settings.services, parts),
        canary=inputs.canary,
        template=recorded_template(parts, settings.services),
    )
    core = await run_core(case, gathered, services=running)
    core = await admit_places(case, core, inputs.places, running)
    shown = shown_items(case, core)
    again = deterministic_parts(core, body_of(case, core, shown), shown)
    stages = (*stages, *(compare(name, parts.get(name, b""), again.get(name, b"")) for name in STAGES))
    if gathered is None:
        stages = (*stages, compare("candidates", parts.get("candidates", b""), b""))
    told = replace(services, software=inputs.software)
    stages = (*stages, *derived_stages(case, core, parts, told))
    return Recomputation(case, core, checked_again(inputs, stages), settings.changed, missing)


async def _intent_parts(entry: Entry, services: Services) -> dict[str, bytes]:
    """The parts of the intent that the outcome points to."""
    intents = [ref.id for ref in entry.leaf.refs if ref.rel == "intent"]
    if len(intents) != 1:
        raise ReplayImpossible("the outcome names no intent")
    intent = await services.ledger.entry(intents[0])
    return {name: await services.ledger.part(intents[0], name) for name in intent.leaf.parts}


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


def _was(parts: Mapping[str, bytes], key: str) -> bool:
    """True if a recorded call holds that: `filled`, `repair`, `mode`."""
    calls = json.loads(parts["calls"]) if parts.get("calls") else []
    return any(key in call for call in calls)


def with_recorded_words(services: Services, parts: Mapping[str, bytes]) -> Services:
    """The services, with what models said on record in the place of the models: held to a schema where that one was,
    with a second try and a default model where there was one."""
    return replace(
        services,
        model=RecordedStructuredModel(parts) if _was(parts, "mode") else RecordedModel(parts),
        repairs=_was(parts, "repair"),
        fallback=RecordedModel(parts, "filled") if _was(parts, "filled") else None,
        judge=None,
    )


def recorded_template(parts: Mapping[str, bytes], services: Services) -> PromptTemplate:
    """The template of the services, under the name that the recorded call gives it."""
    calls = json.loads(parts["calls"]) if parts.get("calls") else []
    names = [call["template"] for call in calls if "purpose" not in call]
    return replace(services.template, name=names[0]) if names else services.template


class RecordedModel:
    """A `ChatModel` that says again what was recorded, call by call."""

    def __init__(self, parts: Mapping[str, bytes], key: str = "completion") -> None:
        """`key` tells what of a call it says: the completion and that of its repair, or what was filled in for it."""
        calls = json.loads(parts["calls"]) if parts.get("calls") else []
        wrote = [call for call in calls if "purpose" not in call and key in call]
        said = [call[key] for call in wrote]
        if key == "completion":
            said += [call["repair"]["completion"] for call in wrote if "repair" in call]
        self._completions = [from_json(each, Completion) for each in said]
        self._said = 0

    async def identity(self) -> ModelIdentity:
        """The recorded model's."""
        return self._next().model

    async def complete(self, request: ChatRequest) -> Completion:
        """The recorded completion, whatever the prompt is now: the prompt is compared as a stage of its own."""
        return self._say()

    async def aclose(self) -> None:
        """Nothing to close."""

    def _say(self) -> Completion:
        said = self._next()
        self._said += 1
        return said

    def _next(self) -> Completion:
        if self._said >= len(self._completions):
            raise ReplayImpossible("the record holds no model call, but the core makes one now")
        return self._completions[self._said]


class RecordedStructuredModel(RecordedModel):
    """The same, where the model was held to a schema: a `StructuredModel` too."""

    async def structured(self, request: StructuredRequest) -> Completion:
        """As `complete`."""
        return self._say()


def _failed(parts: Mapping[str, bytes]) -> bool:
    """True if the outcome is that the request failed."""
    return bool(parts.get("answer")) and json.loads(parts["answer"]).get("outcome") == FAULT
