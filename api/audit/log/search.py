"""Searching the ledger: the index is brought up to the log, asked, and where text is sought the parts are read.

Pages go by the index of the log. Appends only ever add behind the last index, and a cursor never goes past what the
index of entries knows, so pages have neither gaps nor duplicates while others write.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace

from ai.record.entry_facts import (
    actor_pseudonym,
    entry_facts,
    place_pseudonym,
    searched_text,
    source_pseudonym,
    text_key,
)
from ledger.erasure.redaction import REDACTS
from ledger.errors import IndexDamaged, LedgerUnavailable, MalformedLeaf, VerificationFailed
from ledger.ledger import Ledger
from ledger.model import DamagedEntry, Entry, Kind
from ledger.search.entry_index import SEAL_DOMAIN, EntryCounts, EntryFacts, EntryIndex, EntryQuery, counts_of
from ledger.search.signature import bits_of, folded

CAUGHT_UP_ENTRIES = 500
"""Most entries that one call adds to the index."""
READ_ENTRIES = 500
"""Most entries that one call reads for a text."""
_BATCH = 100
_COMPARED = 500
_TEXT_PARTS = ("question", "answer")
_SEALED = tuple(field.name for field in fields(EntryFacts) if field.name != "seal")


@dataclass(frozen=True, slots=True)
class EntryCriteria:
    """The criteria of a search: a query in which tenants, places and sources have their names, and whose request it was
    by id. `text` is sought in question, answer and quotes, whatever the case."""

    query: EntryQuery
    subject: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class FoundPage:
    """Entries with their facts, by index. `next` is the cursor of the next page, None after the last entry of the
    log."""

    found: tuple[tuple[Entry | DamagedEntry, EntryFacts], ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class EntrySearch:
    """A log and the index of its entries."""

    ledger: Ledger
    index: EntryIndex

    async def page(self, wanted: EntryCriteria, *, after: int, limit: int) -> FoundPage:
        """At most `limit` entries above the index `after`. A page may hold fewer, even none, and still have a next one:
        one call reads only so much. Raises LedgerUnavailable."""
        position = await self.catch_up()
        if wanted.text is None:
            found = await self.index.find(self._query(wanted), after=after, limit=limit)
            last = found[-1].index if len(found) == limit else position - 1
        else:
            found, last = await self._with_text(wanted, folded(wanted.text), after, limit, position - 1)
        more = await self.ledger.listed(after=max(last, after), limit=1)
        shown = [(await self.ledger.listed_entry(each.entry_id), each) for each in found]
        return FoundPage(tuple(shown), max(last, after) if more else None)

    async def counts(self, wanted: EntryCriteria) -> tuple[EntryCounts, bool]:
        """How many entries match, by their values, and True if that is all of them: one call brings only so much of the
        log into the index, and reads only so much for a text. Raises LedgerUnavailable."""
        position = await self.catch_up()
        whole = position >= await self.ledger.size()
        if wanted.text is None:
            return await self.index.count(self._query(wanted)), whole
        found, last = await self._with_text(wanted, folded(wanted.text), -1, READ_ENTRIES, position - 1)
        return counts_of(found), whole and last == position - 1

    async def _with_text(
        self, wanted: EntryCriteria, text: str, after: int, limit: int, known: int
    ) -> tuple[tuple[EntryFacts, ...], int]:
        """The entries whose text holds the words, and the index up to which all were read. Only those are read whose
        signature does not rule it out."""
        query, matching = await self._with_bits(self._query(wanted), text), list[EntryFacts]()
        for _ in range(READ_ENTRIES // _BATCH):
            batch = await self.index.find(query, after=after, limit=_BATCH)
            for each in batch:
                after = each.index
                if text in await self._text(each):
                    matching.append(each)
                    if len(matching) == limit:
                        return tuple(matching), after
            if len(batch) < _BATCH:
                return tuple(matching), known
        return tuple(matching), after

    async def _with_bits(self, query: EntryQuery, text: str) -> EntryQuery:
        tenants = await self.index.tenants() if query.tenant is None else (query.tenant,)
        return replace(query, bits={tenant: bits_of(text, text_key(tenant, self.ledger)) for tenant in tenants})

    async def _text(self, facts: EntryFacts) -> str:
        try:
            contents = await self.ledger.contents(await self.ledger.entry(facts.entry_id), _TEXT_PARTS)
        except (VerificationFailed, MalformedLeaf):
            return ""  # `verify` names it; here nothing can be read
        return searched_text(contents)

    async def catch_up(self) -> int:
        """Add what the log has and the index has not, up to a bound; gives the index's position."""
        position, until = await self.index.position(), 0
        while until < CAUGHT_UP_ENTRIES:
            batch = await self.ledger.listed(after=position - 1, limit=_BATCH)
            if not batch:
                break
            await self.index.extend([await self._facts(entry) for entry in batch])
            whole = [entry for entry in batch if isinstance(entry, Entry)]
            await self._forget([entry for entry in whole if entry.leaf.kind is Kind.REDACTION])
            position, until = batch[-1].index + 1, until + len(batch)
        return position

    async def differences(self) -> tuple[int, ...]:
        """The entries, by index, of which the index of entries has nothing, something else than their leaf says, or not
        what was read from their parts; of those above its position nothing is said. Only reads, and opens no part."""
        position, after, found = await self.index.position(), -1, list[int]()
        while (batch := await self.ledger.entries(after=after, limit=_COMPARED)) and after < position - 1:
            kept = await self._kept(after)
            found += [
                each.index for each in batch if each.index < position and not self._holds(kept.get(each.index), each)
            ]
            after = batch[-1].index
        return tuple(found)

    async def mend(self) -> tuple[int, ...]:
        """Make the index say what the log says: every entry is read, and what differs is replaced. Gives the entries
        that had to be mended, by index."""
        size = (await self.ledger.head.stored()).size
        while await self.catch_up() < size:
            continue
        after, mended = -1, list[int]()
        while batch := await self.ledger.listed(after=after, limit=_COMPARED):
            kept = await self._kept(after)
            facts = [await self._facts(entry) for entry in batch]
            wrong = [each for each in facts if kept.get(each.index) != each]
            if wrong:
                await self.index.replace(wrong)
            mended += [each.index for each in wrong]
            after = batch[-1].index
        return tuple(mended)

    async def _kept(self, after: int) -> dict[int, EntryFacts]:
        """The next entries as the index has them; nothing where it cannot be read."""
        try:
            found = await self.index.find(EntryQuery(), after=after, limit=_COMPARED)
        except IndexDamaged:
            return {}
        return {each.index: each for each in found}

    def _holds(self, kept: EntryFacts | None, entry: Entry) -> bool:
        """True if the facts that are kept are those that were read, and of the entry's leaf."""
        return kept is not None and kept.seal == self._seal(kept) and _of_leaf(kept, entry)

    def _seal(self, facts: EntryFacts) -> str:
        said = {**{name: getattr(facts, name) for name in _SEALED}, "signature": facts.signature.hex()}
        return self.ledger.pseudonym(SEAL_DOMAIN, json.dumps(said, sort_keys=True))

    async def _forget(self, redactions: list[Entry]) -> None:
        """Remove from the index everything that was erased of an entry."""
        targets = {ref.id for entry in redactions for ref in entry.leaf.refs if ref.rel == REDACTS}
        if targets:
            entries = [await self.ledger.entry(entry_id) for entry_id in sorted(targets)]
            await self.index.replace([await self._facts(entry) for entry in entries])
            await self.index.shrink()

    async def _facts(self, entry: Entry | DamagedEntry) -> EntryFacts:
        if isinstance(entry, DamagedEntry):  # whose it is, nothing proves: no tenant's search finds it
            facts = EntryFacts(entry.index, entry.entry_id, Kind.INCIDENT, 0, "", "", "")
            return replace(facts, seal=self._seal(facts))
        try:
            facts = await entry_facts(entry, self.ledger)
        except LedgerUnavailable:
            raise
        except (VerificationFailed, ValueError, KeyError, TypeError):
            facts = bare_facts(entry)  # damaged: still to be found by what its leaf says
        return replace(facts, seal=self._seal(facts))

    def _query(self, wanted: EntryCriteria) -> EntryQuery:
        """The query by pseudonyms, as the index compares them."""
        given, ledger = wanted.query, self.ledger
        return replace(
            given,
            tenant=given.tenant and ledger.pseudonym("tenant", given.tenant),
            actor=given.actor if wanted.subject is None else actor_pseudonym(wanted.subject, ledger),
            place=given.place and place_pseudonym(given.place, ledger),
            source=given.source and source_pseudonym(given.source, ledger),
            cited=given.cited and source_pseudonym(given.cited, ledger),
            holding=given.holding and source_pseudonym(given.holding, ledger),
        )


def _of_leaf(kept: EntryFacts, entry: Entry) -> bool:
    """True if the facts that are kept are those of the entry's leaf, whatever they say of its parts."""
    told = bare_facts(entry)
    return all(
        getattr(kept, name) == getattr(told, name)
        for name in ("index", "entry_id", "kind", "t_ms", "tenant", "request_id", "leaf_hash")
    )


def bare_facts(entry: Entry) -> EntryFacts:
    """The facts of the leaf alone."""
    leaf = entry.leaf
    return EntryFacts(entry.index, leaf.entry_id, leaf.kind, leaf.t_ms, leaf.tenant, leaf.request_id, entry.leaf_hash)
