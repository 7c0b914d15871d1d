"""Since when a question is answered differently: every entry of the same question, asked in the same way by somebody of
the same rights, by index, and each change of the answer with the difference that explains it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ai.replay.explanation import told_in
from api.audit.entries.difference import difference
from api.audit.entries.export import time_text
from api.errors import RequestRejected
from api.wiring import System
from ledger.ledger import Ledger
from ledger.model import Entry, Kind

_ASKED = ("question", "context", "policy.query")


@dataclass(frozen=True, slots=True)
class AnsweredEntry:
    """An outcome whose body is on record, and the body."""

    entry: Entry
    body: Mapping[str, Any]

    @property
    def document(self) -> dict[str, Any]:
        """The entry, when it was recorded, how it ended, and the digest of the policy bundle that decided."""
        leaf = self.entry.leaf
        return {
            "entry_id": leaf.entry_id,
            "time": time_text(leaf.t_ms),
            "outcome": self.body["outcome"],
            "policy": (self.body.get("policy") or {}).get("bundle_digest"),
        }


async def changes_of_answer(system: System, entry_id: str) -> dict[str, Any]:
    """The entries of the question of that outcome, and the changes of its answer. Raises EntryNotFound, RequestRejected
    for an entry that holds no question or of which it was erased, VerificationFailed."""
    ledger = system.services.ledger
    entry = await ledger.entry(entry_id)
    asked = [await ledger.entry(ref.id) for ref in entry.leaf.refs if ref.rel == "intent"]
    wanted = await _question(asked[0], ledger) if entry.leaf.kind is Kind.OUTCOME and asked else None
    if wanted is None:
        raise RequestRejected("name an outcome whose question is on record")
    found = [each async for each in _answered(ledger, entry.leaf.tenant, wanted)]
    changed = [(a, b) for a, b in pairwise(found) if told_in(a.body) != told_in(b.body)]
    return {
        "question": wanted[0],
        "entries": [each.document for each in found],
        "changes": [await _change(system, before, after) for before, after in changed],
    }


async def _change(system: System, before: AnsweredEntry, after: AnsweredEntry) -> dict[str, Any]:
    ids = [each.entry.leaf.entry_id for each in (before, after)]
    found = await difference(system, *ids)
    return {"before": before.document, "after": after.document, "explanation": found["explanation"]}


async def _answered(ledger: Ledger, tenant: str, wanted: tuple[str, str]) -> AsyncIterator[AnsweredEntry]:
    """The outcomes of the same question, by index. A request that failed gave no answer."""
    async for entry in ledger.every(kind=Kind.OUTCOME):
        asked = [ref.id for ref in entry.leaf.refs if ref.rel == "intent"]
        if entry.leaf.tenant != tenant or not asked:
            continue
        if await _question(await ledger.entry(asked[0]), ledger) == wanted:
            data = (await ledger.contents(entry, ("answer",))).get("answer")
            body = json.loads(data) if data else {"outcome": "FAULT"}
            if body["outcome"] != "FAULT":
                yield AnsweredEntry(entry, body)


async def _question(intent: Entry, ledger: Ledger) -> tuple[str, str] | None:
    """The question, and as text what was asked with it and the rights of who asked; None where it was erased or nobody
    decided."""
    parts = await ledger.contents(intent, _ASKED)
    if not all(parts.get(name) for name in _ASKED):
        return None
    context, decided = json.loads(parts["context"]), json.loads(parts["policy.query"])
    subject = decided[0]["input"]["subject"]
    rights = {name: subject.get(name) for name in ("tenant", "roles", "groups", "clearance")}
    asked = {name: context.get(name) for name in ("context", "options", "purpose")}
    return parts["question"].decode("utf-8"), json.dumps([rights, asked], sort_keys=True)
