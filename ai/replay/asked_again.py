"""A recorded question asked again under another policy, with gate, settings, template and model as they were: what a
backtest cannot read off recorded decisions, because what a policy drops lets other evidence in and other sentences be
chosen.

It can be known where the stores still find for the recorded question what they found then, and where the model is one
that says the same to the same prompt. Otherwise there is a code for why not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ai.answer.core import run_core
from ai.answer.places import admit_places, find_places
from ai.canonical import from_json
from ai.case.case import Case, Services
from ai.errors import ReplayImpossible
from ai.focus_pipeline import check_gate, decide_scope, read_question
from ai.model import ModelIdentity
from ai.models.chat_model import ChatModel
from ai.record.recording import body_of, shown_items
from ai.replay.replay import RecordedRun, recorded_run, recorded_template
from ai.replay.settings import as_recorded
from ai.replay.stores import drift_between, search_again
from policy.model import Subject

NOT_KNOWN: Mapping[str, str] = {
    "NO_RUN": "the entry holds no whole run, so it cannot be asked again",
    "STEPS_CHOSEN": "an agent chose the steps of the search; which it would choose now is not on record",
    "MODEL_OTHER": "the model's words for another prompt are not on record, and the model does not always say the same",
    "SETTINGS_GONE": "the settings of the record cannot be had any more",
    "CHECKS_GONE": "the draft was checked by rules that are not kept",
    "CORPUS_OTHER": "the stores find other things for the recorded question than they found then",
}
"""Why it is not known what another policy would make of a request, by code."""


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """The outcome and the words of the answer under the other policy, and whether they are others; or, with all of that
    empty, the code of NOT_KNOWN."""

    outcome: str = ""
    text: str = ""
    changed: bool = False
    unknown: str = ""


async def ask_again(entry_id: str, *, subject: Subject, services: Services) -> AskedAgain:
    """Ask the entry's question as `subject`, who is its asker as the data of the other policy make him; `services`
    decide by that policy. Nothing is recorded. Raises what a store or the engine raises."""
    try:
        recorded = await recorded_run(entry_id, services)
    except ReplayImpossible:
        return AskedAgain(unknown="NO_RUN")
    if recorded.case.profile.agentic:
        return AskedAgain(unknown="STEPS_CHOSEN")
    settings = as_recorded(json.loads(recorded.parts["replay"])["pinned"], services, recorded.case.profile)
    if settings.missing or recorded.checks_missing:
        return AskedAgain(unknown="SETTINGS_GONE" if settings.missing else "CHECKS_GONE")
    model = await _model(recorded, services)
    if model is None:
        return AskedAgain(unknown="MODEL_OTHER")
    case = settings.case(recorded.case)
    if recorded.gathered is not None and drift_between(recorded.gathered, await search_again(case, services)):
        return AskedAgain(unknown="CORPUS_OTHER")
    running = replace(
        settings.services,
        model=model,
        canary=recorded.canary,
        template=recorded_template(recorded.parts, settings.services),
    )
    then = json.loads(recorded.parts["answer"])
    return await _asked(replace(case, ask=replace(case.ask, subject=subject)), running, said=str(then["answer"]))


async def _asked(case: Case, services: Services, *, said: str) -> AskedAgain:
    case = await read_question(await decide_scope(await check_gate(case, services), services), services)
    gathered = await search_again(case, services) if case.decided.allowed else None
    core = await run_core(case, gathered, services=services)
    core = await admit_places(case, core, await find_places(case, core, services), services)
    body = body_of(case, core, shown_items(case, core))
    return AskedAgain(str(body["outcome"]), str(body["answer"]), changed=str(body["answer"]) != said)


async def _model(recorded: RecordedRun, services: Services) -> ChatModel | None:
    """The recorded model, or today's where none was asked, if it is one that says the same to the same prompt."""
    calls = json.loads(recorded.parts["calls"]) if recorded.parts.get("calls") else []
    said = [call["completion"]["model"] for call in calls if "purpose" not in call]
    identity = from_json(said[0], ModelIdentity) if said else await services.model.identity()
    return services.remade(identity)
