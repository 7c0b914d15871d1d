"""The recorded decisions of one ledger entry, for authors of policy.

With `ledger.audit` all of it. Without, only of one's own requests, while what they released may still be shown, and
only what names the request or something that was released: a decision also names what was left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.audit.entries.records import AUDIT, Reader
from api.errors import NoSuchThing
from ledger.errors import EntryNotFound, PartErased
from ledger.model import Entry, Kind
from policy.messages import text_of

PARTS = ("policy.query", "policy.evidence", "policy.answer")


@dataclass(frozen=True, slots=True)
class DecisionReader:
    """A caller who reads decisions; `texts` are the readers' texts by code."""

    reader: Reader
    texts: Mapping[str, str]

    async def of_entry(self, entry_id: str) -> list[dict[str, Any]]:
        """Query, evidence and answer decisions, an outcome's with those of its intent. Raises NoSuchThing for what the
        caller may not read, and for entries without decisions."""
        entry = await self.reader.entry(entry_id)
        whole = self.reader.principal.may(AUDIT)
        if not whole:
            await self.reader.part(entry_id, "question" if entry.leaf.kind is Kind.INTENT else "answer")
        intents = [ref.id for ref in entry.leaf.refs if ref.rel == "intent"]
        entries = [await self._entry(each) for each in intents] + [entry]
        found = [(name, each) for name in PARTS for one in entries for each in await self._recorded(one, name)]
        if not found:
            raise NoSuchThing("The entry records no policy decisions.")
        runs: dict[str, int] = {}
        decisions = []
        for name, recorded in found:
            runs[name] = runs.get(name, 0) + 1
            decisions.append(self._wire(recorded, run=runs[name], whole=whole))
        return decisions

    async def _entry(self, entry_id: str) -> Entry:
        try:
            return await self.reader.services.ledger.entry(entry_id)
        except EntryNotFound:
            raise NoSuchThing("There is no such entry or part.") from None

    async def _recorded(self, entry: Entry, name: str) -> list[dict[str, Any]]:
        if name not in entry.leaf.parts:
            return []
        try:
            data = await self.reader.services.ledger.part(entry.leaf.entry_id, name)
        except PartErased:
            return []
        found: list[dict[str, Any]] = json.loads(data) if data else []
        return found

    def _wire(self, recorded: Mapping[str, Any], *, run: int, whole: bool) -> dict[str, Any]:
        decision = recorded["decision"]
        released = set(decision["admit"])

        def shown(each: Mapping[str, Any]) -> bool:
            target = each["target"]
            return whole or target["kind"] in ("request", "answer", "collection") or target["ref"] in released

        reasons = [each | {"text": self._text(each["code"])} for each in decision["reasons"] if shown(each)]
        return {
            "point": recorded["point"],
            "run": run,
            "effect": decision["effect"],
            "reasons": reasons,
            "obligations": [each for each in decision["obligations"] if shown(each)],
            "admit": decision["admit"],
            "digest": recorded["digest"],
            "stamp": recorded["stamp"],
            "input": recorded["input"] if whole else None,
        }

    def _text(self, code: str) -> str:
        return self.texts.get(code) or text_of(code)
