"""Attribution of a change: the recorded run once more with everything as it was recorded, but for one component.

Where the answer changes only when today's policy (or model, template, index) takes the place of the recorded one, that
is the cause. What still differs with nothing swapped is the software itself or a setting: the shell is never recorded.
A policy is a cause by what it decides: that another bundle or engine signs the very same decision changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ai.canonical import canonical, from_json, to_json
from ai.case import Services
from ai.comparison import Stage, compare
from ai.errors import ReplayImpossible
from ai.focus_pipeline import refused
from ai.recorded_policy import RecordedPoints
from ai.recording import body_of, decisions_json, deterministic_parts, pinned
from ai.render import evidence_json
from ai.replay import STAGES, RecordedModel, RecordedRun, recorded_run
from ai.replay_stores import Drift, drift_between, search_again
from ai.scoping import prompt_facts
from ai.shell import run_shell
from policy.model import ClassFacts, Decision, Stamp
from prompt_templates import PromptTemplate, load_template


class Swap(StrEnum):
    """The component that is today's, while all others are the recorded ones."""

    MODEL = "model"
    TEMPLATE = "template"
    POLICY = "policy"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class Attribution:
    """What the swap changes: the stages compared with the record, and for the index how the stores have drifted.
    `swap` None: nothing was swapped. `changed` names the pinned settings that are not the recorded ones; these are
    today's in every run, since the record holds their digests only."""

    entry_id: str
    swap: Swap | None
    stages: tuple[Stage, ...]
    drift: tuple[Drift, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def differs_at(self) -> str | None:
        """The first stage that is not the recorded one."""
        return next((stage.name for stage in self.stages if not stage.same), None)


async def attribute(entry_id: str, swap: Swap | None, *, services: Services) -> Attribution:
    """Run it. Raises `EntryNotFound`, `ReplayImpossible` for an entry without a recorded run, and what the swapped
    component raises."""
    recorded = await recorded_run(entry_id, services)
    changed = _settings_changed(recorded, services)
    points = RecordedPoints(recorded.parts)
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
    template = services.template if swap is Swap.TEMPLATE else recorded_template(recorded.parts)
    running = replace(
        services,
        model=services.model if swap is Swap.MODEL else RecordedModel(recorded.parts),
        points=services.points if swap is Swap.POLICY else lambda _: points,
        template=template or services.template,
        canary=recorded.canary,
    )
    try:
        if not case.decided.allowed or gathered is None:
            shell = refused(case)
        else:
            shell = await run_shell(case, gathered, services=running)
    except ReplayImpossible as exc:
        return Attribution(entry_id, swap, (*stages, Stage("inputs", False, str(exc))), drift, changed)
    shown = [evidence_json(item) for item in shell.items]
    again = deterministic_parts(shell, body_of(case, shell, shown), shown)
    # A recorded template that this software no longer has cannot be held, so the prompt says nothing then.
    compared = [name for name in STAGES if template is not None or name != "calls"]
    stages += [compare(name, recorded.parts.get(name, b""), unsigned(again.get(name, b""))) for name in compared]
    return Attribution(entry_id, swap, tuple(stages), drift, changed)


async def attribute_all(entry_id: str, *, services: Services) -> tuple[Attribution, ...]:
    """Nothing swapped, then each component by itself."""
    return tuple([await attribute(entry_id, swap, services=services) for swap in (None, *Swap)])


def recorded_template(parts: Mapping[str, bytes]) -> PromptTemplate | None:
    """The template of the recorded call, if this software has it still with the same bytes."""
    calls = [call for call in json.loads(parts["calls"]) if "template" in call] if parts.get("calls") else []
    if not calls:
        return None
    try:
        found = load_template(calls[-1]["template"])
    except LookupError:
        return None
    return found if found.digest == calls[-1]["template_digest"] else None


def _settings_changed(recorded: RecordedRun, services: Services) -> tuple[str, ...]:
    """All that are pinned but the template, which is swapped."""
    then: Mapping[str, str] = json.loads(recorded.parts["replay"])["pinned"]
    now = pinned(services, recorded.case.profile)
    return tuple(sorted(name for name in then if name != "template" and now.get(name) != then[name]))


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
