"""A receipt as one HTML file: what was asked and answered, quotes, sources, the outline of the provenance, and a button
that verifies all of it from `file://` with the browser's own cryptography."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from api.errors import NoSuchThing
from api.page import page
from api.records import disclosures
from ledger.errors import PartErased
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.receipt import parse_receipt


async def receipt_page(ledger: Ledger, entry_id: str) -> str:
    """The page of an outcome. Raises EntryNotFound, NoSuchThing for an entry of another kind, PartErased where the
    answer was erased."""
    entry = await ledger.entry(entry_id)
    if entry.leaf.kind is not Kind.OUTCOME:
        raise NoSuchThing("Only an answer has a page; for other entries: exhibit ledger proof")
    disclosed = [*await disclosures(entry, ledger)]
    if "prov" in await ledger.part_names(entry_id):
        disclosed.append("prov")
    receipts = {"outcome": await ledger.receipt(entry_id, disclose=disclosed), "intent": None}
    question = None
    for ref in entry.leaf.refs:
        if ref.rel == "intent":
            try:
                receipts["intent"] = await ledger.receipt(ref.id, disclose=("question",))
                question = (await ledger.part(ref.id, "question")).decode("utf-8")
            except PartErased:
                continue  # the answer stands without its question
    parts = {part.name: part.data for part in parse_receipt(receipts["outcome"] or "").disclosures}
    if not parts.get("answer"):
        raise NoSuchThing("The entry has no answer to show.")
    body = json.loads(parts["answer"])
    numbered = {name.removeprefix("sources/"): data for name, data in parts.items() if name.startswith("sources/")}
    return page(
        "receipt.html.j2",
        scripts=("verify.js", "receipt.js"),
        entry_id=entry_id,
        origin=ledger.origin,
        vkeys=ledger.vkeys,
        question=question,
        answer=body.get("answer", ""),
        outcome=body["outcome"],
        model=(body.get("provenance") or {}).get("model"),
        sentences=body.get("sentences") or (),
        titles={int(number): cited["title"] for number, cited in (body.get("citations") or {}).items()},
        sources=[(number, json.loads(numbered[number])) for number in sorted(numbered, key=int)],
        outline=[] if not parts.get("prov") else list(_outline(json.loads(parts["prov"]))),
        receipts=receipts,
    )


def _outline(prov: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Section, name, type and times or role of every activity, entity and agent, in order of time."""
    activities = prov.get("activity", {})
    for name in sorted(activities, key=lambda name: (activities[name]["prov:startTime"], name)):
        yield "activity", name, _type(activities[name]), activities[name]["prov:startTime"]
    for section in ("entity", "agent"):
        for name, record in sorted(prov.get(section, {}).items()):
            detail = ", ".join(f"{key.removeprefix('exhibit:')} {value}" for key, value in sorted(_plain(record)))
            yield section, name, _type(record), detail


def _type(record: Mapping[str, Any]) -> str:
    types = record["prov:type"] if isinstance(record["prov:type"], list) else [record["prov:type"]]
    return str(next((each["$"] for each in types if each["$"].startswith("exhibit:")), "")).removeprefix("exhibit:")


def _plain(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((key, value) for key, value in record.items() if key.startswith("exhibit:") and isinstance(value, str))
