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
from ai.case.case import Case, Services
from ai.case.profiles import profile_named
from ai.errors import ReplayImpossible
from ai.record.recording import ReplayInputs, source_json
from ai.record.retrieval_record import SEARCH, SLICE, search_parts, surface_of
from ai.record.slices import slice_again
from ai.replay.case import (
    bundle_missing,
    bundle_of,
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
from ai.replay.derived import Shown, compare_sources, prov_again
from ai.replay.settings import as_recorded
from ai.search.reads import RecordedReads, SurfaceReads
from ai.search.surface import Surface, decide, show, surface_profile
from ledger.model import Leaf
from retrieval.bundle import GatheredRuns

_STAGES = ("policy.evidence", "bundle", "calls", "answer")


@dataclass(frozen=True, slots=True)
class RetrievalRecomputation:
    """The retrieval made again, and how it compares. `case` and `gathered` are those of a search that the stores can
    be asked again."""

    stages: tuple[Stage, ...]
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    case: Case | None = None
    gathered: GatheredRuns | None = None


def is_retrieval(parts: Mapping[str, bytes]) -> bool:
    """True if the parts are those of a search or a slice that can be made again."""
    return bool(parts.get("replay")) and json.loads(parts["replay"]).get("v") in {SEARCH, SLICE}


async def recompute_retrieval(leaf: Leaf, parts: Mapping[str, bytes], services: Services) -> RetrievalRecomputation:
    """Make it again. Raises `ReplayImpossible`, `ValueError` or `cattrs.BaseValidationError` for parts that do not hold
    together, and what the policy raises."""
    recorded = part_of(parts, "replay")
    if recorded["v"] == SLICE:
        return await _slice_again(leaf, parts, services)
    return await _search_again(leaf, recorded, parts, services)


async def _search_again(
    leaf: Leaf, recorded: Mapping[str, Any], parts: Mapping[str, bytes], services: Services
) -> RetrievalRecomputation:
    fields = dict(recorded)
    del fields["v"]
    surface, given = surface_of(fields.pop("surface")), from_json(fields.pop("given"), SurfaceReads)
    embedding = fields.pop("embedding")
    inputs = from_json(fields, ReplayInputs)
    case = recorded_case(inputs, parts, services)
    asked = replace(case.ask, embedding=None if embedding is None else tuple(map(float, embedding)))
    profile = surface_profile(surface, asked, profile_named(inputs.profile))
    named = entry_named(leaf, entry_id=inputs.entry_id, request_id=inputs.request_id)
    settings = as_recorded(inputs.pinned, services, profile)
    services = settings.services
    case, stages = await front_again(settings.case(replace(case, ask=asked)), parts, services)
    stages = (named, *stages)
    missing = (*settings.missing, *bundle_missing(case, parts), *checks_missing(inputs))
    gathered = _found(surface, given, parts, inputs) if case.decided.allowed else None
    if gathered is not None:
        stages = (*stages, computed_again(gathered))
    reads = RecordedReads(given)
    found = await decide(case, surface, gathered, reads, services)
    shown = await show(found, surface, reads, services)
    again = search_parts(found, shown.body)
    stages = (*stages, *(compare(name, parts.get(name, b""), again.get(name, b"")) for name in _STAGES))
    items = [result.item for result in found.results]
    stages = (*stages, *compare_sources(parts, [canonical(source_json(item)) for item in items]))
    runs = () if found.gathered is None else found.gathered.runs
    shown_as = Shown(items, case.ask.subject, case.decided, case.entry_id, inputs.software, runs)
    stages = checked_again(inputs, (*stages, prov_again(parts, shown_as, services)))
    return RetrievalRecomputation(stages, settings.changed, missing, case, gathered if surface.searches else None)


def _found(
    surface: Surface, given: SurfaceReads, parts: Mapping[str, bytes], inputs: ReplayInputs
) -> GatheredRuns | None:
    if surface.ids:
        records = inputs.sourced()
        if sorted(records) != sorted(given.named):
            raise ReplayImpossible("the records are not those that answered to the names")
        return GatheredRuns((), {name: records[name] for name in given.named})
    return recorded_runs(parts, inputs) if surface.searches else None


async def _slice_again(leaf: Leaf, parts: Mapping[str, bytes], services: Services) -> RetrievalRecomputation:
    again = await slice_again(parts, services)
    request_id = json.loads(parts["replay"])["request_id"]
    entry_id = json.loads(parts["answer"])["provenance"]["entry_id"]
    stages = [entry_named(leaf, entry_id=entry_id, request_id=request_id)]
    stages += [compare(name, parts[name], again.parts[name]) for name in ("policy.query", "policy.evidence")]
    missing = () if bundle_of(parts) == bundle_of(again.parts) else ("policy",)
    if again.item is None:
        return RetrievalRecomputation((*stages, Stage("answer", False, "the slice is not admitted")), missing=missing)
    stages += [compare("answer", parts["answer"], again.parts["answer"])]
    stages += compare_sources(parts, [again.source])
    software = json.loads(parts["replay"])["software"]
    shown_as = Shown([again.item], again.subject, again.decided, entry_id, software)
    return RetrievalRecomputation((*stages, prov_again(parts, shown_as, services)), missing=missing)
