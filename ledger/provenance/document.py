"""Provenance of one run as W3C PROV, from plain facts (PROV-DM, PROV-JSON, PROV-CONSTRAINTS).

Identifiers are local names of the run (`answer`, `source/1`, `activity/generation`, `agent/principal`); a relation's is
`<relation>/<subject>/<object>`. They name no person: whoever calls passes pseudonyms and commitments, never text.
The `prov` library reads and converts documents; it is imported on first use, so that others do not pay for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ledger.canonical import canonical_json
from ledger.entry.leaf import strict_object
from ledger.errors import MalformedLeaf, MalformedProv
from ledger.provenance.check import NAME, RELATIONS, RUN, RUN_ID, TYPE, VALUE, VOCABULARY, check_prov, qualified, refuse

CONTENT_DOMAIN = "content"
"""Domain of the pseudonyms by which an entry's document names content."""
PROV, XSD = "http://www.w3.org/ns/prov#", "http://www.w3.org/2001/XMLSchema#"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def content_of(entry_id: str, digest: str) -> str:
    """The text that the commitment to content of that digest is made over: it is another one in every entry."""
    return f"{entry_id} {digest}"


@dataclass(frozen=True, slots=True)
class ProvEntity:
    """A thing: the answer, a source, the question. `attributes` are short ASCII tokens: commitments, digests, ids."""

    id: str
    type: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProvActivity:
    """An activity, from `start_ms` to `end_ms` (UTC), with its inputs, its agent, and the activity before it; ids
    of the same facts."""

    id: str
    type: str
    start_ms: int
    end_ms: int
    used: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    informed_by: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProvAgent:
    """An agent that bears responsibility: principal (`is_person`), model, policy bundle, software."""

    id: str
    type: str
    is_person: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProvFacts:
    """One run. `generated_by` is the activity that made the answer, `derived_from` the entities that the answer cites,
    `attributed_to` the agents that answer for it; `entities` are all things but the answer."""

    run_id: str
    answer: ProvEntity
    entities: tuple[ProvEntity, ...]
    activities: tuple[ProvActivity, ...]
    agents: tuple[ProvAgent, ...]
    generated_by: str
    derived_from: tuple[str, ...] = ()
    attributed_to: tuple[str, ...] = ()


def prov_document(facts: ProvFacts) -> bytes:
    """Canonical PROV-JSON of the facts: the same facts give the same bytes. Raises MalformedProv naming the record
    that is not unique, not declared, out of order or not a name.

    Written without the library, which takes milliseconds for what takes a tenth here, on every question; a property
    test holds the bytes equal to the library's for the same facts, and reading and converting is the library's.
    """
    _check_facts(facts)
    return canonical_json(_document(facts))


def prov_n(data: bytes) -> str:
    """The document as PROV-N, for reading. Raises MalformedProv."""
    return str(_read(data).get_provn())


def prov_jsonld(data: bytes) -> str:
    """The document as PROV-JSONLD, indented. Raises MalformedProv.

    Its own context declares every prefix that it uses: ProvToolbox fetches no context, so the library's, which leaves
    `prov` and `xsd` to the shared one, is not read there."""
    document = json.loads(_read(data).serialize(format="jsonld"))
    declared, *shared = document["@context"]
    document["@context"] = [{**declared, "prov": PROV, "xsd": XSD}, *shared]
    return json.dumps(document, indent=2, ensure_ascii=False)


def _read(data: bytes) -> Any:
    """The library's document of a run, or of a redaction."""
    from prov.model import ProvDocument  # noqa: PLC0415 - 80 ms to import

    try:
        redaction = "wasInvalidatedBy" in strict_object(data)
    except MalformedLeaf as exc:
        raise MalformedProv(f"not a strict JSON object: {exc}") from exc
    if not redaction:
        check_prov(data)
    return ProvDocument.deserialize(content=data.decode("utf-8"), format="json")


def _document(facts: ProvFacts) -> dict[str, Any]:
    """The PROV-JSON document, as the `prov` library serialises the same facts."""
    body: dict[str, Any] = {"prefix": {"exhibit": VOCABULARY, "run": RUN.format(run_id=facts.run_id)}}
    body["entity"] = {_run(item.id): _described(item.type, item.attributes) for item in (facts.answer, *facts.entities)}
    body["activity"] = {_run(act.id): _activity(act) for act in facts.activities}
    body["agent"] = {_run(agent.id): _agent(agent) for agent in facts.agents}
    made_ms = next(act.end_ms for act in facts.activities if act.id == facts.generated_by)
    ends = [("wasGeneratedBy", facts.answer.id, facts.generated_by, {"prov:time": _time(made_ms)})]
    ends += [("wasDerivedFrom", facts.answer.id, source_id, {}) for source_id in facts.derived_from]
    ends += [("wasAttributedTo", facts.answer.id, agent_id, {}) for agent_id in facts.attributed_to]
    for act in facts.activities:
        ends += [("used", act.id, entity_id, {}) for entity_id in act.used]
        ends += [("wasAssociatedWith", act.id, agent_id, {}) for agent_id in act.agents]
        ends += [("wasInformedBy", act.id, earlier, {}) for earlier in act.informed_by]
    for relation, subject, target, more in ends:
        label, (subject_role, _), (target_role, _) = RELATIONS[relation]
        record = {subject_role: _run(subject), target_role: _run(target), **more}
        body.setdefault(relation, {})[_run(f"{label}/{subject}/{target}")] = record
    return {name: section for name, section in body.items() if section}


def _run(name: str) -> str:
    return f"run:{name}"


def _described(type_name: str, attributes: Mapping[str, str]) -> dict[str, Any]:
    """A type and attributes in our own namespace."""
    return {"prov:type": qualified(f"exhibit:{type_name}"), **{f"exhibit:{key}": attributes[key] for key in attributes}}


def _activity(act: ProvActivity) -> dict[str, Any]:
    times = {"prov:startTime": _time(act.start_ms), "prov:endTime": _time(act.end_ms)}
    return {**_described(act.type, act.attributes), **times}


def _agent(agent: ProvAgent) -> dict[str, Any]:
    described = _described(agent.type, agent.attributes)
    described["prov:type"] = [
        described["prov:type"],
        qualified("prov:Person" if agent.is_person else "prov:SoftwareAgent"),
    ]
    return described


def _elements(facts: ProvFacts) -> Iterable[ProvEntity | ProvActivity | ProvAgent]:
    return (facts.answer, *facts.entities, *facts.activities, *facts.agents)


def _check_facts(facts: ProvFacts) -> None:
    if not RUN_ID.fullmatch(facts.run_id):
        refuse("the run id is not a name")
    seen: set[str] = set()
    for item in _elements(facts):
        if not NAME.fullmatch(item.id) or not TYPE.fullmatch(item.type):
            refuse(f"{item.id[:40]!r} of type {item.type[:40]!r} is not a name")
        if item.id in seen:
            refuse(f"{item.id} is declared twice")
        seen.add(item.id)
        for key, value in item.attributes.items():
            if not NAME.fullmatch(key) or not VALUE.fullmatch(value):
                refuse(f"attribute {key[:40]!r} of {item.id} is not a name with a short ASCII token")
    entities = {facts.answer.id, *(entity.id for entity in facts.entities)}
    activities = {act.id: act for act in facts.activities}
    agents = {agent.id for agent in facts.agents}
    if facts.generated_by not in activities:
        refuse(f"the answer was generated by {facts.generated_by!r}, which is not an activity")
    sources = entities - {facts.answer.id}
    _check_targets("the answer is derived from", facts.derived_from, sources)
    _check_targets("the answer is attributed to", facts.attributed_to, agents)
    for act in facts.activities:
        if not 0 <= act.start_ms <= act.end_ms:
            refuse(f"{act.id} ends before it starts")
        _check_targets(f"{act.id} used", act.used, sources)
        _check_targets(f"{act.id} is associated with", act.agents, agents)
        _check_targets(f"{act.id} is informed by", act.informed_by, set(activities) - {act.id})
        if any(activities[earlier].start_ms > act.end_ms for earlier in act.informed_by):
            refuse(f"{act.id} is informed by what started after it")
    unused = set(facts.derived_from) - {used for act in facts.activities for used in act.used}
    if unused:
        refuse(f"the answer is derived from {min(unused)}, which no activity used")


def _check_targets(what: str, targets: tuple[str, ...], declared: Iterable[str]) -> None:
    unknown = set(targets) - set(declared)
    if unknown:
        refuse(f"{what} {min(unknown)!r}, which is not declared as such")
    if len(set(targets)) != len(targets):
        refuse(f"{what} one thing twice")


def _time(ms: int) -> str:
    return (_EPOCH + timedelta(milliseconds=ms)).isoformat()
