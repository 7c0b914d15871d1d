"""The values that a search is narrowed by, in words: the index counts sources and places by pseudonym, and an auditor
reads the names of those that the policy lets the auditor see today, and of no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ai.record.entry_facts import place_pseudonym, source_pseudonym
from api.audit.reauthorise import Reading
from ledger.ledger import Ledger
from ledger.search.entry_index import EntryCounts, by_frequency

_OF_SOURCES = ("source", "cited")


async def named_counts(counts: EntryCounts, *, reading: Reading, ledger: Ledger) -> EntryCounts:
    """The counts with the names of sources and places inside the reading's scope; what has no name there is left out.
    Raises StoreUnavailable."""
    sources, places = set[str](), set[str]()
    if reading.classes:
        store, scope = reading.services.store, reading.scope
        sources = {each.source_id for each in (await store.overview(scope=scope, unlabelled=False)).versions}
        places = {each.entity.name for each in await store.gazetteer_entries(scope=scope)}
    known = {source_pseudonym(name, ledger): name for name in sources}
    names = dict.fromkeys(_OF_SOURCES, known)
    # Names that compare alike have one pseudonym: the first of them stands for all.
    names["place"] = {place_pseudonym(name, ledger): name for name in sorted(places, reverse=True)}
    told = {facet: _named(counts.values[facet], each) for facet, each in names.items()}
    return EntryCounts(counts.entries, {**counts.values, **told})


def _named(values: Iterable[tuple[str, int]], names: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    return by_frequency((names[pseudonym], count) for pseudonym, count in values if pseudonym in names)
