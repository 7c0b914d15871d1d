"""The adapter: right decisions pass, every wrong one is a denial with its own code, every missing one is a fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.bundles.bundle import load_bundle
from policy.checks import MAX_RESULT_BYTES
from policy.engine import PolicyEngine
from policy.errors import InputRejected, PolicyUnavailable
from policy.facts import subject_wire
from policy.messages import message
from policy.model import (
    AnswerFacts,
    AppealFacts,
    ClaimFacts,
    ClassFacts,
    Decision,
    Effect,
    EvidenceFacts,
    Injection,
    Point,
    PromptFacts,
    Reason,
    RequestFacts,
    SentenceFacts,
    Stamp,
    Subject,
    Target,
)
from policy.points import PolicyPoints
from policy.wasm import WasmEngine
from tests.policy_engines import BUNDLE, deciding, hanging, raising, saying

DATA = load_bundle().data
NOW_MS = 1_000
REQUEST = RequestFacts(id="r1")
SUBJECT = Subject.of(id="u1", tenant="t1", roles=("contributor",), groups=("g1",), data=DATA)
PROMPT = PromptFacts(chars=20, verdict="ALLOW", risk=0)
OPEN = ClassFacts(id="k1", tenant="t1", collection="census", label="public")
INNER = ClassFacts(id="k2", tenant="t1", collection="notes", label="internal")
OWNED = ClassFacts(id="k3", tenant="t1", collection="files", label="confidential", owner_group="g1")
HIGH = ClassFacts(id="k4", tenant="t1", collection="files", label="confidential")
ALIEN = ClassFacts(id="k5", tenant="t2", collection="census", label="public")
CLASSES = (OPEN, INNER, OWNED, HIGH, ALIEN)


def item(id: str, of: ClassFacts, **facts: Any) -> EvidenceFacts:
    return replace(
        EvidenceFacts(
            id=id,
            class_id=of.id,
            tenant=of.tenant,
            label=of.label,
            handling=of.handling,
            groups=of.groups,
            lifecycle="active",
            valid_until_ms=None,
            sha256="aa",
            indexed_sha256="aa",
            injection=Injection(0),
        ),
        **facts,
    )


EVIDENCE = (item("e1", OPEN), item("e2", INNER), item("e3", OWNED), item("e4", HIGH), item("e5", ALIEN))
HELD = (ClaimFacts("figure", "borne_out"),)
DRAFT = AnswerFacts(
    "m",
    (1,),
    (
        SentenceFacts(0, None, ("e1",), 900, claims=HELD, answers=True, appeals=AppealFacts()),
        SentenceFacts(1, None, ("e4",), 900, claims=HELD, answers=True, appeals=AppealFacts()),
    ),
)


def points(engine: PolicyEngine, deadline_s: float = 2.0) -> PolicyPoints:
    return PolicyPoints(engine=engine, clock_ms=lambda: NOW_MS, deadline_s=deadline_s, data=DATA)


@pytest.fixture(scope="module")
def real() -> Iterator[PolicyPoints]:
    engine = WasmEngine.open(load_bundle())
    yield points(engine)
    asyncio.run(engine.aclose())


async def ask_query(on: PolicyPoints, **changes: Any) -> Decision:
    return await on.query(**({"request": REQUEST, "subject": SUBJECT, "prompt": PROMPT, "classes": CLASSES} | changes))


async def ask_evidence(on: PolicyPoints, prior: Decision, **changes: Any) -> Decision:
    asked = {"request": REQUEST, "subject": SUBJECT, "prompt": PROMPT, "classes": CLASSES, "evidence": EVIDENCE}
    return await on.evidence(**(asked | {"prior": prior} | changes))


async def ask_answer(on: PolicyPoints, prior: Decision, **changes: Any) -> Decision:
    asked = {"request": REQUEST, "subject": SUBJECT, "evidence": EVIDENCE, "answer": DRAFT, "prior": prior}
    return await on.answer(**(asked | changes))


def allowing(
    point: Point, *, classes: tuple[str, ...] = ("k1", "k2"), admit: tuple[str, ...] = ("e1", "e2")
) -> Decision:
    """A decision of an earlier point, as an honest engine with the liars' bundle would have given it."""
    head = {"request": {"id": "r1", "profile": "focus", "collections": []}}
    subject = subject_wire(SUBJECT)
    document = {"effect": "allow", "reasons": [], "obligations": [], "admit": list(admit)}
    return Decision(
        point=point,
        effect=Effect.ALLOW,
        reasons=(),
        obligations=(),
        admit=admit,
        classes=classes,
        stamp=Stamp(BUNDLE, "liar", "sha256:0"),
        input=head | {"subject": subject, "prior": {"query": "sha256:q", "admit": list(classes)}},
        document=document,
    )


async def ask(on: PolicyPoints, point: Point) -> Decision:
    if point is Point.QUERY:
        return await ask_query(on)
    if point is Point.EVIDENCE:
        return await ask_evidence(on, allowing(Point.QUERY))
    return await ask_answer(on, allowing(Point.EVIDENCE))


# ------------------------------------------------------------------------------------------------ with the real engine


async def test_three_points_in_a_row(real: PolicyPoints) -> None:
    query = await ask_query(real)
    assert (query.effect, query.classes, query.obligations) == (Effect.ALLOW, ("k1", "k2", "k3"), ())
    evidence = await ask_evidence(real, query)
    assert evidence.admit == ("e1", "e2", "e3")
    assert {each.target.ref for each in evidence.reasons} == {"e4", "e5"}
    assert evidence.input["prior"] == {"query": query.digest, "admit": ["k1", "k2", "k3"]}
    answer = await ask_answer(real, evidence)
    assert answer.input["prior"] == {"query": query.digest, "evidence": evidence.digest, "admit": ["e1", "e2", "e3"]}
    assert [(each.op, each.target.ref) for each in answer.obligations] == [("drop_sentence", "1")]
    assert answer.admit == ("e1",)


async def test_a_record_is_canonical_and_holds_the_digests(real: PolicyPoints) -> None:
    decision = await ask_evidence(real, await ask_query(real))
    record = decision.record()
    assert json.loads(rfc8785.dumps(record)) == record
    assert record["stamp"]["bundle"] == load_bundle().digest
    for key in ("reasons", "obligations", "admit"):
        assert record["decision"][key] == sorted(record["decision"][key], key=rfc8785.dumps)
    again = await ask_evidence(real, await ask_query(real))
    assert again.record() == record


async def test_the_order_in_which_an_engine_says_things_is_no_part_of_the_decision() -> None:
    """Engines walk objects and sets in orders of their own, and rules do not sort."""

    classes, told = ["k2", "k1", "k3"], [because("drop"), because("drop") | {"rule": "X02"}]

    def said(order: int) -> dict[str, object]:
        duties = [filter_of(*classes[::order]), duty("neutralise_prompt", "request", "")]
        return decision(effect=OBLIGED, reasons=told[::order], obligations=duties[::order])

    one = await ask_query(points(deciding(lambda _asked: said(1))))
    other = await ask_query(points(deciding(lambda _asked: said(-1))))
    assert one.classes == ("k1", "k2", "k3")
    assert (one.digest, one.record()) == (other.digest, other.record())


async def test_the_input_is_what_was_decided(real: PolicyPoints) -> None:
    decision = await ask_query(real)
    assert decision.input["now_ms"] == NOW_MS
    assert "purpose" not in decision.input["request"]
    assert [each["id"] for each in decision.input["classes"]] == [each.id for each in CLASSES]


async def test_unknown_and_forbidden_collections_answer_alike(real: PolicyPoints) -> None:
    for name in ("nowhere", "files"):
        decision = await ask_query(real, request=RequestFacts(id="r1", collections=(name,)), classes=(OPEN, HIGH))
        assert [(each.rule, each.code, each.target.ref) for each in decision.reasons] == [
            ("Q11", "COLLECTION_UNAVAILABLE", name)
        ]


async def test_hidden_classes_and_items_change_no_reachable_fact(real: PolicyPoints) -> None:
    seen = (OPEN, INNER, OWNED)
    with_hidden, without = await ask_query(real), await ask_query(real, classes=seen)
    assert with_hidden.classes == without.classes
    assert with_hidden.digest == without.digest


async def test_a_denied_query_decision_carries_nothing_further(real: PolicyPoints) -> None:
    denied = await ask_query(real, prompt=replace(PROMPT, verdict="REJECT"))
    assert (denied.allowed, denied.classes, [each.code for each in denied.reasons]) == (False, (), ["GATE_REJECTED"])
    after = await ask_evidence(real, denied)
    assert [each.code for each in after.reasons] == ["POLICY_DECISION_INVALID.PRIOR_MISMATCH"]


@pytest.mark.parametrize(("text", "allowed"), [("See [1].", True), ("None.", False), ("\ud800 [1]", False)], ids=ascii)
async def test_allow_answer(real: PolicyPoints, text: str, allowed: bool) -> None:
    assert await real.allow_answer(text) is allowed


LABELS = st.sampled_from(["public", "internal", "confidential", "restricted", "secret"])
SOME = st.lists(st.sampled_from(["g1", "g2", "cultural_review"]), max_size=2, unique=True).map(tuple)
TAGS = st.lists(
    st.sampled_from(["pii", "sensitive_location", "culturally_sensitive", "odd"]), max_size=2, unique=True
).map(tuple)
CLASS = st.builds(
    ClassFacts,
    id=st.just(""),
    tenant=st.sampled_from(["t1", "t2"]),
    collection=st.sampled_from(["a", "b"]),
    label=LABELS,
    handling=TAGS,
    groups=SOME,
    owner_group=st.none() | st.sampled_from(["g1", "g2"]),
    allow_list=st.lists(st.sampled_from(["u1", "u2"]), max_size=1).map(tuple),
)
ROLES = st.lists(st.sampled_from(["public_viewer", "contributor", "maintainer", "admin", "reviewer", "x"]), max_size=2)


def may_see(subject: Subject, of: ClassFacts) -> bool:
    """Section 2 of the contracts, written once more by hand."""
    ranks = {"public": 0, "internal": 1, "confidential": 2, "restricted": 3}
    label, clearance = ranks.get(of.label, 99), ranks[subject.clearance]
    named = subject.id in of.allow_list or of.owner_group in subject.groups
    reached = clearance >= label or (named and clearance + 1 == label)
    grouped = not of.groups or set(of.groups) & set(subject.groups)
    met = {"pii", "sensitive_location"} | (
        {"culturally_sensitive"} & {"culturally_sensitive"} if "cultural_review" in subject.groups else set()
    )
    return of.tenant == subject.tenant and reached and bool(grouped) and set(of.handling) <= met


@settings(deadline=None, max_examples=50)
@given(st.lists(CLASS, max_size=8), ROLES, SOME)
async def test_scope_and_items_are_what_the_contract_says(
    real: PolicyPoints, drawn: list[ClassFacts], roles: list[str], groups: tuple[str, ...]
) -> None:
    subject = Subject.of(id="u1", tenant="t1", roles=tuple(roles), groups=groups, data=DATA)
    classes = tuple(replace(each, id=f"k{i}") for i, each in enumerate(drawn))
    query = await ask_query(real, subject=subject, classes=classes)
    wanted = {each.id for each in classes if may_see(subject, each)}
    assert set(query.classes) == wanted
    items = tuple(item(f"e-{each.id}", each) for each in classes)
    evidence = await ask_evidence(real, query, subject=subject, classes=classes, evidence=items)
    assert set(evidence.admit) == {f"e-{each}" for each in wanted}


# ------------------------------------------------------------------------------------------------------- facts refused


@pytest.mark.parametrize(
    "changes",
    [
        {"request": RequestFacts(id="\ud800")},
        {"prompt": replace(PROMPT, risk=0.5)},
        {"prompt": replace(PROMPT, risk=True)},
        {"prompt": replace(PROMPT, chars=2**53)},
        {"prompt": replace(PROMPT, verdict=b"ALLOW")},
        {"classes": (OPEN, OPEN)},
        {"classes": tuple(replace(OPEN, id=str(i)) for i in range(10_001))},
        {"subject": replace(SUBJECT, session_expires_ms=float("nan"))},
    ],
    ids=lambda changes: next(iter(changes)),
)
async def test_facts_that_no_engine_should_see(real: PolicyPoints, changes: dict[str, Any]) -> None:
    with pytest.raises(InputRejected):
        await ask_query(real, **changes)


# ------------------------------------------------------------------------------------------------- with lying engines


def decision(**changes: object) -> dict[str, object]:
    return {"effect": "allow", "reasons": [], "obligations": [], "admit": []} | changes


def filter_of(*classes: object, **changes: object) -> dict[str, object]:
    target = {"kind": "request", "ref": ""}
    return {
        "op": "filter",
        "target": target,
        "rule": "Q12",
        "params": {"classes": list(classes), "lifecycle": ["active"]},
    } | changes


def duty(op: str, kind: str, ref: str, /, **params: object) -> dict[str, object]:
    return {"op": op, "target": {"kind": kind, "ref": ref}, "rule": "X01", "params": params}


def because(severity: str = "deny", kind: str = "request", ref: str = "") -> dict[str, object]:
    return {"rule": "X01", "code": "X", "severity": severity, "target": {"kind": kind, "ref": ref}, "params": {}}


OBLIGED = "allow_with_obligations"
LIES: list[tuple[str, Point, object]] = [
    ("SCHEMA", Point.QUERY, 1),
    ("SCHEMA", Point.QUERY, {"allow": 1}),
    ("SCHEMA", Point.QUERY, decision() | {"extra": 1}),
    ("SCHEMA", Point.QUERY, decision(effect="ALLOW")),
    ("SCHEMA", Point.QUERY, decision(effect=True)),
    ("SCHEMA", Point.QUERY, decision(reasons={})),
    ("SCHEMA", Point.QUERY, decision(reasons=[{}])),
    ("SCHEMA", Point.QUERY, decision(reasons=[because(severity="mild")])),
    ("SCHEMA", Point.QUERY, decision(obligations=[filter_of("k1"), 7])),
    ("SCHEMA", Point.EVIDENCE, decision(admit=["e1", "e1"])),
    ("SCHEMA", Point.EVIDENCE, decision(admit=[1])),
    ("FILTER_MISSING", Point.QUERY, decision()),
    ("FILTER_MISSING", Point.QUERY, decision(obligations=[filter_of("k1"), filter_of("k2")])),
    ("FILTER_NOT_SUBSET", Point.QUERY, decision(obligations=[filter_of("k1", "k9")])),
    ("FILTER_NOT_SUBSET", Point.QUERY, decision(obligations=[filter_of("k1", "k1")])),
    ("OBLIGATION_INVALID", Point.QUERY, decision(obligations=[filter_of(1)])),
    ("OBLIGATION_INVALID", Point.QUERY, decision(obligations=[filter_of("k1", params={"classes": ["k1"]})])),
    (
        "OBLIGATION_INVALID",
        Point.QUERY,
        decision(obligations=[filter_of("k1", params={"classes": ["k1"], "lifecycle": ["active", "withdrawn"]})]),
    ),
    (
        "UNKNOWN_OBLIGATION",
        Point.QUERY,
        decision(effect=OBLIGED, obligations=[filter_of(), duty("sing", "request", "")]),
    ),
    ("UNKNOWN_OBLIGATION", Point.EVIDENCE, decision(obligations=[filter_of("k1")])),
    ("UNKNOWN_OBLIGATION", Point.ANSWER, decision(effect=OBLIGED, obligations=[duty("datamark", "evidence", "e1")])),
    ("ADMIT_NOT_SUBSET", Point.QUERY, decision(obligations=[filter_of("k1")], admit=["e1"])),
    ("ADMIT_NOT_SUBSET", Point.EVIDENCE, decision(admit=["e1", "e9"])),
    ("ADMIT_NOT_SUBSET", Point.ANSWER, decision(admit=["e4"])),
    ("TARGET_UNKNOWN", Point.EVIDENCE, decision(effect=OBLIGED, obligations=[duty("datamark", "evidence", "e9")])),
    ("TARGET_UNKNOWN", Point.ANSWER, decision(effect=OBLIGED, obligations=[duty("drop_sentence", "sentence", "2")])),
    ("TARGET_UNKNOWN", Point.QUERY, decision(effect="deny", reasons=[because(kind="collection", ref="secret")])),
    ("OBLIGATION_INVALID", Point.EVIDENCE, decision(effect=OBLIGED, obligations=[duty("redact", "evidence", "e1")])),
    (
        "OBLIGATION_INVALID",
        Point.EVIDENCE,
        decision(effect=OBLIGED, obligations=[duty("redact", "evidence", "e1", kinds=[])]),
    ),
    (
        "OBLIGATION_INVALID",
        Point.EVIDENCE,
        decision(effect=OBLIGED, obligations=[duty("generalise_geometry", "evidence", "e1", metres=0, decimals=1)]),
    ),
    (
        "OBLIGATION_INVALID",
        Point.EVIDENCE,
        decision(effect=OBLIGED, obligations=[duty("aggregate_only", "evidence", "e1", minimum=True)]),
    ),
    (
        "OBLIGATION_INVALID",
        Point.ANSWER,
        decision(effect=OBLIGED, obligations=[duty("redact", "sentence", "0", kind="pii", start=4, end=4)]),
    ),
    ("OBLIGATION_INVALID", Point.ANSWER, decision(effect=OBLIGED, obligations=[duty("abstain", "sentence", "0")])),
    ("EFFECT_MISMATCH", Point.QUERY, decision(effect="deny")),
    ("EFFECT_MISMATCH", Point.QUERY, decision(obligations=[filter_of("k1")], reasons=[because()])),
    ("EFFECT_MISMATCH", Point.QUERY, decision(effect="deny", obligations=[filter_of("k1")], reasons=[because()])),
    ("EFFECT_MISMATCH", Point.QUERY, decision(effect=OBLIGED, obligations=[filter_of("k1")])),
    ("EFFECT_MISMATCH", Point.EVIDENCE, decision(effect="deny", admit=["e1"], reasons=[because()])),
    ("EFFECT_MISMATCH", Point.EVIDENCE, decision(obligations=[duty("datamark", "evidence", "e1")], admit=["e1"])),
]


def assert_denied(found: Decision, problem: str) -> None:
    assert found.effect is Effect.DENY
    assert found.admit == found.classes == found.obligations == ()
    assert [each.code for each in found.reasons] == [f"POLICY_DECISION_INVALID.{problem}"]
    assert found.record()["decision"]["reasons"][0]["rule"] == "P00"
    assert message(found.reasons[0])


@pytest.mark.parametrize(("problem", "point", "lie"), LIES)
async def test_a_wrong_decision_is_a_denial_with_its_own_code(problem: str, point: Point, lie: object) -> None:
    assert_denied(await ask(points(deciding(lambda _asked: lie)), point), problem)


GOOD = json.dumps(decision(obligations=[filter_of("k1")]))
WRONG_BYTES = [
    ("UNDEFINED", b"[]"),
    ("SCHEMA", b"{}"),
    ("SCHEMA", b"null"),
    ("SCHEMA", b"[{}]"),
    ("SCHEMA", b'[{"result":{},"more":1}]'),
    ("NOT_JSON", b""),
    ("NOT_JSON", b"allow"),
    ("NOT_JSON", b"\xff\xfe"),
    ("NOT_JSON", b'[{"result":NaN}]'),
    ("NOT_JSON", b'[{"result":Infinity}]'),
    ("NOT_JSON", b'[{"result":1.5}]'),
    ("NOT_JSON", b'[{"result":9007199254740992}]'),
    ("NOT_JSON", b'[{"result":' + b"9" * 5_000 + b"}]"),
    ("NOT_JSON", b'[{"result":{"a":1,"a":2}}]'),
    ("NOT_JSON", b"[" * 100_000),
    ("SCHEMA", b'[{"result":{"effect":"allow","reasons":[],"obligations":["\\ud800"],"admit":[]}}]'),
    ("SEVERAL_RESULTS", f'[{{"result":{GOOD}}},{{"result":{GOOD}}}]'.encode()),
    ("TOO_LARGE", b"[" + b" " * (10 * 1024 * 1024) + b"]"),
]


@pytest.mark.parametrize(("problem", "results"), WRONG_BYTES, ids=[f"{p}-{b[:24]!r}" for p, b in WRONG_BYTES])
async def test_a_wrong_reply_is_a_denial_with_its_own_code(problem: str, results: bytes) -> None:
    for point in Point:
        assert_denied(await ask(points(saying(results)), point), problem)
    assert await points(saying(results)).allow_answer("See [1].") is False


async def test_the_same_reply_without_the_lie_is_allowed() -> None:
    found = await ask_query(points(saying(f'[{{"result":{GOOD}}}]'.encode())))
    assert (found.effect, found.classes) == (Effect.ALLOW, ("k1",))


async def test_another_bundle_than_the_pinned_one() -> None:
    other = "sha256:" + "c" * 64
    assert_denied(await ask_query(points(saying(f'[{{"result":{GOOD}}}]'.encode(), other))), "BUNDLE_MISMATCH")
    swapped = deciding(lambda _asked: decision(admit=["e1"]))
    swapped.bundle_digest = other  # the engine moved on between two points; its reply still names the old bundle
    prior = replace(allowing(Point.QUERY), stamp=Stamp(other, "liar", "sha256:0"))
    assert_denied(await ask_evidence(points(swapped), prior), "BUNDLE_MISMATCH")


async def test_the_scope_is_intersected_with_tenant_and_clearance() -> None:
    everything = deciding(lambda asked: decision(obligations=[filter_of(*(each["id"] for each in asked["classes"]))]))
    assert (await ask_query(points(everything))).classes == ("k1", "k2", "k3")


async def test_the_admitted_items_are_intersected_with_scope_tenant_and_clearance() -> None:
    everything = deciding(lambda asked: decision(admit=[each["id"] for each in asked["evidence"]]))
    prior = allowing(Point.QUERY, classes=("k1", "k3", "k4", "k5"))
    assert (await ask_evidence(points(everything), prior)).admit == ("e1", "e3")


async def test_a_subject_from_nowhere_sees_nothing() -> None:
    everything = deciding(lambda asked: decision(obligations=[filter_of(*(each["id"] for each in asked["classes"]))]))
    assert (await ask_query(points(everything), subject=replace(SUBJECT, clearance="cosmic"))).classes == ()


@pytest.mark.parametrize(
    "prior",
    [
        allowing(Point.EVIDENCE),
        allowing(Point.ANSWER),
        replace(allowing(Point.QUERY), effect=Effect.DENY),
        replace(allowing(Point.QUERY), input=allowing(Point.QUERY).input | {"subject": {}}),
        replace(allowing(Point.QUERY), input=allowing(Point.QUERY).input | {"request": {}}),
    ],
)
async def test_a_decision_of_something_else_binds_nothing(prior: Decision) -> None:
    engine = deciding(lambda _asked: decision(admit=["e1"]))
    assert_denied(await ask_evidence(points(engine), prior), "PRIOR_MISMATCH")
    assert engine.asked == []


@pytest.mark.parametrize(
    "fault", [RuntimeError("panic"), OSError("gone"), PolicyUnavailable("trap"), ValueError(), TimeoutError()]
)
@pytest.mark.parametrize("point", list(Point))
async def test_a_panic_is_unavailability(fault: BaseException, point: Point) -> None:
    with pytest.raises(PolicyUnavailable):
        await ask(points(raising(fault)), point)
    with pytest.raises(PolicyUnavailable):
        await points(raising(fault)).allow_answer("See [1].")


@pytest.mark.parametrize("point", list(Point))
async def test_a_hang_is_unavailability(point: Point) -> None:
    with pytest.raises(PolicyUnavailable):
        await ask(points(hanging(), deadline_s=0.01), point)


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 2**60)
    | st.sampled_from(["e1", "e4", "k1", "k4", "allow", "deny", "filter", "request"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["effect", "admit", "reasons", "obligations", "op", "target", "params"]), inner, max_size=5
        )
    ),
    max_leaves=12,
)
PARTS = st.fixed_dictionaries(
    {
        "effect": st.sampled_from(["allow", "allow_with_obligations", "deny"]) | JUNK,
        "admit": st.lists(st.sampled_from(["e1", "e2", "e4", "e5", "e9"]), max_size=4) | JUNK,
        "reasons": st.lists(st.just(because()) | st.just(because("drop", "evidence", "e4")), max_size=2) | JUNK,
        "obligations": st.lists(
            st.builds(filter_of, st.sampled_from(["k1", "k4", "k9"]))
            | st.builds(duty, st.sampled_from(["drop", "abstain"]), st.just("evidence"), st.just("e1")),
            max_size=2,
        )
        | JUNK,
    }
)


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(list(Point)), PARTS | JUNK)
async def test_no_lie_reaches_beyond_what_was_asked(point: Point, lie: object) -> None:
    found = await ask(points(deciding(lambda _asked: lie)), point)
    assert set(found.classes) <= {"k1", "k2", "k3"}
    assert set(found.admit) <= ({"e1", "e2"} if point is not Point.QUERY else set())
    if not found.allowed:
        assert found.admit == found.classes == found.obligations == ()
        assert found.reasons


async def test_a_large_honest_reply_is_read() -> None:
    many = tuple(item(f"e{i}", OPEN) for i in range(2_000))
    engine = deciding(lambda asked: decision(admit=[each["id"] for each in asked["evidence"]]))
    found = await ask_evidence(points(engine), allowing(Point.QUERY), evidence=many)
    assert len(found.admit) == 2_000
    assert len(json.dumps(found.record())) < MAX_RESULT_BYTES


def test_an_unknown_code_has_a_text_all_the_same() -> None:
    assert message(Reason("X01", "NEW_CODE", "deny", Target("request", ""), {}))
