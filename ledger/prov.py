"""Provenance of one run as W3C PROV, from plain facts (PROV-DM, PROV-JSON, PROV-CONSTRAINTS).

Identifiers are local names of the run (`answer`, `source/1`, `activity/generation`, `agent/principal`); a relation's is
`<relation>/<subject>/<object>`. They name no person: whoever calls passes pseudonyms and commitments, never text.
The `prov` library reads and converts documents; it is imported on first use, so that others do not pay for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from ledger.canonical import canonical_json, is_canonical
from ledger.errors import MalformedLeaf, MalformedProv
from ledger.leaf import strict_object

VOCABULARY = "urn:exhibit:prov/1#"
RUN = "urn:exhibit:run:{run_id}:"
MAX_PROV_BYTES = 4 * 1024 * 1024
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._/-]{0,119}")
_TYPE = re.compile(r"[A-Z][A-Za-z0-9]{0,39}")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_VALUE = re.compile(r"[\x21-\x7e]{1,256}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ProvEntity:
    """A thing: the answer, a source, the question. `attributes` are short ASCII tokens: commitments, digests, ids."""

    id: str
    type: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProvActivity:
    """What was done, from `start_ms` to `end_ms` (UTC), with what it used, who did it, and what it followed from; ids
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
    """Who or what bears responsibility: principal (`is_person`), model, policy bundle, software."""

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
    """The document as PROV-JSONLD, indented. Raises MalformedProv."""
    return str(_read(data).serialize(format="jsonld", indent=2))


def _read(data: bytes) -> Any:
    """The library's document of a run, or of a redaction."""
    from prov.model import ProvDocument  # noqa: PLC0415 - 80 ms to import

    try:
        redaction = "wasInvalidatedBy" in strict_object(data)
    except MalformedLeaf as exc:
        raise MalformedProv(f"no strict JSON object: {exc}") from exc
    if not redaction:
        check_prov(data)
    return ProvDocument.deserialize(content=data.decode("utf-8"), format="json")


def check_prov(data: bytes) -> None:
    """Raise MalformedProv unless `data` is a document of our shape: canonical; every id declared once; every element
    with a type of the vocabulary and short attributes, an agent a person or software; every relation between declared
    things of the right type and with nothing more; times in UTC and in order; one answer, generated once; nothing
    derived from what no activity used."""
    _check_document(_parse(data))


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
        label, (subject_role, _), (target_role, _) = _RELATIONS[relation]
        record = {subject_role: _run(subject), target_role: _run(target), **more}
        body.setdefault(relation, {})[_run(f"{label}/{subject}/{target}")] = record
    return {name: section for name, section in body.items() if section}


def _run(name: str) -> str:
    return f"run:{name}"


def _described(type_name: str, attributes: Mapping[str, str]) -> dict[str, Any]:
    """A type and attributes in our own namespace."""
    return {"prov:type": _name(f"exhibit:{type_name}"), **{f"exhibit:{key}": attributes[key] for key in attributes}}


def _activity(act: ProvActivity) -> dict[str, Any]:
    times = {"prov:startTime": _time(act.start_ms), "prov:endTime": _time(act.end_ms)}
    return {**_described(act.type, act.attributes), **times}


def _agent(agent: ProvAgent) -> dict[str, Any]:
    described = _described(agent.type, agent.attributes)
    described["prov:type"] = [described["prov:type"], _name("prov:Person" if agent.is_person else "prov:SoftwareAgent")]
    return described


def _name(qualified: str) -> dict[str, str]:
    return {"$": qualified, "type": "xsd:QName"}


def _elements(facts: ProvFacts) -> Iterable[ProvEntity | ProvActivity | ProvAgent]:
    return (facts.answer, *facts.entities, *facts.activities, *facts.agents)


def _check_facts(facts: ProvFacts) -> None:
    if not _RUN_ID.fullmatch(facts.run_id):
        _refuse("the run id is no name")
    seen: set[str] = set()
    for item in _elements(facts):
        if not _NAME.fullmatch(item.id) or not _TYPE.fullmatch(item.type):
            _refuse(f"{item.id[:40]!r} of type {item.type[:40]!r} is no name")
        if item.id in seen:
            _refuse(f"{item.id} is declared twice")
        seen.add(item.id)
        for key, value in item.attributes.items():
            if not _NAME.fullmatch(key) or not _VALUE.fullmatch(value):
                _refuse(f"attribute {key[:40]!r} of {item.id} is no name with a short ASCII token")
    entities = {facts.answer.id, *(entity.id for entity in facts.entities)}
    activities = {act.id: act for act in facts.activities}
    agents = {agent.id for agent in facts.agents}
    if facts.generated_by not in activities:
        _refuse(f"the answer was generated by {facts.generated_by!r}, which is no activity")
    sources = entities - {facts.answer.id}
    _check_targets("the answer is derived from", facts.derived_from, sources)
    _check_targets("the answer is attributed to", facts.attributed_to, agents)
    for act in facts.activities:
        if not 0 <= act.start_ms <= act.end_ms:
            _refuse(f"{act.id} ends before it starts")
        _check_targets(f"{act.id} used", act.used, sources)
        _check_targets(f"{act.id} is associated with", act.agents, agents)
        _check_targets(f"{act.id} is informed by", act.informed_by, set(activities) - {act.id})
        if any(activities[earlier].start_ms > act.end_ms for earlier in act.informed_by):
            _refuse(f"{act.id} is informed by what started after it")
    unused = set(facts.derived_from) - {used for act in facts.activities for used in act.used}
    if unused:
        _refuse(f"the answer is derived from {min(unused)}, which no activity used")


def _check_targets(what: str, targets: tuple[str, ...], declared: Iterable[str]) -> None:
    unknown = set(targets) - set(declared)
    if unknown:
        _refuse(f"{what} {min(unknown)!r}, which is not declared as such")
    if len(set(targets)) != len(targets):
        _refuse(f"{what} one thing twice")


# relation -> (its name in ids, role and section of the subject, role and section of the object)
_RELATIONS = {
    "used": ("used", ("prov:activity", "activity"), ("prov:entity", "entity")),
    "wasAssociatedWith": ("associated", ("prov:activity", "activity"), ("prov:agent", "agent")),
    "wasInformedBy": ("informed", ("prov:informed", "activity"), ("prov:informant", "activity")),
    "wasGeneratedBy": ("generated", ("prov:entity", "entity"), ("prov:activity", "activity")),
    "wasDerivedFrom": ("derived", ("prov:generatedEntity", "entity"), ("prov:usedEntity", "entity")),
    "wasAttributedTo": ("attributed", ("prov:entity", "entity"), ("prov:agent", "agent")),
}
_ELEMENTS = ("entity", "activity", "agent")
_TIMES = {"activity": ("prov:startTime", "prov:endTime"), "wasGeneratedBy": ("prov:time",)}
_ANSWER = {"$": "exhibit:Answer", "type": "xsd:QName"}


def _parse(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_PROV_BYTES:
        _refuse("the document is too large")
    try:
        body = strict_object(data)
    except MalformedLeaf as exc:
        raise MalformedProv(f"no strict JSON object: {exc}") from exc
    if not is_canonical(body, data):
        _refuse("the bytes are not in canonical form")
    unknown = set(body) - {"prefix", *_ELEMENTS, *_RELATIONS}
    if unknown or not all(isinstance(section, dict) for section in body.values()):
        _refuse(f"section {min(unknown, default='?')!r} does not belong to the shape")
    prefix = body.get("prefix", {})
    run = str(prefix.get("run", ""))
    run_id = run.removeprefix("urn:exhibit:run:").removesuffix(":")
    if prefix != {"exhibit": VOCABULARY, "run": RUN.format(run_id=run_id)} or not _RUN_ID.fullmatch(run_id):
        _refuse("the prefixes are not those of a run")
    return body


def _check_document(body: Mapping[str, Any]) -> None:
    declared = {section: body.get(section, {}) for section in _ELEMENTS}
    seen: set[str] = set()
    for section in (*_ELEMENTS, *_RELATIONS):
        for name, record in body.get(section, {}).items():
            if not name.startswith("run:") or name in seen or not isinstance(record, dict):
                _refuse(f"{name[:60]} is no record of the run, or stands twice")
            seen.add(name)
    for section in _ELEMENTS:
        for name, record in declared[section].items():
            _check_described(section, name, record)
    for relation, (label, subject, target) in _RELATIONS.items():
        for name, record in body.get(relation, {}).items():
            if set(record) != {subject[0], target[0], *_TIMES.get(relation, ())}:
                _refuse(f"{name} has not the fields of its relation")
            ends = [_end(name, record, role, declared[section]) for role, section in (subject, target)]
            if name != f"run:{label}/{ends[0]}/{ends[1]}":
                _refuse(f"{name} is not the id of that relation")
    _check_times(body)
    _check_answer(body)


def _check_described(section: str, name: str, record: Mapping[str, Any]) -> None:
    """What `_described`, `_activity` and `_agent` write."""
    kind = record.get("prov:type")
    if section == "agent":
        kind, *second = kind if isinstance(kind, list) and kind else (None,)
        if second not in ([_name("prov:Person")], [_name("prov:SoftwareAgent")]):
            _refuse(f"{name} is neither a person nor software")
    type_name = kind.get("$") if isinstance(kind, dict) else None
    label = str(type_name).removeprefix("exhibit:")
    if (
        kind != _name(f"exhibit:{label}")
        or not _TYPE.fullmatch(label)
        or not _NAME.fullmatch(name.removeprefix("run:"))
    ):
        _refuse(f"{name[:60]} is no name, or has no type of the vocabulary")
    for key in set(record) - {"prov:type", *_TIMES.get(section, ())}:
        label, value = key.removeprefix("exhibit:"), record[key]
        if label == key or not _NAME.fullmatch(label) or not isinstance(value, str) or not _VALUE.fullmatch(value):
            _refuse(f"attribute {key[:40]!r} of {name} is no name with a short ASCII token")


def _end(name: str, record: Mapping[str, Any], role: str, declared: Mapping[str, Any]) -> str:
    value = record.get(role)
    if not isinstance(value, str) or value not in declared:
        _refuse(f"{name}: its {role} is not declared as such")
    return value.removeprefix("run:")


def _check_times(body: Mapping[str, Any]) -> None:
    spans = {}
    for name, record in body.get("activity", {}).items():
        start, end = _moment(name, record, "prov:startTime"), _moment(name, record, "prov:endTime")
        if start > end:
            _refuse(f"{name} ends before it starts")
        spans[name] = (start, end)
    for name, record in body.get("wasInformedBy", {}).items():
        if spans[record["prov:informant"]][0] > spans[record["prov:informed"]][1]:
            _refuse(f"{name}: the informant started after the informed activity ended")
    for name, record in body.get("wasGeneratedBy", {}).items():
        start, end = spans[record["prov:activity"]]
        if not start <= _moment(name, record, "prov:time") <= end:
            _refuse(f"{name}: generated outside the activity's time")


def _moment(name: str, record: Mapping[str, Any], key: str) -> datetime:
    try:
        moment = datetime.fromisoformat(record[key])
    except (KeyError, TypeError, ValueError):
        _refuse(f"{name} has no {key}")
    if moment.tzinfo != UTC or moment.isoformat() != record[key]:
        _refuse(f"{name}: {key} is not UTC, or written otherwise")
    return moment


def _check_answer(body: Mapping[str, Any]) -> None:
    answers = [name for name, record in body.get("entity", {}).items() if record.get("prov:type") == _ANSWER]
    if len(answers) != 1:
        _refuse(f"{len(answers)} entities are the answer; there must be one")
    generations = [record["prov:entity"] for record in body.get("wasGeneratedBy", {}).values()]
    if generations != answers:
        _refuse("the answer must be the one thing that was generated")
    used = {record["prov:entity"] for record in body.get("used", {}).values()}
    for name, record in body.get("wasDerivedFrom", {}).items():
        if record["prov:generatedEntity"] != answers[0] or record["prov:usedEntity"] not in used - {answers[0]}:
            _refuse(f"{name}: only the answer is derived, and only from what an activity used")


def _time(ms: int) -> str:
    return (_EPOCH + timedelta(milliseconds=ms)).isoformat()


def _refuse(reason: str) -> NoReturn:
    raise MalformedProv(reason)
