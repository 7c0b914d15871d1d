"""Replay of what was shown without an answer: searches and slices of documents, recomputed from their recorded inputs.

The same code as at the time runs on what was recorded of the channels' runs, the records and the other reads: gate,
query point, fusion, evidence point, scores, shaping, body. Nothing is compared with itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ai.canonical import canonical, from_json
from ai.case import Case, Services
from ai.comparison import Stage, compare
from ai.enforcement import enforce_evidence, evidence_facts
from ai.errors import ReplayImpossible
from ai.profiles import profile_named
from ai.recording import ReplayInputs, decisions_json
from ai.replay_case import computed_again, front_again, part_of, recorded_case, recorded_runs
from ai.retrieval_reads import Given, RecordedReads
from ai.retrieval_record import SEARCH, SLICE, search_parts, search_pinned, surface_of
from ai.retrieval_surface import Surface, decide, show, surface_profile
from ai.scoping import NO_PROMPT, class_facts
from ai.slices import slice_body, slice_evidence
from policy.model import ClassFacts, RequestFacts, Subject
from retrieval.bundle import Gathered
from retrieval.model import EvidenceBundle
from retrieval.registry.store import Slice

_STAGES = ("policy.evidence", "bundle", "answer")


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What was shown, made again, and how it compares. `case` and `gathered` are those of a search that the stores can
    be asked again."""

    stages: tuple[Stage, ...]
    changed: tuple[str, ...] = ()
    case: Case | None = None
    gathered: Gathered | None = None


def is_retrieval(parts: Mapping[str, bytes]) -> bool:
    """Whether the parts are those of a search or a slice that can be made again."""
    return bool(parts.get("replay")) and json.loads(parts["replay"]).get("v") in {SEARCH, SLICE}


async def recompute_retrieval(parts: Mapping[str, bytes], services: Services) -> Recomputed:
    """Make it again. Raises `ReplayImpossible`, `ValueError` or `cattrs.BaseValidationError` for parts that do not hold
    together, and what the policy raises."""
    recorded = part_of(parts, "replay")
    if recorded["v"] == SLICE:
        return await _slice_again(recorded, parts, services)
    return await _search_again(recorded, parts, services)


async def _search_again(recorded: Mapping[str, Any], parts: Mapping[str, bytes], services: Services) -> Recomputed:
    fields = dict(recorded)
    del fields["v"]
    surface, given = surface_of(fields.pop("surface")), from_json(fields.pop("given"), Given)
    embedding = fields.pop("embedding")
    inputs = from_json(fields, ReplayInputs)
    case = recorded_case(inputs, parts, services)
    asked = replace(case.ask, embedding=None if embedding is None else tuple(map(float, embedding)))
    profile = surface_profile(surface, asked, profile_named(inputs.profile))
    case, stages = await front_again(replace(case, ask=asked, profile=profile), parts, services)
    gathered = _found(surface, given, parts, inputs) if case.decided.allowed else None
    if gathered is not None:
        stages = (*stages, computed_again(gathered))
    reads = RecordedReads(given)
    found = await decide(case, surface, gathered, reads, services)
    shown = await show(found, surface, reads, services)
    again = search_parts(found, shown.body)
    stages = (*stages, *(compare(name, parts.get(name, b""), again.get(name, b"")) for name in _STAGES))
    now = search_pinned(profile, services)
    changed = tuple(sorted(name for name, value in inputs.pinned.items() if now.get(name) != value))
    return Recomputed(stages, changed, case, gathered if surface.searches else None)


def _found(surface: Surface, given: Given, parts: Mapping[str, bytes], inputs: ReplayInputs) -> Gathered | None:
    if surface.ids:
        records = inputs.sourced()
        if sorted(records) != sorted(given.named):
            raise ReplayImpossible("the records are not those that answered to the names")
        return Gathered((), {name: records[name] for name in given.named})
    return recorded_runs(parts, inputs) if surface.searches else None


async def _slice_again(recorded: Mapping[str, Any], parts: Mapping[str, bytes], services: Services) -> Recomputed:
    """A slice of a document: the query point over the recorded classes, the evidence point over the recorded slice, and
    the body."""
    subject, points = from_json(recorded["subject"], Subject), services.points(recorded["now_ms"])
    facts = json.loads(parts["policy.query"])[0]["input"]
    request = RequestFacts(id=recorded["request_id"])
    classes = [from_json(each, ClassFacts) for each in facts["classes"]]
    query = await points.query(request=request, subject=subject, prompt=NO_PROMPT, classes=classes)
    found = from_json(recorded["slice"], Slice)
    item = slice_evidence(found, recorded["asked"]["locator"])
    decision = await points.evidence(
        request=request,
        subject=subject,
        prompt=NO_PROMPT,
        classes=class_facts([found.facts.visibility]),
        evidence=evidence_facts(item, rules=services.rules),
        prior=query,
    )
    admitted, _ = enforce_evidence(EvidenceBundle((item,)), decision)
    stages = [
        compare("policy.query", parts["policy.query"], canonical(decisions_json([query]))),
        compare("policy.evidence", parts["policy.evidence"], canonical(decisions_json([decision]))),
    ]
    if not admitted:
        return Recomputed((*stages, Stage("answer", False, "the slice is not admitted")))
    entry_id = json.loads(parts["answer"])["provenance"]["entry_id"]
    body = slice_body(found, admitted[0], request_id=recorded["request_id"], entry_id=entry_id)
    return Recomputed((*stages, compare("answer", parts["answer"], canonical(body))))
