"""Attribution of a change: the recorded run once more with everything as it was recorded, but for one component.

Where the answer changes only when today's policy (or model, template, index, settings) takes the place of the recorded
one, that is the cause. What still differs with nothing swapped is the software itself: the core is never recorded.
A policy is a cause by what it decides: that another bundle or engine signs the very same decision changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ai.answer.core import run_core
from ai.answer.places import admit_places
from ai.canonical import canonical, from_json, to_json
from ai.case.case import Services
from ai.errors import ReplayImpossible
from ai.focus_pipeline import check_gate
from ai.governance.scoping import prompt_facts
from ai.record.recording import body_of, decisions_json, deterministic_parts, shown_items
from ai.replay.comparison import Stage, compare
from ai.replay.recorded_policy import RecordedPoints
from ai.replay.replay import STAGES, RecordedRun, recorded_run, recorded_template, with_recorded_words
from ai.replay.settings import AsRecorded, as_recorded
from ai.replay.stores import Drift, drift_between, search_again
from policy.model import ClassFacts, Decision, Stamp


class Swap(StrEnum):
    """The component that is today's, while all others are the recorded ones."""

    MODEL = "model"
    TEMPLATE = "template"
    POLICY = "policy"
    INDEX = "index"
    SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Attribution:
    """The effect of the swap: the stages compared with the record, and for the index how the stores have drifted.
    `swap` None: nothing was swapped. `changed` names the settings that were swapped: all that are others today, or one
    of them; with any other swap those that are today's because this home has the recorded ones no more."""

    entry_id: str
    swap: Swap | None
    stages: tuple[Stage, ...]
    drift: tuple[Drift, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def differs_at(self) -> str | None:
        """The first stage that is not the recorded one."""
        return next((stage.name for stage in self.stages if not stage.same), None)


async def attribute(entry_id: str, swap: Swap | None, *, services: Services, setting: str | None = None) -> Attribution:
    """Run it; `setting` is the only one that is swapped. Raises `EntryNotFound`, `ReplayImpossible` for an entry
    without a recorded run, and what the swapped component raises."""
    recorded = await recorded_run(entry_id, services)
    settings = _settings(recorded, services, swap, setting)
    changed = tuple(name for name in settings.changed if name != "template")
    if swap is not Swap.SETTINGS:
        changed = settings.missing
    elif setting is not None:
        changed = (setting,)
    recorded, services = replace(recorded, case=settings.case(recorded.case)), settings.services
    points = RecordedPoints(recorded.parts, services.points(recorded.case.now_ms).data)
    case, gathered, stages, drift = recorded.case, recorded.gathered, list[Stage](), tuple[Drift, ...]()
    unsigned: Callable[[bytes], bytes] = bytes
    if swap is Swap.POLICY:
        then, decision = recorded.asked["policy.query"], await _decided_today(recorded, services)
        case, unsigned = replace(case, decision=decision), _signed_as(Stamp(**json.loads(then)[0]["stamp"]), decision)
        stages.append(compare("policy.query", then, unsigned(canonical(decisions_json([decision])))))
    if swap is Swap.INDEX and gathered is not None:
        now = await search_again(case, services)
        stages.append(compare("candidates", _runs(gathered.runs), _runs(now.runs)))
        drift, gathered = drift_between(gathered, now), now
    if swap is Swap.SETTINGS:
        gate = await check_gate(case, services)
        stages.append(compare("gate", canonical(to_json(case.gate)), canonical(to_json(gate.gate))))
    running = replace(
        services if swap is Swap.MODEL else with_recorded_words(services, recorded.parts),
        points=services.points if swap is Swap.POLICY else lambda _: points,
        template=services.template if swap is Swap.TEMPLATE else recorded_template(recorded.parts, services),
        canary=recorded.canary,
    )
    try:
        core = await run_core(case, gathered if case.decided.allowed else None, services=running)
        core = await admit_places(case, core, recorded.places, running)
    except ReplayImpossible as exc:
        return Attribution(entry_id, swap, (*stages, Stage("inputs", False, str(exc))), drift, changed)
    shown = shown_items(case, core)
    again = deterministic_parts(core, body_of(case, core, shown), shown)
    # A recorded template that nobody has any more cannot be held, so the prompt says nothing then.
    held = swap is Swap.TEMPLATE or "template" not in settings.missing
    compared = [name for name in STAGES if held or name != "calls"]
    stages += [compare(name, recorded.parts.get(name, b""), unsigned(again.get(name, b""))) for name in compared]
    return Attribution(entry_id, swap, tuple(stages), drift, changed)


async def attribute_all(entry_id: str, *, services: Services) -> tuple[Attribution, ...]:
    """Nothing swapped, then each component by itself; of settings that change something, each one alone."""
    found = [await attribute(entry_id, swap, services=services) for swap in (None, *Swap)]
    several = found[-1].changed if found[-1].differs_at is not None else ()
    if len(several) > 1:
        found += [await attribute(entry_id, Swap.SETTINGS, services=services, setting=name) for name in several]
    return tuple(found)


def _settings(recorded: RecordedRun, services: Services, swap: Swap | None, setting: str | None) -> AsRecorded:
    """The recorded settings, but for what is swapped."""
    then: Mapping[str, str] = json.loads(recorded.parts["replay"])["pinned"]
    match swap:
        case Swap.TEMPLATE:
            today = frozenset({"template"})
        case Swap.SETTINGS:
            today = frozenset(then) - {"template"} if setting is None else frozenset({setting})
        case _:
            today = frozenset[str]()
    return as_recorded(then, services, recorded.case.profile, today=today)


async def _decided_today(recorded: RecordedRun, services: Services) -> Decision:
    """Today's decision of the query point over the recorded facts."""
    case = recorded.case
    classes = [from_json(each, ClassFacts) for each in recorded.classes]
    return await services.points(case.now_ms).query(
        request=case.asked, subject=case.ask.subject, prompt=prompt_facts(case), classes=classes
    )


def _signed_as(then: Stamp, now: Decision) -> Callable[[bytes], bytes]:
    """Canonical JSON with the recorded bundle and engine in the place of those that decide today."""
    names = [
        (canonical({key: getattr(now.stamp, name)})[1:-1], canonical({key: getattr(then, name)})[1:-1])
        for key, name in (("bundle", "bundle"), ("bundle_digest", "bundle"), ("engine", "engine"))
    ]

    def renamed(data: bytes) -> bytes:
        for today, recorded in names:
            data = data.replace(today, recorded)
        return data

    return renamed


def _runs(runs: Sequence[object]) -> bytes:
    return canonical({"runs": [to_json(run) for run in runs]})
