"""The differences between two recorded runs that explain their answers: the first run once more, with components of the
second in the place of its own.

Everything that a run was given is a component: who asked, what was asked with the question, how it was read, what was
found, policy, model, time, and each setting. All that differ, exchanged together, give the second answer. Those that
are not needed for it are put back, one after the other; what is left explains it. What follows from others (what was
found, how the question was read) is put back first, so that it is named only where nothing before it suffices.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from ai.answer.core import run_core
from ai.canonical import from_json
from ai.case.case import Case, Services
from ai.errors import AIError, ReplayImpossible
from ai.focus_pipeline import check_gate
from ai.governance.scoping import prompt_facts
from ai.model import Ask, Completion, ModelIdentity
from ai.models.chat_model import ChatRequest, StructuredRequest
from ai.record.recording import body_of, shown_items
from ai.replay.case import CHECKS, bundle_of
from ai.replay.replay import RecordedRun, recorded_run, replay
from ai.replay.settings import as_recorded
from policy.errors import PolicyError
from policy.model import ClassFacts

Effect = Literal["nothing", "changes", "explains"]
SETTING = "setting "


class Component(StrEnum):
    """An input of a run, beside its settings; in the order in which components are put back."""

    FOUND = "found"
    READING = "reading"
    SCOPE = "scope"
    MODEL = "model"
    SOFTWARE = "software"
    TIME = "time"
    CONTEXT = "context"
    POLICY = "policy"
    ASKER = "asker"


@dataclass(frozen=True, slots=True)
class Written:
    """A call of the model that wrote: the prompt without its secret mark, the model's words, what was filled in for
    them, and prompt and words of its second try. `structured`: it was held to a schema."""

    prompt: str
    said: Completion
    filled: Completion | None
    second: tuple[str, Completion] | None = None
    structured: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded run, the services that can run it again, its part `replay`, and its call of a model, if any."""

    recorded: RecordedRun
    services: Services
    inputs: Mapping[str, Any]
    written: Written | None

    @classmethod
    async def read(cls, entry_id: str, services: Services) -> Run:
        """The run of an outcome. Raises EntryNotFound, ReplayImpossible."""
        recorded = await recorded_run(entry_id, services)
        return cls(recorded, services, json.loads(recorded.parts["replay"]), _written(recorded))

    @property
    def case(self) -> Case:
        """The case as it was read back."""
        return self.recorded.case

    @property
    def pinned(self) -> Mapping[str, str]:
        """The settings by their digests."""
        return dict(self.inputs["pinned"])


def _written(recorded: RecordedRun) -> Written | None:
    calls = json.loads(recorded.parts["calls"]) if recorded.parts.get("calls") else []
    for call in calls:
        if "purpose" not in call:
            filled = from_json(call["filled"], Completion) if "filled" in call else None
            said, repair = from_json(call["completion"], Completion), call.get("repair")
            second = repair and (_unmarked(repair["prompt"], recorded), from_json(repair["completion"], Completion))
            return Written(_unmarked(call["prompt"], recorded), said, filled, second, "mode" in call)
    return None


def _unmarked(prompt: str, recorded: RecordedRun) -> str:
    """A prompt without the secret mark of the run that it was written for."""
    return prompt.replace(recorded.canary, "") if recorded.canary else prompt


@dataclass(frozen=True, slots=True)
class Explanation:
    """Which differences explain the second answer. `effects` tells for each component that differs what it does alone;
    `causes` are those that together, and none left out, give the second answer. Both are empty where `impossible` says
    why nothing could be tried."""

    effects: Mapping[str, Effect]
    causes: tuple[str, ...] = ()
    impossible: str = ""


async def explain_difference(one: str, other: str, *, of_one: Services, of_other: Services) -> Explanation:
    """Explain the answer of `other` by its differences from `one`; the services are those that replay each. Raises
    EntryNotFound."""
    for entry_id, services in ((one, of_one), (other, of_other)):
        replayed = await replay(entry_id, services=services)
        if not replayed.reproduced:
            said = f"{replayed.verdict}, at {replayed.differs_at or 'its bytes'}"
            said += "".join(f"; {stage.detail}" for stage in replayed.stages if stage.name == CHECKS)
            return Explanation({}, impossible=f"entry {entry_id} cannot be replayed: {said}")
    try:
        runs = await Run.read(one, of_one), await Run.read(other, of_other)
    except ReplayImpossible as exc:
        return Explanation({}, impossible=str(exc))
    if runs[0].case.ask.question != runs[1].case.ask.question:
        return Explanation({}, impossible="the questions differ, so nothing was exchanged")
    return await _explained(*runs)


async def _explained(one: Run, other: Run) -> Explanation:
    goal, before = told_in(_body(other)), told_in(_body(one))
    differing = components(one, other)
    if await _answer(one, other, differing) != goal:
        return Explanation({}, impossible="the first run with everything of the second does not give its answer")
    effects: dict[str, Effect] = {}
    for each in differing:
        alone = await _answer(one, other, {each})
        effects[each] = "explains" if alone == goal else "nothing" if alone == before else "changes"
    needed = list(differing)
    for each in differing:
        fewer = [name for name in needed if name != each]
        if await _answer(one, other, fewer) == goal:
            needed = fewer
    return Explanation(effects, tuple(needed))


def components(one: Run, other: Run) -> tuple[str, ...]:
    """The components in which two runs differ, what follows from others first."""
    return tuple(each for each in (*map(str, Component), *_settings(one, other)) if _differs(each, one, other))


def told_in(body: Mapping[str, Any]) -> Any:
    """The content of a body, without what differs from request to request."""
    cited = body.get("citations") or {}
    records = {key: each.get("chunk_id") for key, each in cited.items()} if isinstance(cited, dict) else {}
    return body["outcome"], sorted(body.get("reason_codes") or ()), body.get("answer"), records


def _body(run: Run) -> Mapping[str, Any]:
    return dict(json.loads(run.recorded.parts["answer"]))


def _settings(one: Run, other: Run) -> list[str]:
    return [SETTING + name for name in sorted({*one.pinned, *other.pinned})]


def _differs(name: str, one: Run, other: Run) -> bool:
    if name.startswith(SETTING):
        setting = name.removeprefix(SETTING)
        return one.pinned.get(setting) != other.pinned.get(setting)
    if name in _SEARCHED and None in (one.recorded.gathered, other.recorded.gathered):
        return False
    value = _VALUES[Component(name)]
    return bool(value(one) != value(other))


_SEARCHED = frozenset({Component.FOUND, Component.READING})
"""Components that a run lacks if it was refused before anything was searched: those of the other run take their
place."""
_VALUES: Mapping[Component, Callable[[Run], object]] = {
    Component.FOUND: lambda run: (run.recorded.gathered, run.case.agent),
    Component.READING: lambda run: (run.case.intent, run.case.limitations),
    Component.SCOPE: lambda run: (run.case.scope, run.recorded.classes),
    Component.MODEL: lambda run: None if run.written is None else run.written.said.model,
    Component.SOFTWARE: lambda run: run.case.claims_version,
    Component.TIME: lambda run: run.case.now_ms,
    Component.CONTEXT: lambda run: (*_asked_with(run.case.ask), run.inputs["profile"]),
    Component.POLICY: lambda run: bundle_of(run.recorded.asked),
    Component.ASKER: lambda run: run.case.ask.subject,
}
"""The value of each component in a run, by which runs are compared."""


def _asked_with(ask: Ask) -> tuple[object, ...]:
    return ask.context, ask.options, ask.purpose


async def _answer(one: Run, other: Run, names: Collection[str]) -> Any:
    """The content of the first run's answer with those components of the second; None where nobody can tell."""
    try:
        return told_in(await _run(one, other, frozenset(names)))
    except (ReplayImpossible, AIError, PolicyError):
        return None


async def _run(one: Run, other: Run, names: frozenset[str]) -> Mapping[str, Any]:
    def of(component: Component) -> Run:
        chosen, spare = (other, one) if component in names else (one, other)
        return spare if component in _SEARCHED and chosen.recorded.gathered is None else chosen

    found, policy = of(Component.FOUND), of(Component.POLICY)
    case = _case(one, of)
    settings = as_recorded(_pinned(one, other, names), policy.services, case.profile)
    case = await check_gate(settings.case(case), settings.services)
    case = await _decided(case, of(Component.SCOPE), policy)
    words = of(Component.MODEL)
    held = words.written is not None and words.written.structured
    model = (_StructuredWords if held else _RecordedWords)(words, one, other)
    services = replace(
        settings.services,
        model=model,
        fallback=_FilledWords(model) if model.filled else None,
        judge=None,
        repairs=model.repairs,
        canary=one.recorded.canary,
    )
    core = await run_core(case, found.recorded.gathered if case.decided.allowed else None, services=services)
    return body_of(case, core, shown_items(case, core))


def _pinned(one: Run, other: Run, names: frozenset[str]) -> dict[str, str]:
    """The settings of the first run, those of the second where they are named."""
    chosen = {name: (other if SETTING + name in names else one).pinned for name in {*one.pinned, *other.pinned}}
    return {name: pinned[name] for name, pinned in chosen.items() if name in pinned}


def _case(one: Run, of: Callable[[Component], Run]) -> Case:
    """The first case with what is exchanged of it, before the gate."""
    asked, reading = of(Component.CONTEXT).case, of(Component.READING).case
    ask = replace(
        one.case.ask,
        subject=of(Component.ASKER).case.ask.subject,
        context=asked.ask.context,
        options=asked.ask.options,
        purpose=asked.ask.purpose,
    )
    return replace(
        one.case,
        ask=ask,
        profile=asked.profile,
        request=asked.request,
        scope=of(Component.SCOPE).case.scope,
        intent=reading.intent,
        limitations=reading.limitations,
        agent=of(Component.FOUND).case.agent,
        now_ms=of(Component.TIME).case.now_ms,
        claims_version=of(Component.SOFTWARE).case.claims_version,
    )


async def _decided(case: Case, scope: Run, policy: Run) -> Case:
    """The query point over the classes that one run knew, by the bundle of one run."""
    classes = [from_json(each, ClassFacts) for each in scope.recorded.classes]
    decision = await policy.services.points(case.now_ms).query(
        request=case.asked, subject=case.ask.subject, prompt=prompt_facts(case), classes=classes
    )
    return replace(case, decision=decision)


class _RecordedWords:
    """A `ChatModel` in the place of the chosen run's: made again where it needs no server, else saying what is on
    record for the very prompt. Raises ReplayImpossible where nobody can tell."""

    def __init__(self, chosen: Run, one: Run, other: Run) -> None:
        self._one = one.recorded
        self._calls = [run.written for run in (chosen, one, other) if run.written is not None]
        self._remade = chosen.services.remade

    @property
    def filled(self) -> bool:
        """True if something was filled in for the words of a model."""
        return any(call.filled is not None for call in self._calls)

    @property
    def repairs(self) -> bool:
        """True if the chosen model tried a second time."""
        return bool(self._calls) and self._calls[0].second is not None

    async def identity(self) -> ModelIdentity:
        """The chosen run's; the other's where that asked no model."""
        if not self._calls:
            raise ReplayImpossible("neither run asked a model")
        return self._calls[0].said.model

    async def complete(self, request: ChatRequest) -> Completion:
        """The model's completion of that prompt."""
        model = self._remade(await self.identity())
        return self.said_to(request.prompt.prompt) if model is None else await model.complete(request)

    def said_to(self, prompt: str) -> Completion:
        """The completion by that model of that prompt, or of what came after it. Raises ReplayImpossible."""
        unmarked, model = _unmarked(prompt, self._one), self._calls[0].said.model
        for call in self._calls:
            if call.second is not None and call.second[0] == unmarked and call.said.model == model:
                return call.second[1]
        return self.on_record(prompt).said

    def on_record(self, prompt: str) -> Written:
        """The call of that model with that prompt."""
        unmarked, model = _unmarked(prompt, self._one), self._calls[0].said.model
        for call in self._calls:
            if call.prompt == unmarked and call.said.model == model:
                return call
        raise ReplayImpossible("nobody knows what the model writes to a prompt that is not on record")

    async def aclose(self) -> None:
        """Nothing to close."""


class _StructuredWords(_RecordedWords):
    """The same of a model that was held to a schema."""

    async def structured(self, request: StructuredRequest) -> Completion:
        """The model's completion of that prompt."""
        return self.said_to(request.messages[-1].content)


class _FilledWords:
    """The words that were filled in for those of the model, prompt by prompt."""

    def __init__(self, words: _RecordedWords) -> None:
        self._words = words

    async def identity(self) -> ModelIdentity:
        """See `_RecordedWords`."""
        return await self._words.identity()

    async def complete(self, request: ChatRequest) -> Completion:
        """The words on record, none where nothing was filled in for that prompt. Raises ReplayImpossible where the
        prompt is not on record."""
        call = self._words.on_record(request.prompt.prompt)
        return replace(call.said, text="") if call.filled is None else call.filled

    async def aclose(self) -> None:
        """Nothing to close."""
