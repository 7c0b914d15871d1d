"""Provenance: deterministic bytes, and our own checks of uniqueness, ordering and typing."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import MalformedProv
from ledger.provenance.check import check_prov
from ledger.provenance.document import ProvActivity, ProvAgent, ProvEntity, ProvFacts, prov_document, prov_n
from tests.ledger_vectors.golden import prov_facts
from tests.prov_reference import reference

DATA = prov_document(prov_facts())


def facts(**changes: Any) -> ProvFacts:
    return dataclasses.replace(prov_facts(), **changes)


def edited(edit: Callable[[dict[str, Any]], object]) -> bytes:
    body = json.loads(DATA)
    edit(body)
    return rfc8785.dumps(body)


def test_the_document_is_canonical_and_checks() -> None:
    assert rfc8785.dumps(json.loads(DATA)) == DATA
    check_prov(DATA)


_VALUES = st.dictionaries(
    st.from_regex(r"[A-Za-z][A-Za-z0-9._/-]{0,9}", fullmatch=True),
    st.from_regex(r"[\x21-\x7e]{1,12}", fullmatch=True),
    max_size=3,
)


@st.composite
def runs(draw: st.DrawFn) -> ProvFacts:
    """Runs of our shape: activities in order, each using some sources."""
    sources = [f"source/{n}" for n in range(draw(st.integers(0, 4)))]
    agents = [
        ProvAgent(f"agent/{n}", "Agent", draw(st.booleans()), draw(_VALUES)) for n in range(draw(st.integers(1, 3)))
    ]
    ids = [agent.id for agent in agents]
    activities: list[ProvActivity] = []
    clock = draw(st.integers(0, 2**41))
    for n in range(draw(st.integers(1, 4))):
        length = draw(st.integers(0, 5000))
        used = tuple(s for s in sources if draw(st.booleans())) if n else tuple(sources)
        acting = tuple(i for i in ids if draw(st.booleans()))
        before = tuple(act.id for act in activities if draw(st.booleans()))
        activities.append(
            ProvActivity(f"activity/{n}", "Step", clock, clock + length, used, acting, before, draw(_VALUES))
        )
        clock += length
    return ProvFacts(
        run_id="run-1",
        answer=ProvEntity("answer", "Answer", draw(_VALUES)),
        entities=tuple(ProvEntity(s, "Source", draw(_VALUES)) for s in sources),
        activities=tuple(activities),
        agents=tuple(agents),
        generated_by=activities[-1].id,
        derived_from=tuple(s for s in sources if draw(st.booleans())),
        attributed_to=tuple(ids[:1]),
    )


@settings(max_examples=60, deadline=None)
@given(runs())
def test_the_bytes_are_the_librarys(run: ProvFacts) -> None:
    assert prov_document(run) == reference(run)
    check_prov(prov_document(run))


def test_every_relation_has_an_explicit_id() -> None:
    body = json.loads(DATA)
    relations = [name for section in body if section.startswith(("was", "used")) for name in body[section]]
    assert sorted(relations) == [
        "run:associated/activity/channel-graph/agent/software",
        "run:associated/activity/gate/agent/software",
        "run:associated/activity/generation/agent/model",
        "run:associated/activity/generation/agent/software",
        "run:attributed/answer/agent/model",
        "run:derived/answer/source/1",
        "run:generated/answer/activity/generation",
        "run:informed/activity/channel-graph/activity/gate",
        "run:informed/activity/generation/activity/channel-graph",
        "run:used/activity/channel-graph/question",
        "run:used/activity/gate/question",
        "run:used/activity/generation/source/1",
        "run:used/activity/generation/source/2",
    ]


@pytest.mark.parametrize("seed", ["0", "1", "12345"])
def test_the_bytes_do_not_depend_on_the_process(seed: str) -> None:
    code = (
        "import sys; from ledger.provenance.document import prov_document; from tests.ledger_vectors.golden import prov_facts;"
        "sys.stdout.buffer.write(prov_document(prov_facts()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2],
        env={"PYTHONHASHSEED": seed},
    )
    assert done.stdout == DATA


def test_the_library_reads_it_back_and_writes_prov_n() -> None:
    text = prov_n(DATA)
    assert text.startswith("document")
    assert "wasDerivedFrom(run:derived/answer/source/1; run:answer, run:source/1, -, -, -)" in text
    assert "prov:Person" in text


def test_times_are_those_of_the_facts() -> None:
    gate = json.loads(DATA)["activity"]["run:activity/gate"]
    assert gate["prov:startTime"] == "1970-01-01T00:00:01+00:00"
    assert gate["prov:endTime"] == "1970-01-01T00:00:01.001000+00:00"


ANSWER = prov_facts().answer
GATE, CHANNEL, GENERATION = prov_facts().activities
BAD_FACTS: dict[str, dict[str, Any]] = {
    "run id with space": {"run_id": "a b"},
    "run id empty": {"run_id": ""},
    "entity twice": {"entities": (*prov_facts().entities, prov_facts().entities[0])},
    "entity with the answer's id": {"entities": (*prov_facts().entities, ProvEntity("answer", "Source"))},
    "agent with an activity's id": {"agents": (*prov_facts().agents, ProvAgent("activity/gate", "Software"))},
    "id with text": {"answer": ProvEntity("the answer!", "Answer")},
    "id empty": {"answer": ProvEntity("", "Answer")},
    "type with colon": {"answer": ProvEntity("answer", "prov:Person")},
    "attribute with text": {"answer": ProvEntity("answer", "Answer", {"label": "Jane Doe of Topeka"})},
    "attribute name with colon": {"answer": ProvEntity("answer", "Answer", {"prov:label": "x"})},
    "attribute not ASCII": {"answer": ProvEntity("answer", "Answer", {"label": "Š"})},
    "generated by nothing": {"generated_by": "activity/none"},
    "generated by an agent": {"generated_by": "agent/model"},
    "derived from nothing": {"derived_from": ("source/9",)},
    "derived from itself": {"derived_from": ("answer",)},
    "derived twice": {"derived_from": ("source/1", "source/1")},
    "derived from what was not used": {
        "activities": (GATE, CHANNEL, dataclasses.replace(GENERATION, used=("source/2",)))
    },
    "attributed to an entity": {"attributed_to": ("question",)},
    "uses the answer": {"activities": (dataclasses.replace(GATE, used=("answer",)), CHANNEL, GENERATION)},
    "uses nothing declared": {"activities": (dataclasses.replace(GATE, used=("x",)), CHANNEL, GENERATION)},
    "uses one thing twice": {"activities": (dataclasses.replace(GATE, used=("question",) * 2), CHANNEL, GENERATION)},
    "by no agent": {"activities": (dataclasses.replace(GATE, agents=("agent/none",)), CHANNEL, GENERATION)},
    "informed by itself": {"activities": (dataclasses.replace(GATE, informed_by=(GATE.id,)), CHANNEL, GENERATION)},
    "informed by the future": {
        "activities": (dataclasses.replace(GATE, informed_by=(GENERATION.id,)), CHANNEL, GENERATION)
    },
    "ends before it starts": {"activities": (dataclasses.replace(GATE, end_ms=999), CHANNEL, GENERATION)},
    "starts before 1970": {"activities": (dataclasses.replace(GATE, start_ms=-1), CHANNEL, GENERATION)},
    "activity twice": {"activities": (GATE, GATE, CHANNEL, GENERATION)},
    "no activity": {"activities": ()},
}


@pytest.mark.parametrize("name", BAD_FACTS)
def test_facts_that_are_no_run(name: str) -> None:
    with pytest.raises(MalformedProv):
        prov_document(facts(**BAD_FACTS[name]))


USED = "run:used/activity/gate/question"
BAD_DOCUMENTS: dict[str, bytes] = {
    "empty": b"",
    "no object": b"[]",
    "not canonical": json.dumps(json.loads(DATA)).encode(),
    "a lone surrogate": DATA.replace(b'"0.1.0"', b'"\\ud800"'),
    "a key twice": DATA.replace(b'"entity":{', b'"entity":{"run:answer":{},', 1),
    "unknown section": edited(lambda body: body.update(bundle={})),
    "section is a list": edited(lambda body: body.update(agent=[])),
    "no prefix": edited(lambda body: body.pop("prefix")),
    "another prefix": edited(lambda body: body["prefix"].update(exhibit="urn:other#")),
    "more prefixes": edited(lambda body: body["prefix"].update(ex="urn:x")),
    "run prefix of nothing": edited(lambda body: body["prefix"].update(run="urn:exhibit:run::")),
    "id outside the run": edited(lambda body: body["entity"].update({"exhibit:x": {}})),
    "record is a list": edited(lambda body: body["entity"].update({"run:x": []})),
    "one id in two sections": edited(lambda body: body["agent"].update({"run:answer": {}})),
    "no answer": edited(lambda body: body["entity"].pop("run:answer")),
    "two answers": edited(lambda body: body["entity"].update({"run:b": body["entity"]["run:answer"]})),
    "not generated": edited(lambda body: body.pop("wasGeneratedBy")),
    "something else generated": edited(
        lambda body: body["wasGeneratedBy"].update(
            {
                "run:generated/question/activity/gate": {
                    "prov:entity": "run:question",
                    "prov:activity": "run:activity/gate",
                    "prov:time": "1970-01-01T00:00:01+00:00",
                }
            }
        )
    ),
    "used undeclared": edited(lambda body: body["used"][USED].update({"prov:entity": "run:nothing"})),
    "used an agent": edited(lambda body: body["used"][USED].update({"prov:entity": "run:agent/model"})),
    "used by an entity": edited(lambda body: body["used"][USED].update({"prov:activity": "run:question"})),
    "relation without an end": edited(lambda body: body["used"][USED].pop("prov:entity")),
    "relation's end is no text": edited(lambda body: body["used"][USED].update({"prov:entity": 1})),
    "relation under another id": edited(lambda body: body["used"].update({"run:u1": body["used"].pop(USED)})),
    "anonymous relation": edited(lambda body: body["used"].update({"_:id1": body["used"].pop(USED)})),
    "no start time": edited(lambda body: body["activity"]["run:activity/gate"].pop("prov:startTime")),
    "time is a number": edited(lambda body: body["activity"]["run:activity/gate"].update({"prov:startTime": 1})),
    "time is no time": edited(lambda body: body["activity"]["run:activity/gate"].update({"prov:startTime": "now"})),
    "time without zone": edited(
        lambda body: body["activity"]["run:activity/gate"].update({"prov:startTime": "1970-01-01T00:00:01"})
    ),
    "starts after its end": edited(
        lambda body: body["activity"]["run:activity/gate"].update({"prov:startTime": "1980-01-01T00:00:00+00:00"})
    ),
    "informed by the future": edited(
        lambda body: body["activity"]["run:activity/gate"].update(
            {"prov:startTime": "1980-01-01T00:00:00+00:00", "prov:endTime": "1980-01-01T00:00:00+00:00"}
        )
    ),
    "generated at another time": edited(
        lambda body: body["wasGeneratedBy"]["run:generated/answer/activity/generation"].update(
            {"prov:time": "1980-01-01T00:00:00+00:00"}
        )
    ),
    "derived from what was not used": edited(lambda body: body["used"].pop("run:used/activity/generation/source/1")),
    **{
        f"{what} {name}": edited(lambda body, section=section, name=name, change=change: change(body[section][name]))
        for section, name in (
            ("entity", "run:question"),
            ("entity", "run:source/1"),
            ("activity", "run:activity/gate"),
            ("agent", "run:agent/principal"),
            ("agent", "run:agent/model"),
        )
        for what, change in (
            ("no type:", lambda record: record.pop("prov:type")),
            ("type is text:", lambda record: record.update({"prov:type": "exhibit:Question"})),
            ("type is a number:", lambda record: record.update({"prov:type": 1})),
            ("type is null:", lambda record: record.update({"prov:type": None})),
            ("no types:", lambda record: record.update({"prov:type": []})),
            ("type of nothing:", lambda record: record.update({"prov:type": {}})),
            (
                "three types:",
                lambda record: record.update({"prov:type": [{"$": "exhibit:A", "type": "xsd:QName"}] * 3}),
            ),
            ("type of W3C:", lambda record: record.update({"prov:type": {"$": "prov:Plan", "type": "xsd:QName"}})),
            (
                "type of no QName:",
                lambda record: record.update({"prov:type": {"$": "exhibit:A", "type": "xsd:string"}}),
            ),
            (
                "type with a space:",
                lambda record: record.update({"prov:type": {"$": "exhibit:A b", "type": "xsd:QName"}}),
            ),
            ("a label in words:", lambda record: record.update({"prov:label": "Jane Doe"})),
            ("an attribute with text:", lambda record: record.update({"exhibit:note": "Jane Doe of Topeka"})),
            ("an attribute that is a number:", lambda record: record.update({"exhibit:note": 1})),
            ("an attribute without a name:", lambda record: record.update({"exhibit:": "x"})),
        )
    },
    "an agent that is a plan": edited(
        lambda body: body["agent"]["run:agent/model"]["prov:type"][1].update({"$": "prov:Plan"})
    ),
    "an entity with a time": edited(
        lambda body: body["entity"]["run:question"].update({"prov:startTime": "1970-01-01T00:00:01+00:00"})
    ),
    "an id with a space": edited(lambda body: body["entity"].update({"run:Jane Doe": body["entity"]["run:question"]})),
    "a relation with more": edited(lambda body: body["used"][USED].update({"prov:role": "x"})),
    "a generation without its time": edited(
        lambda body: body["wasGeneratedBy"]["run:generated/answer/activity/generation"].pop("prov:time")
    ),
    "time of another zone": edited(
        lambda body: body["activity"]["run:activity/gate"].update({"prov:startTime": "1970-01-01T01:00:01+01:00"})
    ),
    "time with a Z": edited(
        lambda body: body["activity"]["run:activity/gate"].update({"prov:startTime": "1970-01-01T00:00:01Z"})
    ),
    "time without separators": edited(
        lambda body: body["activity"]["run:activity/gate"].update({"prov:startTime": "19700101T000001+00:00"})
    ),
    "too large": b" " * (4 * 1024 * 1024 + 1),
}


@pytest.mark.parametrize("name", BAD_DOCUMENTS)
def test_documents_that_are_not_of_our_shape(name: str) -> None:
    with pytest.raises(MalformedProv):
        check_prov(BAD_DOCUMENTS[name])


def test_a_run_without_sources_is_a_run() -> None:
    gate = ProvActivity("activity/gate", "Gate", 5, 5)
    data = prov_document(
        ProvFacts("r", ANSWER, entities=(), activities=(gate,), agents=(), generated_by="activity/gate")
    )
    check_prov(data)


def test_reading_the_ledger_does_not_import_prov() -> None:
    code = "import sys, ledger.ledger, ledger.provenance.document, ledger.stores.sqlite.store; sys.exit('prov' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
