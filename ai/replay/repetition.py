"""Grade R2 of replay: the recorded model asked again, with the recorded prompts and options.

An output can be repeated only by the model that gave it, so identities are compared first: name, weights, template,
parameters, server version, window and options, each told by name where it differs. What was sampled without a seed
cannot be repeated by anyone, and is not asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ai.answer.core import CoreResult
from ai.answer.draft.generate import ModelCall, ask_in_mode
from ai.answer.draft.paraphrases import judged_again
from ai.case.agent_record import AgentCall
from ai.case.case import Case, Services
from ai.errors import AIError
from ai.model import DEFAULT_MODEL, Completion, ModelIdentity, Repair, SourceReading
from ai.models.chat_model import ChatModel, ChatRequest, Message, StructuredModel, StructuredRequest
from ai.models.reader.lazy import ClaimReader
from ai.models.reading.versions import KEPT_VERSIONS, VERSION
from ai.replay.comparison import Stage, compare, not_kept

IDENTITY = "model.identity"


def repeatable(core: CoreResult) -> bool:
    """True if the record holds a model call, and none that was sampled without a seed."""
    call = core.call
    sampled = call is not None and call.temperature_milli > 0 and call.seed is None
    return not sampled and bool(_recorded(core))


async def repeat(
    case: Case, core: CoreResult, model: ChatModel, beside: ChatModel | None, judge: ClaimReader | None = None
) -> tuple[Stage, ...]:
    """The stages of R2, the last of which is the first that differs; never raises what a model raises. `beside`: the
    default model, whose reading a model without one was held against; `judge`: the reader that judged what the model
    said in its own words."""
    try:
        identity = await model.identity()
        stages = [_same_model([completion.model for completion in _recorded(core)], identity)]
        for number, planned in enumerate(() if core.agent is None else core.agent.calls):
            if stages[-1].same:
                stages.append(await _planned(f"model.{planned.purpose}[{number}]", planned, model, case))
        if core.call is not None and stages[-1].same:
            reading = None if core.draft is None else core.draft.completion.reading
            written = await _written(core.call, reading, model, beside, case)
            apart = await _judged_apart(core, judge)
            stages.append(replace(written, detail="; ".join(filter(None, (written.detail, apart)))))
            repair = None if core.draft is None else core.draft.repair
            if repair is not None and stages[-1].same:
                stages.append(await _repaired(core.call, repair, model, case))
    except AIError as exc:
        return (Stage(IDENTITY, False, f"{type(exc).__name__}: {exc}"),)
    return tuple(stages)


async def model_of_record(core: CoreResult, services: Services) -> ChatModel:
    """The model that the record names, made again where it needs no server; otherwise today's."""
    identity, now = _recorded(core)[-1].model, await _identity(services.model)
    if now is not None and (identity.name, identity.digest) == (now.name, now.digest):
        return services.model
    return services.remade(identity) or services.model


async def _identity(model: ChatModel) -> ModelIdentity | None:
    try:
        return await model.identity()
    except AIError:
        return None


def _recorded(core: CoreResult) -> list[Completion]:
    planned = [] if core.agent is None else [call.completion for call in core.agent.calls]
    if core.draft is None:
        return planned
    repair = core.draft.repair
    return [*planned, core.draft.completion, *([] if repair is None else [repair.completion])]


def _same_model(recorded: Sequence[ModelIdentity], now: ModelIdentity) -> Stage:
    for identity in recorded:
        if identity != now:
            return Stage(IDENTITY, False, _difference(identity, now))
    return Stage(IDENTITY, True)


def _difference(recorded: ModelIdentity, now: ModelIdentity) -> str:
    if recorded.name != now.name:
        return f"recorded {recorded.name}, now {now.name}"
    names = sorted({*recorded.details, *now.details})
    told = [
        _lost(recorded, name)
        or f"{name}: recorded {recorded.details.get(name, 'nothing')}, now {now.details.get(name, 'nothing')}"
        for name in names
        if recorded.details.get(name) != now.details.get(name)
    ]
    return "; ".join(told) or f"recorded {recorded.digest}, now {now.digest}"


def _lost(recorded: ModelIdentity, name: str) -> str:
    """That the default model had rules which are not kept, if the detail of that name says so."""
    version = recorded.details.get(name, "")
    if recorded.name != DEFAULT_MODEL or name != "version" or not version.isdecimal():
        return ""
    return "" if int(version) in KEPT_VERSIONS else not_kept(int(version), VERSION)


async def _asked(call: ModelCall, model: ChatModel, case: Case) -> Completion:
    request = ChatRequest(
        prompt=call.prompt,
        question=case.question,
        intent=case.intent,
        max_tokens=call.max_tokens,
        temperature_milli=call.temperature_milli,
        seed=call.seed,
        deadline_s=case.profile.model_deadline_s,
    )
    return await ask_in_mode(model, request, call.mode)


async def _repaired(call: ModelCall, repair: Repair, model: ChatModel, case: Case) -> Stage:
    """The second call for a draft, again."""
    again = await _asked(replace(call, prompt=replace(call.prompt, prompt=repair.prompt)), model, case)
    cut = (repair.completion.truncated, again.truncated)
    return _same_output("model.repair", repair.completion.text, again.text, cut=cut)


async def _written(
    call: ModelCall, reading: SourceReading | None, model: ChatModel, beside: ChatModel | None, case: Case
) -> Stage:
    again = await _asked(call, model, case)
    said = _same_output("model.output", call.output, again.text, cut=(call.truncated, again.truncated))
    read = again.reading
    if reading is not None and read is None and beside is not None:
        read = (await _asked(call, beside, case)).reading
    return replace(said, detail=said.detail or _differs_by(reading, read))


async def _judged_apart(core: CoreResult, judge: ClaimReader | None) -> str:
    """By how much what a reader makes of the draft's own words differs from what it made of them; nothing where it
    names another reader."""
    recorded = None if core.draft is None else core.draft.completion.judged
    if recorded is None or core.call is None or judge is None or judge.digest != recorded.reader:
        return ""
    again = await judged_again(recorded, core.call.prompt.sources, judge)
    if again is None:
        return ""
    most = max(abs(one.milli - other.milli) for one, other in zip(recorded.claims, again.claims, strict=True))
    return f"the reader's chances of claims differ by at most {most} thousandths" if most else ""


def _differs_by(recorded: SourceReading | None, again: SourceReading | None) -> str:
    """By how much two readings of the same sources differ; the words decide whether they are the same."""
    if recorded is None or again is None:
        return "" if recorded is again else "only one of the two was read by a reader"
    one, other = ({(s.index, s.start): s.milli for s in each.sentences} for each in (recorded, again))
    apart = [abs(one[key] - other[key]) for key in one.keys() & other.keys()]
    most = max([abs(recorded.answered_milli - again.answered_milli), *apart])
    beside = len(one.keys() ^ other.keys())
    told = f"the reader's scores differ by at most {most} thousandths" if most else ""
    return "; ".join(filter(None, (told, f"{beside} sentences were read only once" if beside else "")))


async def _planned(name: str, call: AgentCall, model: ChatModel, case: Case) -> Stage:
    from ai.agent.model_planner import GRADE_SCHEMA, PLAN_SCHEMA  # noqa: PLC0415  agentic records only

    structured = _structured(model)
    if structured is None:
        return Stage(name, False, "the model cannot be held to a schema now")
    again = await structured.structured(
        StructuredRequest(
            messages=(Message("system", call.system), Message("user", call.prompt)),
            schema=PLAN_SCHEMA if call.purpose == "plan" else GRADE_SCHEMA,
            max_tokens=call.max_tokens,
            temperature_milli=0,
            seed=0,
            deadline_s=case.profile.model_deadline_s,
        )
    )
    heard = again.text[: 4 * call.max_tokens]  # as much as the agent hears
    cut = again.truncated or heard != again.text
    return _same_output(name, call.completion.text, heard, cut=(call.completion.truncated, cut))


def _structured(model: ChatModel) -> StructuredModel | None:
    return model if isinstance(model, StructuredModel) else None


def _same_output(name: str, recorded: str, again: str, *, cut: tuple[bool, bool]) -> Stage:
    if recorded == again and cut[0] != cut[1]:
        return Stage(name, False, "the same words, but a limit cut only one of them")
    return compare(name, recorded.encode("utf-8", "replace"), again.encode("utf-8", "replace"))
