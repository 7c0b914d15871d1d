"""Two entries beside each other: what was asked, by whom, in which scope, what was found and decided, what was said and
with which versions; and which of the differences explain the answers.

The command line, the API and the page say what `difference` says. A reader without `ledger.audit` is shown what may be
read of own entries, and no explanation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ai.record.entry_facts import actor_pseudonym
from ai.replay.explanation import Explanation, explain_difference, told_in
from api.audit.entries.export import time_text
from api.audit.entries.recorded_policy import recorded_policies
from api.audit.entries.records import AUDIT, Reader
from api.errors import NoSuchThing
from api.wiring import System
from ledger.entry.parts import source_number
from ledger.errors import PartErased
from ledger.ledger import Ledger
from ledger.model import Entry, Kind

_OWN = ("question", "answer")


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """An entry and the parts of it and of its intent that the reader may see, as JSON values; `question` is text."""

    entry: Entry
    parts: Mapping[str, Any]
    ledger: Ledger

    def part(self, name: str, default: Any) -> Any:
        """A part; the default where it is absent, empty, erased, not shown, or of another form."""
        value = self.parts.get(name)
        return value if default is None or isinstance(value, type(default)) else default

    @property
    def body(self) -> Mapping[str, Any]:
        """The body of the answer, or of what was listed."""
        body = self.part("answer", {})
        return body if isinstance(body, Mapping) else {}

    @property
    def decisions(self) -> list[Mapping[str, Any]]:
        """Every run of every point."""
        return [run for name in ("policy.query", "policy.evidence", "policy.answer") for run in self.part(name, [])]


async def difference(system: System, one: str, other: str, *, reader: Reader | None = None) -> dict[str, Any]:
    """The document of the comparison; without a reader for whoever holds the home. Raises EntryNotFound, or with a
    reader NoSuchThing, for what is not there or may not be read; VerificationFailed."""
    ledger = system.services.ledger
    whole = reader is None or reader.principal.may(AUDIT)
    read = [await _whole(each, ledger, reader) if whole else await _own(each, reader) for each in (one, other)]
    rows = [_row(name, *(lines(each) for each in read)) for name, lines in ROWS.items()]
    return {
        "entries": [{"entry_id": e.entry.leaf.entry_id, "t_ms": e.entry.leaf.t_ms} for e in read],
        "rows": [row for row in rows if row["one"] or row["other"]],
        "explanation": await _explanation(system, *read, whole=whole),
    }


async def _whole(entry_id: str, ledger: Ledger, reader: Reader | None) -> ReadEntry:
    entry = await (ledger.entry(entry_id) if reader is None else reader.entry(entry_id))
    parts = dict[str, bytes]()
    for ref in entry.leaf.refs:
        if ref.rel == "intent":
            parts |= await ledger.contents(await ledger.entry(ref.id))
    return ReadEntry(entry, _values(parts | await ledger.contents(entry)), ledger)


async def _own(entry_id: str, reader: Reader | None) -> ReadEntry:
    if reader is None:
        raise AssertionError("only a reader has own entries")
    entry, parts = await reader.entry(entry_id), dict[str, bytes]()
    holders = [entry_id, *(ref.id for ref in entry.leaf.refs if ref.rel == "intent")]
    for holder in holders:
        for name in _OWN:
            try:
                parts[name] = await reader.part(holder, name)
            except (NoSuchThing, PartErased):
                continue
    return ReadEntry(entry, _values(parts), reader.services.ledger)


def _values(parts: Mapping[str, bytes]) -> dict[str, Any]:
    return {
        name: data.decode("utf-8", "replace") if name == "question" else json.loads(data)
        for name, data in parts.items()
        if data
    }


def _row(name: str, one: Iterable[str], other: Iterable[str]) -> dict[str, Any]:
    mine, theirs = list(one), list(other)
    return {"name": name, "same": mine == theirs, "one": mine, "other": theirs}


# ---------------------------------------------------------------- what is compared, as lines


def _asked_with(read: ReadEntry) -> Iterable[str]:
    context = read.part("context", {})
    for group in ("context", "options"):
        for name, value in (context.get(group) or {}).items():
            if value not in (None, [], {}, ""):
                yield f"{name}: {_text(value)}"


def _asker(read: ReadEntry) -> Iterable[str]:
    for run in read.part("policy.query", [])[:1]:
        subject = run["input"]["subject"]
        yield f"pseudonym {actor_pseudonym(subject['id'], read.ledger)}"
        for name in ("tenant", "roles", "groups", "clearance"):
            if subject.get(name):
                yield f"{name}: {_text(subject[name])}"


def _scope(read: ReadEntry) -> Iterable[str]:
    for run in read.part("policy.query", [])[:1]:
        filters = [each for each in run["decision"]["obligations"] if each["op"] == "filter"]
        admitted = {class_id for each in filters for class_id in each["params"]["classes"]}
        seen = [each for each in run["input"]["classes"] if each["id"] in admitted]
        yield from sorted({_text({k: v for k, v in each.items() if k != "id" and v}) for each in seen})


def _candidates(read: ReadEntry) -> Iterable[str]:
    for run in read.part("candidates", {}).get("runs", ()):
        yield f"{run['channel']}: {len(run['hits'])}"


def _sources(read: ReadEntry) -> Iterable[str]:
    numbered = {name: part for name, part in read.parts.items() if source_number(name) is not None}
    held = [f"{part['document_id']} {part.get('document_sha256') or ''}".strip() for part in numbered.values()]
    yield from dict.fromkeys(sorted(held or [each["document_id"] for each in _citations(read)]))


def _citations(read: ReadEntry) -> Sequence[Mapping[str, Any]]:
    cited = read.body.get("citations")
    return list(cited.values()) if isinstance(cited, Mapping) else []


def _decided(read: ReadEntry) -> Iterable[str]:
    runs: dict[str, int] = {}
    for run in read.decisions:
        point, decision = run["point"], run["decision"]
        runs[point] = runs.get(point, 0) + 1
        codes = " ".join(sorted({reason["code"] for reason in decision["reasons"]}))
        yield f"{point} {runs[point]}: {decision['effect']}, {len(decision['admit'])} admitted {codes}".strip()


def _obligations(read: ReadEntry) -> Iterable[str]:
    every = (each for run in read.decisions for each in run["decision"]["obligations"])
    yield from sorted({f"{each['op']} ({each['rule']})" for each in every})


def _stamps(name: str) -> Callable[[ReadEntry], Iterable[str]]:
    def lines(read: ReadEntry) -> Iterable[str]:
        stamped = [str(run["stamp"][name]) for run in read.decisions]
        told = str((read.body.get("policy") or {}).get({"bundle": "bundle_digest"}.get(name, name)) or "")
        yield from dict.fromkeys(filter(None, stamped or [told]))

    return lines


def _provenance(*names: str) -> Callable[[ReadEntry], Iterable[str]]:
    def lines(read: ReadEntry) -> Iterable[str]:
        told = read.body.get("provenance") or {}
        yield from (str(told[name]) for name in names if told.get(name))

    return lines


def _settings(read: ReadEntry) -> Iterable[str]:
    yield from (f"{name} {value}" for name, value in sorted(read.part("replay", {}).get("pinned", {}).items()))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


ROWS: Mapping[str, Callable[[ReadEntry], Iterable[str]]] = {
    "recorded": lambda read: [time_text(read.entry.leaf.t_ms)],
    "kind": lambda read: [str(read.entry.leaf.kind)],
    "question": lambda read: read.part("question", "").splitlines(),
    "context": _asked_with,
    "asker": _asker,
    "scope": _scope,
    "outcome": lambda read: filter(None, [read.body.get("outcome")]),
    "reasons": lambda read: read.body.get("reason_codes") or (),
    "answer": lambda read: (read.body.get("answer") or "").splitlines(),
    "understood": lambda read: filter(None, [(read.body.get("interpretation") or {}).get("reading")]),
    "candidates": _candidates,
    "cited": lambda read: [each["title"] for each in _citations(read)],
    "versions": _sources,
    "items": lambda read: [each["chunk_id"] for each in read.body.get("evidence") or ()],
    "excluded": lambda read: read.part("bundle", {}).get("excluded", ()),
    "limitations": lambda read: [each["code"] for each in read.body.get("limitations") or ()],
    "policy": _stamps("bundle"),
    "engine": _stamps("engine"),
    "decisions": _decided,
    "obligations": _obligations,
    "model": _provenance("model", "model_digest"),
    "template": _provenance("template", "template_digest"),
    "settings": _settings,
    "software": lambda read: filter(None, [read.part("replay", {}).get("software")]),
    "detail": lambda read: [_text(read.parts["detail"])] if read.part("detail", None) else (),
}
"""The parts of entries that are compared, in the order in which they are shown; each as lines, of which one that only
one side has is marked."""


# ---------------------------------------------------------------- which difference explains the answer


async def _explanation(system: System, one: ReadEntry, other: ReadEntry, *, whole: bool) -> dict[str, Any]:
    if not whole:
        return _told("not_shown", "Which difference explains the answer is shown to auditors only (ledger.audit).")
    if any(each.entry.leaf.kind is not Kind.OUTCOME or not each.body for each in (one, other)):
        return _told("impossible", "Only two answers can be explained by each other, while both are on record.")
    if told_in(one.body) == told_in(other.body):
        return _told("same", "The answers are the same.")
    ids = [each.entry.leaf.entry_id for each in (one, other)]
    async with recorded_policies(system) as policies:
        services = [await policies.services_of(each) for each in ids]
        found = await explain_difference(*ids, of_one=services[0], of_other=services[1])
    if found.impossible:
        return _told("impossible", f"No explanation: {found.impossible}.")
    return _told("explained", _sentence(found.causes), found)


def _sentence(causes: Sequence[str]) -> str:
    named = ", ".join(causes)
    if len(causes) == 1:
        return f"With {named} of the second entry alone, the first gives the second answer."
    return (
        f"With these of the second entry together, and with none of them left out, the first gives its answer: {named}."
    )


def _told(status: str, text: str, found: Explanation | None = None) -> dict[str, Any]:
    effects = {} if found is None else found.effects
    return {
        "status": status,
        "text": text,
        "causes": [] if found is None else list(found.causes),
        "effects": [{"name": name, "effect": effect} for name, effect in effects.items()],
    }
