"""Finding entries: what is known of an entry beside its leaf, and the boundary to what keeps it.

The index is derived from the log and can be made again from it. It holds no text of anyone: actors, places and sources
stand in it as keyed pseudonyms, and text as a keyed signature, so that it finds what an auditor names and tells nothing
to whoever reads the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

from ledger.model import Kind

ACTOR_DOMAIN, PLACE_DOMAIN, SOURCE_DOMAIN, TEXT_DOMAIN, SEAL_DOMAIN = "subject", "place", "source", "text", "index"
"""Domains of the pseudonyms, an actor's being the one that provenance documents name, of the keys of signatures, and of
the seals of facts."""


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """One entry as the index has it. `actor`, `places`, `sources`, `held` and `cited` are pseudonyms, `leaf_hash` is
    hex; what was erased is absent."""

    index: int
    entry_id: str
    kind: Kind
    t_ms: int
    tenant: str
    request_id: str
    leaf_hash: str
    outcome: str | None = None
    model: str | None = None
    actor: str | None = None
    rules: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """The admitted sources."""
    held: tuple[str, ...] = ()
    """Other sources of which the entry holds words: found and not admitted, or remarked on."""
    cited: tuple[str, ...] = ()
    """The sources that the answer cites; of a computed figure also those that it was computed from."""
    signature: bytes = b""
    """Of the text that a search reads (`ledger.search.signature`), under the tenant's key; empty if there is none."""
    seal: str = ""
    """A keyed digest of all the others, made by who read the entry: what is changed in the index does not have it."""


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """The criteria of a search; None is "any". Everything is compared exactly; `since_ms` is included, `until_ms` is
    not. `source` was admitted, `cited` is cited by the answer, `holding` was admitted or is held. `bits` are what the
    signature has of an entry of each tenant that is named in it; an entry of another one does not match."""

    tenant: str | None = None
    kind: Kind | None = None
    entry_id: str | None = None
    leaf_hash: str | None = None
    request_id: str | None = None
    outcome: str | None = None
    model: str | None = None
    actor: str | None = None
    rule: str | None = None
    place: str | None = None
    source: str | None = None
    holding: str | None = None
    cited: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    bits: Mapping[str, tuple[int, ...]] | None = None


FACETS = ("kind", "outcome", "rule", "model", "source", "cited", "place", "actor", "day")
"""The facets that entries are counted by, each the name of a criterion: sources, places and actors by pseudonym, days
in UTC."""
DAY_MS = 86_400_000
_FIRST_DAY = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class EntryCounts:
    """How many entries match, and by each of `FACETS` how many of them have each value: the most frequent first, then
    by value. An entry without a value counts nowhere, one with several rules under each."""

    entries: int
    values: Mapping[str, tuple[tuple[str, int], ...]]


def counts_of(facts: Iterable[EntryFacts]) -> EntryCounts:
    """The counts of these entries."""
    entries, counted = 0, {facet: Counter[str]() for facet in FACETS}
    for each in facts:
        entries += 1
        counted["kind"].update([str(each.kind)])
        counted["rule"].update(each.rules)
        counted["day"].update([day_of(each.t_ms // DAY_MS)])
        for facet, members in (("source", each.sources), ("cited", each.cited), ("place", each.places)):
            counted[facet].update(members)
        for facet, value in (("outcome", each.outcome), ("model", each.model), ("actor", each.actor)):
            counted[facet].update([] if value is None else [value])
    return EntryCounts(entries, {facet: by_frequency(counts.items()) for facet, counts in counted.items()})


def day_of(number: int) -> str:
    """A day as it is written, from its number since the first one."""
    return (_FIRST_DAY + timedelta(days=number)).isoformat()


def first_ms(day: date) -> int:
    """When a day begins, UTC."""
    return (day - _FIRST_DAY).days * DAY_MS


def by_frequency(counts: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Values with their counts: the most frequent first, then by value."""
    return tuple(sorted(counts, key=lambda each: (-each[1], each[0])))


class EntryIndex(Protocol):
    """Keeps the facts of the entries from index 0 up to `position`, without a gap.

    - `extend` adds facts that follow the position, by index; those below it are left out, so that two writers may work
      at the same time; a gap above it is refused with ValueError.
    - `replace` puts facts in the place of those that are kept for the same entries; the old ones are overwritten.
    - `find` returns at most `limit` entries of rising index above `after` that match.
    - `count` tells of all entries that match how many have which value.
    - `tenants` names all tenants of the entries, sorted.
    - `shrink` frees what replaced facts took.
    Raises only LedgerUnavailable beside that. An index of another version is emptied when it is opened.
    """

    async def position(self) -> int: ...
    async def extend(self, facts: Sequence[EntryFacts]) -> None: ...
    async def replace(self, facts: Sequence[EntryFacts]) -> None: ...
    async def find(self, query: EntryQuery, *, after: int, limit: int) -> tuple[EntryFacts, ...]: ...
    async def count(self, query: EntryQuery) -> EntryCounts: ...
    async def tenants(self) -> tuple[str, ...]: ...
    async def shrink(self) -> None: ...
    async def aclose(self) -> None: ...
