"""Searching the ledger: the index is brought up to the log, asked, and where text is sought the parts are read.

Pages go by the index of the log. Appends only ever add behind the last index, and a cursor never goes past what the
index of entries knows, so pages have neither gaps nor duplicates while others write.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ai.entry_facts import actor_pseudonym, entry_facts, place_pseudonym, source_pseudonym
from ledger.errors import LedgerUnavailable, VerificationFailed
from ledger.ledger import Ledger
from ledger.model import Entry, Kind
from ledger.redaction import REDACTS
from ledger.search import EntryFacts, EntryIndex, EntryQuery

CAUGHT_UP_ENTRIES = 500
"""Most entries that one call adds to the index."""
READ_ENTRIES = 500
"""Most entries that one call reads for a text."""
_BATCH = 100
_TEXT_PARTS = ("question", "answer")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody looks for, as they name it. `text` is sought in question, answer and quotes, whatever the case."""

    tenant: str | None = None
    kind: Kind | None = None
    entry_id: str | None = None
    leaf_hash: str | None = None
    request_id: str | None = None
    text: str | None = None
    actor: str | None = None
    subject: str | None = None
    outcome: str | None = None
    rule: str | None = None
    model: str | None = None
    place: str | None = None
    source: str | None = None
    holding: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class FoundPage:
    """Entries with their facts, by index. `next` is the cursor of the next page, None after the last entry of the
    log."""

    found: tuple[tuple[Entry, EntryFacts], ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class EntrySearch:
    """A log and the index of its entries."""

    ledger: Ledger
    index: EntryIndex

    async def page(self, wanted: Wanted, *, after: int, limit: int) -> FoundPage:
        """At most `limit` entries above the index `after`. A page may hold fewer, even none, and still have a next one:
        one call reads only so much. Raises LedgerUnavailable."""
        position = await self.catch_up()
        if wanted.text is None:
            found = await self.index.find(self._query(wanted), after=after, limit=limit)
            last = found[-1].index if len(found) == limit else position - 1
        else:
            found, last = await self._with_text(wanted, _folded(wanted.text), after, limit, position - 1)
        more = await self.ledger.entries(after=max(last, after), limit=1)
        shown = [(await self.ledger.entry(each.entry_id), each) for each in found]
        return FoundPage(tuple(shown), max(last, after) if more else None)

    async def _with_text(
        self, wanted: Wanted, text: str, after: int, limit: int, known: int
    ) -> tuple[tuple[EntryFacts, ...], int]:
        """The entries whose text holds the words, and the index up to which all were read."""
        matching: list[EntryFacts] = []
        for _ in range(READ_ENTRIES // _BATCH):
            batch = await self.index.find(self._query(wanted), after=after, limit=_BATCH)
            for each in batch:
                after = each.index
                if text in await self._text(each):
                    matching.append(each)
                    if len(matching) == limit:
                        return tuple(matching), after
            if len(batch) < _BATCH:
                return tuple(matching), known
        return tuple(matching), after

    async def _text(self, facts: EntryFacts) -> str:
        try:
            contents = await self.ledger.contents(await self.ledger.entry(facts.entry_id), _TEXT_PARTS)
        except VerificationFailed:
            return ""  # `verify` names it; here nothing can be read
        return _folded("\n".join(_strings(contents)))

    async def catch_up(self) -> int:
        """Add what the log has and the index has not, up to a bound; gives the index's position."""
        position, until = await self.index.position(), 0
        while until < CAUGHT_UP_ENTRIES:
            batch = await self.ledger.entries(after=position - 1, limit=_BATCH)
            if not batch:
                break
            await self.index.extend([await self._facts(entry) for entry in batch])
            await self._forget([entry for entry in batch if entry.leaf.kind is Kind.REDACTION])
            position, until = batch[-1].index + 1, until + len(batch)
        return position

    async def _forget(self, redactions: list[Entry]) -> None:
        """What was erased of an entry goes out of the index with it."""
        targets = {ref.id for entry in redactions for ref in entry.leaf.refs if ref.rel == REDACTS}
        if targets:
            entries = [await self.ledger.entry(entry_id) for entry_id in sorted(targets)]
            await self.index.replace([await self._facts(entry) for entry in entries])
            await self.index.shrink()

    async def _facts(self, entry: Entry) -> EntryFacts:
        try:
            return await entry_facts(entry, self.ledger)
        except LedgerUnavailable:
            raise
        except (VerificationFailed, ValueError, KeyError, TypeError):
            return bare_facts(entry)  # damaged: still to be found by what its leaf says

    def _query(self, wanted: Wanted) -> EntryQuery:
        ledger = self.ledger
        actor = wanted.actor if wanted.subject is None else actor_pseudonym(wanted.subject, ledger)
        return EntryQuery(
            tenant=None if wanted.tenant is None else ledger.pseudonym("tenant", wanted.tenant),
            kind=wanted.kind,
            entry_id=wanted.entry_id,
            leaf_hash=wanted.leaf_hash,
            request_id=wanted.request_id,
            outcome=wanted.outcome,
            model=wanted.model,
            actor=actor,
            rule=wanted.rule,
            place=None if wanted.place is None else place_pseudonym(wanted.place, ledger),
            source=None if wanted.source is None else source_pseudonym(wanted.source, ledger),
            holding=None if wanted.holding is None else source_pseudonym(wanted.holding, ledger),
            since_ms=wanted.since_ms,
            until_ms=wanted.until_ms,
        )


def bare_facts(entry: Entry) -> EntryFacts:
    """What the leaf alone says."""
    leaf = entry.leaf
    return EntryFacts(entry.index, leaf.entry_id, leaf.kind, leaf.t_ms, leaf.tenant, leaf.request_id, entry.leaf_hash)


def _strings(contents: Mapping[str, bytes]) -> list[str]:
    """The words that a reader saw: the question, the answer, its quotes."""
    found = [contents.get("question", b"").decode("utf-8", "replace")]
    body: Any = json.loads(contents["answer"]) if contents.get("answer") else {}
    if isinstance(body, dict):
        found += [str(body.get(name) or "") for name in ("answer", "text")]
        for sentence in body.get("sentences") or ():
            found += [sentence["text"], *(quoted["quote"] for quoted in sentence["citations"])]
        found += [str(item.get("snippet") or "") for item in body.get("evidence") or () if isinstance(item, dict)]
    return found


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
