"""A receipt as one HTML file: what was asked and answered, quotes, sources, the outline of the provenance, and a button
that verifies all of it from `file://` with the browser's own cryptography."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from api.audit.entries.records import disclosures
from api.errors import NoSuchThing
from api.web.log_page import FORMS
from api.web.page import page
from ledger.entry.leaf import parse_leaf
from ledger.errors import PartErased
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.notes.note import parse_checkpoint_text, parse_note
from ledger.proofs.receipt import parse_receipt


async def receipt_page(ledger: Ledger, entry_id: str) -> str:
    """The page of an outcome. Raises EntryNotFound, NoSuchThing for an entry of another kind, PartErased where the
    answer was erased."""
    entry = await ledger.entry(entry_id)
    if entry.leaf.kind is not Kind.OUTCOME:
        raise NoSuchThing("Only an answer has a page; for other entries: exhibit ledger proof")
    disclosed = [*await disclosures(entry, ledger)]
    if "prov" in await ledger.part_names(entry_id):
        disclosed.append("prov")
    outcome, intent = await ledger.receipt(entry_id, disclose=disclosed), None
    for ref in entry.leaf.refs:
        if ref.rel == "intent":
            try:
                intent = await ledger.receipt(ref.id, disclose=("question",))
            except PartErased:
                continue  # the answer stands without its question
    return page_of_receipts(outcome, intent, vkeys=ledger.vkeys)


def page_of_receipts(outcome: str, intent: str | None, *, vkeys: Sequence[str]) -> str:
    """The page of an answer whose receipts these are, those of its outcome and of its intent. Nothing is verified here.
    Raises NoSuchThing where no answer is disclosed, MalformedNote and MalformedLeaf for texts that are no receipts."""
    proved = parse_receipt(outcome)
    leaf = parse_leaf(proved.leaf_bytes)
    origin, _ = parse_checkpoint_text(parse_note(proved.checkpoint).text)
    parts = {part.name: part.data for part in proved.disclosures}
    if not parts.get("answer"):
        raise NoSuchThing("The entry has no answer to show.")
    body = json.loads(parts["answer"])
    asked = {} if intent is None else {part.name: part.data for part in parse_receipt(intent).disclosures}
    numbered = {name.removeprefix("sources/"): data for name, data in parts.items() if name.startswith("sources/")}
    time = datetime.fromtimestamp(leaf.t_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return page(
        "receipt.html.j2",
        scripts=("verify.js", "leaf.js", "proof.js", "receipt.js"),
        forms=FORMS,
        entry_id=leaf.entry_id,
        time=time.replace("+00:00", "Z"),
        origin=origin,
        vkeys=vkeys,
        question=asked["question"].decode("utf-8") if "question" in asked else None,
        answer=body.get("answer", ""),
        outcome=body["outcome"],
        model=(body.get("provenance") or {}).get("model"),
        sentences=body.get("sentences") or (),
        titles={int(number): cited["title"] for number, cited in (body.get("citations") or {}).items()},
        sources=[(number, json.loads(numbered[number])) for number in sorted(numbered, key=int)],
        outline=[] if not parts.get("prov") else list(_outline(json.loads(parts["prov"]))),
        receipts={"outcome": outcome, "intent": intent},
    )


def _outline(prov: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """By section, type, name and time of every activity, in order of time, and type, name and attributes of
    every entity and agent."""
    activities = prov.get("activity", {})
    in_time = sorted(activities, key=lambda name: (activities[name]["prov:startTime"], name))
    yield "activity", [(_type(activities[name]), name, activities[name]["prov:startTime"]) for name in in_time]
    for section in ("entity", "agent"):
        records = sorted(prov.get(section, {}).items())
        yield section, [(_type(record), name, _attributes(record)) for name, record in records]


def _type(record: Mapping[str, Any]) -> str:
    types = record["prov:type"] if isinstance(record["prov:type"], list) else [record["prov:type"]]
    return str(next((each["$"] for each in types if each["$"].startswith("exhibit:")), "")).removeprefix("exhibit:")


def _attributes(record: Mapping[str, Any]) -> str:
    plain = {key: value for key, value in record.items() if key.startswith("exhibit:") and isinstance(value, str)}
    return ", ".join(f"{key.removeprefix('exhibit:')} {value}" for key, value in sorted(plain.items()))
