"""Our own checks of a provenance document of one run: uniqueness, ordering, typing, and the one shape that
`ledger.provenance.document` writes (PROV-JSON, PROV-CONSTRAINTS). The `prov` library reads far more than that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

from ledger.canonical import canonical_object, is_canonical
from ledger.entry.leaf import strict_object
from ledger.errors import MalformedLeaf, MalformedProv

VOCABULARY = "urn:exhibit:prov/1#"
RUN = "urn:exhibit:run:{run_id}:"
MAX_PROV_BYTES = 4 * 1024 * 1024
NAME = re.compile(r"[A-Za-z][A-Za-z0-9._/-]{0,119}")
TYPE = re.compile(r"[A-Z][A-Za-z0-9]{0,39}")
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
VALUE = re.compile(r"[\x21-\x7e]{1,256}")
# relation -> (its name in ids, role and section of the subject, role and section of the object)
RELATIONS = {
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


def qualified(name: str) -> dict[str, str]:
    """A qualified name as PROV-JSON writes a type."""
    return {"$": name, "type": "xsd:QName"}


def check_prov(data: bytes) -> dict[str, Any]:
    """The document. Raises MalformedProv unless it is of our shape: canonical; every id declared once; every element
    with a type of the vocabulary and short attributes, an agent a person or software; every relation between declared
    things of the right type and with nothing more; times in UTC and in order; one answer, generated once; nothing
    derived from what no activity used."""
    body = _parse(data)
    _check_document(body)
    return body


def _parse(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_PROV_BYTES:
        refuse("the document is too large")
    body = canonical_object(data) or _strict(data)
    unknown = set(body) - {"prefix", *_ELEMENTS, *RELATIONS}
    if unknown or not all(isinstance(section, dict) for section in body.values()):
        refuse(f"section {min(unknown, default='?')!r} does not belong to the shape")
    prefix = body.get("prefix", {})
    run = str(prefix.get("run", ""))
    run_id = run.removeprefix("urn:exhibit:run:").removesuffix(":")
    if prefix != {"exhibit": VOCABULARY, "run": RUN.format(run_id=run_id)} or not RUN_ID.fullmatch(run_id):
        refuse("the prefixes are not those of a run")
    return body


def _strict(data: bytes) -> dict[str, Any]:
    """The object, or what keeps it from being canonical."""
    try:
        body = strict_object(data)
    except MalformedLeaf as exc:
        raise MalformedProv(f"not a strict JSON object: {exc}") from exc
    if not is_canonical(body, data):
        refuse("the bytes are not in canonical form")
    return body


def _check_document(body: Mapping[str, Any]) -> None:
    declared = {section: body.get(section, {}) for section in _ELEMENTS}
    seen: set[str] = set()
    for section in (*_ELEMENTS, *RELATIONS):
        for name, record in body.get(section, {}).items():
            if not name.startswith("run:") or name in seen or not isinstance(record, dict):
                refuse(f"{name[:60]} is not a record of the run, or occurs twice")
            seen.add(name)
    for section in _ELEMENTS:
        for name, record in declared[section].items():
            _check_described(section, name, record)
    for relation, (label, subject, target) in RELATIONS.items():
        for name, record in body.get(relation, {}).items():
            if set(record) != {subject[0], target[0], *_TIMES.get(relation, ())}:
                refuse(f"{name} does not have the fields of its relation")
            ends = [_end(name, record, role, declared[section]) for role, section in (subject, target)]
            if name != f"run:{label}/{ends[0]}/{ends[1]}":
                refuse(f"{name} is not the id of that relation")
    _check_times(body)
    _check_answer(body)


def _check_described(section: str, name: str, record: Mapping[str, Any]) -> None:
    """Properties that `_described`, `_activity` and `_agent` write."""
    kind = record.get("prov:type")
    if section == "agent":
        kind, *second = kind if isinstance(kind, list) and kind else (None,)
        if second not in ([qualified("prov:Person")], [qualified("prov:SoftwareAgent")]):
            refuse(f"{name} is neither a person nor software")
    type_name = kind.get("$") if isinstance(kind, dict) else None
    label = str(type_name).removeprefix("exhibit:")
    if (
        kind != qualified(f"exhibit:{label}")
        or not TYPE.fullmatch(label)
        or not NAME.fullmatch(name.removeprefix("run:"))
    ):
        refuse(f"{name[:60]} is not a name, or has no type of the vocabulary")
    for key in set(record) - {"prov:type", *_TIMES.get(section, ())}:
        label, value = key.removeprefix("exhibit:"), record[key]
        if label == key or not NAME.fullmatch(label) or not isinstance(value, str) or not VALUE.fullmatch(value):
            refuse(f"attribute {key[:40]!r} of {name} is not a name with a short ASCII token")


def _end(name: str, record: Mapping[str, Any], role: str, declared: Mapping[str, Any]) -> str:
    value = record.get(role)
    if not isinstance(value, str) or value not in declared:
        refuse(f"{name}: its {role} is not declared as such")
    return value.removeprefix("run:")


def _check_times(body: Mapping[str, Any]) -> None:
    spans = {}
    for name, record in body.get("activity", {}).items():
        start, end = _moment(name, record, "prov:startTime"), _moment(name, record, "prov:endTime")
        if start > end:
            refuse(f"{name} ends before it starts")
        spans[name] = (start, end)
    for name, record in body.get("wasInformedBy", {}).items():
        if spans[record["prov:informant"]][0] > spans[record["prov:informed"]][1]:
            refuse(f"{name}: the informant started after the informed activity ended")
    for name, record in body.get("wasGeneratedBy", {}).items():
        start, end = spans[record["prov:activity"]]
        if not start <= _moment(name, record, "prov:time") <= end:
            refuse(f"{name}: generated outside the activity's time")


def _moment(name: str, record: Mapping[str, Any], key: str) -> datetime:
    try:
        moment = datetime.fromisoformat(record[key])
    except (KeyError, TypeError, ValueError):
        refuse(f"{name} has no {key}")
    if moment.tzinfo != UTC or moment.isoformat() != record[key]:
        refuse(f"{name}: {key} is not UTC, or written otherwise")
    return moment


def _check_answer(body: Mapping[str, Any]) -> None:
    answers = [name for name, record in body.get("entity", {}).items() if record.get("prov:type") == _ANSWER]
    if len(answers) != 1:
        refuse(f"{len(answers)} entities are the answer; there must be one")
    generations = [record["prov:entity"] for record in body.get("wasGeneratedBy", {}).values()]
    if generations != answers:
        refuse("the answer must be the one thing that was generated")
    used = {record["prov:entity"] for record in body.get("used", {}).values()}
    for name, record in body.get("wasDerivedFrom", {}).items():
        if record["prov:generatedEntity"] != answers[0] or record["prov:usedEntity"] not in used - {answers[0]}:
            refuse(f"{name}: only the answer is derived, and only from what an activity used")


def refuse(reason: str) -> NoReturn:
    """Raise MalformedProv."""
    raise MalformedProv(reason)
