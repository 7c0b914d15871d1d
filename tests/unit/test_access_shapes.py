"""The form in which a class is searched is the form in which the evidence point would show its items: it finds nothing
left to do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import chain, combinations

import pytest

from ai.governance.scoping import class_facts
from ai.governance.shapes import open_classes, shaped_scope
from policy.bundles.bundle import load_bundle
from policy.model import EvidenceFacts, Injection, Obligation, PromptFacts, RequestFacts, Subject
from policy.points import PolicyPoints
from policy.wasm import WasmEngine
from retrieval.registry.store import Holdings
from retrieval.scope import Scope, VisibilityClass

BUNDLE = load_bundle()
TAGS = sorted(BUNDLE.data.handling)
NOW_MS = 1_000_000
REQUEST, PROMPT = RequestFacts(id="r"), PromptFacts(chars=1, verdict="ALLOW", risk=0)
CLASSES = tuple(
    VisibilityClass("default", "kansas", "public", handling=tags)
    for tags in chain.from_iterable(combinations(TAGS, n) for n in range(len(TAGS) + 1))
)
PLAIN = VisibilityClass("default", "kansas", "public")


@pytest.fixture
async def points() -> AsyncIterator[PolicyPoints]:
    engine = WasmEngine.open(BUNDLE)
    yield PolicyPoints(engine=engine, clock_ms=lambda: NOW_MS, deadline_s=30, data=BUNDLE.data)
    await engine.aclose()


def subject(role: str = "public_viewer", *groups: str) -> Subject:
    return Subject.of(id="ada", tenant="default", roles=(role,), groups=groups, data=BUNDLE.data)


def item(held: VisibilityClass) -> EvidenceFacts:
    return EvidenceFacts(
        id=held.class_id,
        class_id=held.class_id,
        tenant=held.tenant,
        label=held.label,
        handling=held.handling,
        groups=held.groups,
        lifecycle="active",
        valid_until_ms=None,
        sha256="aa",
        indexed_sha256="aa",
        injection=Injection(0),
    )


def shown(held: VisibilityClass, admitted: bool, due: list[Obligation]) -> str:
    """The form in which the evidence point would show an item of the class."""
    if not admitted:
        return "not at all"
    ops = {obligation.op for obligation in due}
    return "in aggregates" if "aggregate_only" in ops else "on a grid" if "generalise_geometry" in ops else "as it is"


def searched(held: VisibilityClass, scope: Scope) -> str:
    if held.class_id in {each[0] for each in scope.aggregates}:
        return "in aggregates"
    if held.class_id not in scope.class_ids:
        return "not at all"
    return "on a grid" if held.class_id in {each[0] for each in scope.coarse} else "as it is"


GROUPS = ((), ("data_stewards",), ("cultural_review",), ("data_stewards", "cultural_review"))


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("role", ["public_viewer", "contributor", "maintainer", "admin"])
async def test_every_combination_of_tags_is_searched_as_it_is_shown(
    points: PolicyPoints, role: str, groups: tuple[str, ...]
) -> None:
    asker = subject(role, *groups)
    facts = class_facts(CLASSES)
    query = await points.query(request=REQUEST, subject=asker, prompt=PROMPT, classes=facts)
    scope = shaped_scope([each for each in CLASSES if each.class_id in query.classes], subject=asker, data=BUNDLE.data)
    decision = await points.evidence(
        request=REQUEST,
        subject=asker,
        prompt=PROMPT,
        classes=facts,
        evidence=[item(each) for each in CLASSES],
        prior=query,
    )
    for each in CLASSES:
        due = [o for o in decision.obligations if o.target.ref == each.class_id]
        assert searched(each, scope) == shown(each, each.class_id in decision.admit, due), each.handling


@pytest.mark.parametrize(
    ("begins", "ends", "open_"),
    [
        (None, None, True),
        (None, NOW_MS, False),
        (None, NOW_MS + 1, True),
        (NOW_MS, None, True),
        (NOW_MS + 1, None, False),
        (NOW_MS + 1, NOW_MS + 2, False),
        (0, 1, False),
    ],
)
def test_a_class_that_is_not_in_force_is_not_asked_about(begins: int | None, ends: int | None, open_: bool) -> None:
    held = replace(PLAIN, valid_from_ms=begins, valid_until_ms=ends)
    found = open_classes(Holdings((held,), (), 1), subject=subject(), data=BUNDLE.data, now_ms=NOW_MS)
    assert bool(found) is open_
    assert (held.class_id == PLAIN.class_id) is (begins is None and ends is None)


@pytest.mark.parametrize(("places", "open_"), [(0, False), (9, False), (10, True), (11, True)])
def test_a_class_with_too_few_places_for_an_aggregate_is_not_asked_about(places: int, open_: bool) -> None:
    held = replace(PLAIN, handling=("aggregate_only",))
    holdings = Holdings((held,), (), 1, {held.class_id: places})
    for asker, expected in ((subject(), open_), (subject("public_viewer", "data_stewards"), True)):
        found = open_classes(holdings, subject=asker, data=BUNDLE.data, now_ms=NOW_MS)
        assert bool(found) is expected


@pytest.mark.parametrize("handling", [("no_such_tag",), ("culturally_sensitive",), ("pii", "no_such_tag")])
def test_a_tag_that_is_unknown_or_has_no_obligation_is_in_no_scope(handling: tuple[str, ...]) -> None:
    scope = shaped_scope([replace(PLAIN, handling=handling)], subject=subject("admin"), data=BUNDLE.data)
    assert scope == Scope("default", frozenset())


def test_a_class_of_another_tenant_is_in_no_scope() -> None:
    assert not shaped_scope([replace(PLAIN, tenant="other")], subject=subject(), data=BUNDLE.data).class_ids
