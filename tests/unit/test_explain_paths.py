"""What became of each candidate, by which rule and fact, and the smallest change that turns it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from ai.backtest.chain import facts_of
from ai.backtest.record import RecordedDecision, RecordedRequest
from ai.explain.flips import Flips, find_flips
from ai.explain.paths import Path, Place, Stage, Verdict, candidate_paths, seen_by
from policy.authoring.lattice.domain import GROUP, OTHER_GROUP, Domain, a_class, an_item
from policy.bundles.bundle import load_bundle
from policy.model import Decision, EvidenceFacts, Finding, Injection, PromptFacts, RequestFacts, Subject
from policy.points import PolicyPoints
from policy.wasm import WasmEngine
from retrieval.model import ChannelName, Hit, Run

BUNDLE = load_bundle()
DOMAIN = Domain.of(BUNDLE)
OPEN = a_class("k1")
ITEMS: tuple[EvidenceFacts, ...] = (
    an_item("whole", OPEN),
    an_item("whole~twin", OPEN),
    an_item("secret", OPEN, label="confidential"),
    an_item("ended", OPEN, valid_until_ms=1),
    an_item("place", OPEN, handling=("sensitive_location",)),
    an_item("person", OPEN, findings=(Finding("pii.email", 0, 9),)),
    an_item("club", OPEN, groups=(OTHER_GROUP,)),
    an_item("hostile", OPEN, injection=Injection(900)),
    an_item("sum", OPEN),
    an_item("sum#d1", OPEN, label="confidential"),
)
NUMBERS = {"whole": 1, "place": 2, "person": 3}


@dataclass(frozen=True)
class World:
    """A recorded request, and the engine that decided it."""

    engine: WasmEngine
    request: RecordedRequest

    async def flips(self, role: str, *groups: str) -> Flips:
        own = {path.record_id: path.facts for path in paths(self.request) if path.facts}
        return await self.flips_of(self.request, own, DOMAIN.asker(role, groups))

    async def flips_of(self, request: RecordedRequest, own: dict[str, tuple[str, ...]], caller: Subject) -> Flips:
        facts = facts_of(request, data=BUNDLE.data, before=BUNDLE.data)
        return await find_flips(facts, own, engine=self.engine, data=BUNDLE.data, caller=caller)

    async def refused(self, *collections: str) -> RecordedRequest:
        """A viewer's request that named collections; `sealed` holds a class above the viewer's clearance."""
        points = PolicyPoints(engine=self.engine, clock_ms=lambda: 1_000, deadline_s=5, data=BUNDLE.data)
        query = await points.query(
            request=RequestFacts(id="r2", collections=collections),
            subject=DOMAIN.asker("public_viewer", ()),
            prompt=PromptFacts(chars=9, verdict="ALLOW", risk=0),
            classes=(OPEN, a_class("k2", collection="sealed", label="internal")),
        )
        assert not query.allowed
        return RecordedRequest("refused", 0, "DENY", recorded(query))


def recorded(decision: Decision) -> RecordedDecision:
    stamp = decision.stamp.bundle
    return RecordedDecision(decision.point, decision.input, decision.document, decision.digest, stamp)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    engine = WasmEngine.open(BUNDLE)
    points = PolicyPoints(engine=engine, clock_ms=lambda: 1_000, deadline_s=5, data=BUNDLE.data)
    asked: dict[str, Any] = {
        "request": RequestFacts(id="r1"),
        "subject": DOMAIN.asker("contributor", (GROUP,)),
        "prompt": PromptFacts(chars=9, verdict="ALLOW", risk=0),
        "classes": (OPEN,),
    }

    async def decide() -> RecordedRequest:
        query = await points.query(**asked)
        evidence = await points.evidence(**asked, evidence=ITEMS, prior=query)
        return RecordedRequest("entry", 0, "ANSWER", recorded(query), (recorded(evidence),))

    yield World(engine, asyncio.run(decide()))
    asyncio.run(engine.aclose())


def paths(request: RecordedRequest) -> tuple[Path, ...]:
    names = ["whole", "twin", "secret", "ended", "place", "person", "club", "hostile", "sum", "below"]
    hits = tuple(Hit(rank, name, 1.0 / rank) for rank, name in enumerate(names, start=1))
    runs = (Run(ChannelName.FULLTEXT, "tantivy", hits), Run(ChannelName.VECTOR, "numpy", (Hit(1, "whole", 0.9),)))
    shown = [{"chunk_id": id, "index": n} for id, n in NUMBERS.items()]
    return candidate_paths(request, runs, shown, {0: [1], 1: [1, 3]}, BUNDLE.rules)


def test_every_candidate_has_its_verdict_stage_and_rule(world: World) -> None:
    found = {path.record_id: path for path in paths(world.request)}
    said = {id: (path.verdict, path.stage, [each.code for each in path.because]) for id, path in found.items()}
    assert said == {
        "whole": (Verdict.KEPT, Stage.EVIDENCE, []),
        "twin": (Verdict.DROPPED, Stage.BUNDLE, []),
        "secret": (Verdict.DROPPED, Stage.EVIDENCE, ["LABEL_ABOVE_CLEARANCE"]),
        "ended": (Verdict.DROPPED, Stage.EVIDENCE, ["EXPIRED"]),
        "place": (Verdict.REDACTED, Stage.EVIDENCE, ["generalise_geometry"]),
        "person": (Verdict.REDACTED, Stage.EVIDENCE, ["redact"]),
        "club": (Verdict.DROPPED, Stage.EVIDENCE, ["GROUP_REQUIRED"]),
        "hostile": (Verdict.DROPPED, Stage.EVIDENCE, ["INJECTION_SUSPECTED", "drop"]),
        "sum": (Verdict.DROPPED, Stage.EVIDENCE, ["LABEL_ABOVE_CLEARANCE"]),
        "below": (Verdict.DROPPED, Stage.BUNDLE, []),
    }
    assert found["secret"].because[0].facts == {"label": "confidential", "subject.clearance": "internal"}
    assert found["club"].because[0].facts == {"groups": [OTHER_GROUP], "subject.groups": [GROUP]}
    assert found["twin"].folded_into == "whole"
    assert found["sum"].facts == ("sum", "sum#d1")


def test_ranks_before_and_after_and_citations(world: World) -> None:
    found = {path.record_id: path for path in paths(world.request)}
    assert [(place.channel, place.rank) for place in found["whole"].found] == [("fulltext", 1), ("vector", 1)]
    assert {id: found[id].rank_after for id in ("whole", "secret", "sum", "below")} == {
        "whole": 1,
        "secret": 2,
        "sum": 8,
        "below": None,
    }
    assert (found["whole"].number, found["whole"].sentences) == (1, (0, 1))
    assert (found["person"].number, found["person"].sentences) == (3, (1,))


def test_what_is_not_visible_leaves_no_trace(world: World) -> None:
    everything = paths(world.request)
    assert seen_by(everything, {path.record_id for path in everything}) == everything
    part = {path.record_id: path for path in seen_by(everything, {"twin", "ended", "person"})}
    assert {id: path.found[0].rank for id, path in part.items()} == {"twin": 1, "ended": 2, "person": 3}
    assert {id: path.rank_after for id, path in part.items()} == {"twin": None, "ended": 1, "person": 2}
    assert part["twin"].folded_into is None
    assert (part["person"].number, part["person"].sentences) == (None, ())


async def test_the_smallest_change_is_named(world: World) -> None:
    flips = await world.flips("admin", OTHER_GROUP)
    said = {id: ([f"{c.what} {c.value}" for c in flip.changes], flip.becomes) for id, flip in flips.items.items()}
    assert said["club"] == ([f"group {OTHER_GROUP}"], "kept")
    assert said["secret"] == (["role maintainer"], "kept")
    assert said["place"] == (["role maintainer"], "kept")
    assert said["person"] == (["role admin"], "kept")
    assert said["sum"] == (["role maintainer"], "kept")
    assert said["whole"] == (["label confidential"], "dropped")
    assert not {"ended", "hostile"} & said.keys()
    assert flips.request is not None
    assert [c.what for c in flips.request.changes] == ["purpose"]


async def test_no_change_goes_beyond_the_readers_authority(world: World) -> None:
    flips = await world.flips("contributor", GROUP)
    assert set(flips.items) == {"secret", "sum"}
    assert {c.value for flip in flips.items.values() for c in flip.changes} <= {"public", "internal"}
    lowly = await world.flips("public_viewer")
    values = {c.value for flip in lowly.items.values() for c in flip.changes}
    assert not values & {"maintainer", "admin", "contributor", "internal", "confidential", OTHER_GROUP}


async def test_a_purpose_beyond_the_readers_authority_is_not_tried(world: World) -> None:
    """`review` is for whoever reads confidential material: the contributor's request would be refused for it."""
    assert (await world.flips("contributor", GROUP)).request is None
    stated = (await world.flips("maintainer", GROUP)).request
    assert stated is not None
    assert [(c.what, c.value) for c in stated.changes] == [("purpose", "review")]


async def test_a_sealed_collection_is_explained_as_one_that_is_not_there(world: World) -> None:
    viewer = DOMAIN.asker("public_viewer", (GROUP,))
    flips = [await world.flips_of(await world.refused(name), {}, viewer) for name in ("sealed", "nowhere")]
    assert flips[0] == flips[1]
    assert flips[0].request is None
    reader = await world.flips_of(await world.refused("sealed"), {}, DOMAIN.asker("contributor", ()))
    assert reader.request is not None
    assert [(c.what, c.value) for c in reader.request.changes] == [("role", "contributor")]


async def test_a_clearance_that_the_bundle_did_not_know_reaches_nothing(world: World) -> None:
    caller = replace(DOMAIN.asker("admin", (GROUP,)), clearance="ultra")
    found = await world.flips_of(world.request, {"club": ("club",), "whole": ("whole",)}, caller)
    assert {c.what for flip in found.items.values() for c in flip.changes} <= {"group"}


def test_a_run_that_nothing_visible_is_left_of_leaves_no_gap() -> None:
    first, last = Place("fulltext", "tantivy", 1, 1.0, run=0), Place("vector", "numpy", 2, 0.5, run=2)
    hidden = Path("hidden", (Place("fulltext", "tantivy", 1, 1.0, run=1),), Stage.BUNDLE, Verdict.DROPPED)
    shown = Path("shown", (first, last), Stage.BUNDLE, Verdict.DROPPED)
    [seen] = seen_by((shown, hidden), {"shown"})
    assert [(place.run, place.rank) for place in seen.found] == [(0, 1), (1, 1)]
