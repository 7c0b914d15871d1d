"""A recorded request as the pipeline's state again, and its front half, gate and query point, run again over it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ai.canonical import canonical, from_json, to_json
from ai.case.case import Case, Services, Stopwatch
from ai.case.profiles import profile_named
from ai.errors import ReplayImpossible
from ai.focus_pipeline import check_gate
from ai.governance.scoping import prompt_facts
from ai.model import CLAIMS_VERSION, KEPT_CLAIMS, Ask, MapContext
from ai.record.recording import ReplayInputs, decisions_json
from ai.replay.comparison import Stage, compare, not_kept
from ledger.model import Leaf
from policy.model import ClassFacts, RequestFacts
from retrieval.bundle import GatheredRuns
from retrieval.model import Record, Run
from retrieval.spatial.computing.compute import recompute

CHECKS = "checks"


def recorded_case(inputs: ReplayInputs, asked: Mapping[str, bytes], services: Services) -> Case:
    """The request and what was read from it, before the gate; its draft is checked by today's rules where the recorded
    ones are not kept."""
    context = json.loads(asked["context"])
    ask = Ask(
        request_id=inputs.request_id,
        question=asked["question"].decode("utf-8"),
        subject=inputs.subject,
        context=from_json(context["context"], MapContext),
        options=inputs.options,
        purpose=inputs.purpose,
        session_id=context["session_id"],
    )
    return Case(
        ask=ask,
        profile=profile_named(inputs.profile),
        now_ms=inputs.now_ms,
        watch=Stopwatch(services.clock_ms),
        scope=inputs.scope,
        intent=inputs.intent,
        limitations=inputs.limitations,
        entry_id=inputs.entry_id,
        agent=inputs.agent,
        claims_version=CLAIMS_VERSION if checks_missing(inputs) else inputs.claims_version,
    )


def entry_named(leaf: Leaf, *, entry_id: str, request_id: str) -> Stage:
    """That the parts speak of the entry that they belong to."""
    same = (leaf.entry_id, leaf.request_id) == (entry_id, request_id)
    return Stage("entry", same, "" if same else f"the parts are those of entry {entry_id}, request {request_id}")


async def front_again(case: Case, asked: Mapping[str, bytes], services: Services) -> tuple[Case, tuple[Stage, ...]]:
    """The gate and the query point again, over the recorded question and classes."""
    case = await check_gate(case, services)
    recorded = json.loads(asked["scope"])
    gate = compare("gate", canonical(recorded["gate"]), canonical(to_json(case.gate)))
    facts = json.loads(asked["policy.query"])[0]["input"]
    request = from_json(facts["request"], RequestFacts)
    classes = [from_json(each, ClassFacts) for each in facts["classes"]]
    decision = await services.points(case.now_ms).query(
        request=request, subject=case.ask.subject, prompt=prompt_facts(case), classes=classes
    )
    decided = compare("policy.query", asked["policy.query"], canonical(decisions_json([decision])))
    return replace(case, request=request, decision=decision), (gate, decided)


def bundle_missing(case: Case, asked: Mapping[str, bytes]) -> tuple[str, ...]:
    """`policy`, where another bundle decided than the recorded one, because no archive has that."""
    return () if case.decided.stamp.bundle == bundle_of(asked) else ("policy",)


def checks_missing(inputs: ReplayInputs) -> tuple[str, ...]:
    """`checks`, where the draft was checked by rules that are not kept."""
    return () if inputs.claims_version in KEPT_CLAIMS else (CHECKS,)


def checked_again(inputs: ReplayInputs, stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """The stages, and behind them, where today's checks ran in the place of others, that they did: the same if all
    that they led to is."""
    if not checks_missing(inputs):
        return stages
    told = not_kept(inputs.claims_version, CLAIMS_VERSION)
    return (*stages, Stage(CHECKS, all(stage.same for stage in stages), told))


def bundle_of(parts: Mapping[str, bytes]) -> str:
    """The bundle that decided at the query point."""
    return str(json.loads(parts["policy.query"])[0]["stamp"]["bundle"])


def recorded_runs(parts: Mapping[str, bytes], inputs: ReplayInputs) -> GatheredRuns:
    """The recorded results of the channels."""
    runs = tuple(from_json(run, Run) for run in part_of(parts, "candidates")["runs"])
    return GatheredRuns(runs=runs, records=inputs.sourced(), limitations=inputs.found_limitations, timings_ms={})


def computed_again(gathered: GatheredRuns) -> Stage:
    """Every computed candidate again, from its recorded inputs."""
    for run in gathered.runs:
        for hit in run.hits:
            if hit.computed is None:
                continue
            inputs = [
                gathered.records[record_id].record for record_id in hit.computed.inputs if record_id in gathered.records
            ]
            if recompute(hit.computed.operation, hit.computed.parameters, inputs) != hit.computed:
                return Stage("computed", False, f"{hit.computed.operation} gives another result from its inputs")
    return Stage("computed", True)


def comes_to(computed: Mapping[str, Any], records: Sequence[Record]) -> bool | None:
    """True if a recorded computation says of these records what it said; None where they are not what it needs."""
    try:
        done = recompute(computed["operation"], computed["parameters"], records)
    except ValueError:
        return None
    return (done.statement, done.input_digest) == (computed["statement"], computed["input_digest"])


def part_of(parts: Mapping[str, bytes], name: str) -> Any:
    """A part as a JSON value. Raises `ReplayImpossible` where the entry has none."""
    if not parts.get(name):
        raise ReplayImpossible(f"the entry has no part {name}")
    return json.loads(parts[name])
