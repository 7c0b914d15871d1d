"""Readers' rights to the ledger (contracts section 10): askers their own question, answer, cited sources and
receipt, decided again on today's facts; everything else needs `ledger.audit` in that tenant. What may not be read
does not exist."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ai.answer.links import prov_href, receipt_href
from ai.case.case import Services
from api.audit.reauthorise import reading_of, still_admitted
from api.errors import NoSuchThing
from api.home.identity.principal import Principal
from ledger.entry.parts import source_number
from ledger.errors import EntryNotFound, PartErased
from ledger.ledger import Ledger
from ledger.model import Entry, Kind

AUDIT = "ledger.audit"
_ABSENT = "There is no such entry or part."
OUTCOME_PARTS = ("answer", "bundle", "policy.evidence", "policy.answer", "prov")
INTENT_PARTS = ("question", "scope", "policy.query")
"""The parts that an auditor's package discloses, beside the sources."""
_ASKED = frozenset({Kind.INTENT, Kind.OUTCOME, Kind.RETRIEVAL})


@dataclass(frozen=True, slots=True)
class Reader:
    """A caller and what the ledger is read for; `request_id` is that of the reading, not of the entry."""

    principal: Principal
    request_id: str
    services: Services

    async def entry(self, entry_id: str) -> Entry:
        """An entry that the caller may know of. Raises NoSuchThing, alike for absent ones and those of others."""
        try:
            entry = await self.services.ledger.entry(entry_id)
        except EntryNotFound:
            raise NoSuchThing(_ABSENT) from None
        tenant = self.services.ledger.pseudonym("tenant", self.principal.subject.tenant)
        if entry.leaf.tenant != tenant or not (self.principal.may(AUDIT) or await self._asked(entry)):
            raise NoSuchThing(_ABSENT)
        return entry

    async def part(self, entry_id: str, name: str) -> bytes:
        """One part in the clear. Raises NoSuchThing for what the caller may not read or the entry does not have,
        PartErased."""
        entry = await self.entry(entry_id)
        if not self.principal.may(AUDIT) and name not in await self._own_parts(entry):
            raise NoSuchThing(_ABSENT)
        data = await self.services.ledger.part(entry_id, name)
        if not data:  # an absent part is committed to as no bytes
            raise NoSuchThing(_ABSENT)
        return data

    async def receipt(self, entry_id: str, *, disclose: Sequence[str] | None = None, size: int | None = None) -> str:
        """The receipt, with the question or the answer and its cited sources disclosed, or only the named parts and
        sources. Raises NoSuchThing for one that the caller may not read, or a checkpoint that does not cover it."""
        entry = await self.entry(entry_id)
        audits = self.principal.may(AUDIT)
        own = await disclosures(entry, self.services.ledger) if audits else await self._own_parts(entry)
        if disclose is not None and not audits and not set(disclose) <= set(own):
            raise NoSuchThing(_ABSENT)
        try:
            return await self.services.ledger.receipt(
                entry_id, disclose=own if disclose is None else disclose, size=size
            )
        except EntryNotFound:
            raise NoSuchThing(_ABSENT) from None

    async def packaged(self, entry_id: str) -> tuple[Entry, tuple[str, ...], tuple[str, ...]]:
        """An entry, and the parts of it and of its intent that a package may disclose to the caller. Raises
        NoSuchThing."""
        entry = await self.entry(entry_id)
        if self.principal.may(AUDIT):
            return entry, await auditors_parts(entry, self.services.ledger), INTENT_PARTS
        own = await self._own_parts(entry)
        if "answer" not in own:
            raise NoSuchThing("The recorded answer may no longer be shown.")
        return entry, own, ("question",)

    async def recorded_answer(self, entry_id: str) -> dict[str, Any]:
        """The released body without timings, if all of it may still be shown. Raises NoSuchThing."""
        entry = await self.entry(entry_id)
        if "answer" not in await self._own_parts(entry):
            raise NoSuchThing("The recorded answer may no longer be shown.")
        return dict(await _json_part(entry, "answer", self.services.ledger))

    async def _own_parts(self, entry: Entry) -> tuple[str, ...]:
        """The parts of an own entry that an asker may read today."""
        if not await self._asked(entry):
            return ()
        shown = entry.leaf.kind is Kind.INTENT or await self._may_still_be_shown(entry)
        return await disclosures(entry, self.services.ledger) if shown else ()

    async def _may_still_be_shown(self, entry: Entry) -> bool:
        reading = await reading_of(self.principal.subject, request_id=self.request_id, services=self.services)
        if entry.leaf.kind is Kind.RETRIEVAL:
            read = await _json_part(entry, "context", self.services.ledger)
            if "document_id" not in read:  # a search: everything that it listed
                listed = await _json_part(entry, "bundle", self.services.ledger) or {"items": []}
                decided = await _json_part(entry, "policy.evidence", self.services.ledger)
                shown = {"evidence": listed["items"]}
                return await still_admitted(shown, decided or (), reading=reading)
            try:
                await reading.slice(read["document_id"], read["locator"])
            except NoSuchThing:
                return False
            return True
        answer = await _json_part(entry, "answer", self.services.ledger)
        recorded = await _json_part(entry, "policy.evidence", self.services.ledger)
        return answer is not None and await still_admitted(answer, recorded or (), reading=reading)

    async def _asked(self, entry: Entry) -> bool:
        """True if the caller is the one whose request the entry records."""
        if entry.leaf.kind not in _ASKED:
            return False
        intents = [ref.id for ref in entry.leaf.refs if ref.rel == "intent"]
        holder = entry if not intents else await self.services.ledger.entry(intents[0])
        if "policy.query" not in holder.leaf.parts:
            return False
        decided = await _json_part(holder, "policy.query", self.services.ledger)
        if not decided:
            return False
        asker = decided[0]["input"]["subject"]
        subject = self.principal.subject
        return bool(asker["id"] == subject.id and asker["tenant"] == subject.tenant)


async def auditors_parts(entry: Entry, ledger: Ledger) -> tuple[str, ...]:
    """The parts of an outcome that an auditor's package discloses: what the answer rests on, without what was searched
    and not admitted."""
    stored = await ledger.part_names(entry.leaf.entry_id)
    return tuple(name for name in stored if name in OUTCOME_PARTS or source_number(name) is not None)


async def disclosures(entry: Entry, ledger: Ledger) -> tuple[str, ...]:
    """The parts that stand for question and answer in an entry, and the sources that the answer cites."""
    if entry.leaf.kind is Kind.INTENT:
        return ("question",)
    if "answer" not in entry.leaf.parts:
        return ()
    answer = await _json_part(entry, "answer", ledger)
    sources = range(1, len(await ledger.sources(entry.leaf.entry_id)) + 1)
    everything = {str(n): None for n in sources}  # what was listed without an answer was all released
    cited = answer.get("citations", everything) if isinstance(answer, Mapping) else {}
    return ("answer", *(f"sources/{n}" for n in sources if str(n) in cited))


async def _json_part(entry: Entry, name: str, ledger: Ledger) -> Any:
    """A JSON part; None where it is empty or erased."""
    try:
        data = await ledger.part(entry.leaf.entry_id, name)
    except PartErased:
        return None
    return json.loads(data) if data else None


def entry_json(entry: Entry) -> dict[str, Any]:
    """An entry as a document; ids, digests and commitments only."""
    leaf = entry.leaf
    return {
        "entry_id": leaf.entry_id,
        "kind": str(leaf.kind),
        "index": entry.index,
        "leaf_hash": entry.leaf_hash,
        "t_ms": leaf.t_ms,
        "request_id": leaf.request_id,
        "replica": leaf.replica,
        "rseq": leaf.rseq,
        "parts": sorted(leaf.parts),
        "refs": [{"rel": ref.rel, "entry_id": ref.id, "leaf_hash": ref.leaf} for ref in leaf.refs],
        "links": {
            "receipt": receipt_href(leaf.entry_id),
            "prov": prov_href(leaf.entry_id),
        },
    }
