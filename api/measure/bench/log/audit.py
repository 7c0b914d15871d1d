"""The requests that auditors wait for in a long log: a search by text and by facet, the counts, and the report of a
month.

The entries are those of a real home, recorded again and again with words of their own in question and answer, so that
sizes, kinds and facets are what they are in use.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from api.audit.log.month_report import Month, month_report
from api.audit.log.search import EntryCriteria, EntrySearch
from api.measure.bench.goals import Verdict
from api.measure.bench.log.filling import ORIGIN, by_callers
from api.measure.bench.statistics import Percentiles, spread
from api.wiring import new_id
from api.wiring.ledger.bench_log import open_bench_log
from ledger.entry.parts import source_number
from ledger.ledger import Ledger
from ledger.model import PART_NAMES, SOURCES, Entry, Kind
from ledger.search.entry_index import EntryQuery

TENANT = "default"
_PAGE = 50
_SEARCHES = 60
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta")


@dataclass(frozen=True, slots=True)
class AuditFigures:
    """Milliseconds, seconds where named. `rare` words stand in one entry, `absent` ones in none, `frequent` ones in
    most: a page of 50 is read."""

    entries: int
    indexed_per_s: float
    index_bytes: float
    rare: Percentiles
    absent: Percentiles
    frequent: Percentiles
    facet: Percentiles
    counts: Percentiles
    report_s: float


@dataclass(frozen=True, slots=True)
class Recorded:
    """One entry to be recorded again: its kind, parts and sources."""

    kind: Kind
    parts: dict[str, bytes]
    sources: list[bytes]


async def recorded_of(ledger: Ledger) -> list[tuple[Recorded, Recorded]]:
    """The intent and the outcome of every request of a log that has both."""
    pairs, intents = list[tuple[Recorded, Recorded]](), dict[str, Recorded]()
    async for entry in ledger.every():
        kept = await _read(ledger, entry)
        if entry.leaf.kind is Kind.INTENT:
            intents[entry.leaf.request_id] = kept
        elif entry.leaf.kind is Kind.OUTCOME and entry.leaf.request_id in intents:
            pairs.append((intents[entry.leaf.request_id], kept))
    return pairs


async def _read(ledger: Ledger, entry: Entry) -> Recorded:
    contents = await ledger.contents(entry)
    parts = {name: data for name, data in contents.items() if name in PART_NAMES[entry.leaf.kind] and name != SOURCES}
    numbered = {number: data for name, data in contents.items() if (number := source_number(name)) is not None}
    return Recorded(entry.leaf.kind, parts, [numbered[number] for number in sorted(numbered)])


async def measure_audit(folder: Path, pairs: Sequence[tuple[Recorded, Recorded]], *, entries: int) -> AuditFigures:
    """A log of so many entries in that folder, made of these requests, searched and reported on."""
    from ledger.search.sql import SqlEntryIndex  # noqa: PLC0415 - SQLAlchemy takes a second to import

    ledger, _ = await open_bench_log(folder / "audit", origin=ORIGIN)
    words = await _fill(ledger, pairs, entries)
    path = folder / "audit" / "ledger-index.sqlite"
    index = await SqlEntryIndex.open_sqlite(path)
    try:
        search = EntrySearch(ledger, index)
        began = time.perf_counter()
        while await search.catch_up() < entries:
            continue
        indexed_per_s = entries / (time.perf_counter() - began)
        chance = random.Random(5)  # noqa: S311 - which words are sought
        rare = chance.sample(words, min(_SEARCHES, len(words)))
        facets = [each async for each in _facets(search)]
        began_report = time.perf_counter()
        await month_report(search, _this_month(), tenant=None, policy=None, verification={})
        report_s = time.perf_counter() - began_report
        return AuditFigures(
            entries=entries,
            indexed_per_s=indexed_per_s,
            index_bytes=path.stat().st_size / entries,
            rare=await _timed(lambda text: _page(search, text), rare, found=1),
            absent=await _timed(lambda text: _page(search, text), [f"x{each}z" for each in rare], found=0),
            frequent=await _timed(lambda text: _page(search, text), ["county", "population", "the", "of kansas"]),
            facet=await _timed(lambda query: search.page(EntryCriteria(query), after=-1, limit=_PAGE), facets),
            counts=await _timed(lambda query: search.counts(EntryCriteria(query)), facets),
            report_s=report_s,
        )
    finally:
        await index.aclose()
        await ledger.aclose()


def audit_goals(figures: AuditFigures) -> tuple[Verdict, ...]:
    """The goals at 100,000 entries, which a shorter log has to meet as well."""
    return (
        Verdict("search by text, p95", "ms", 200, max(figures.rare.p95, figures.absent.p95)),
        Verdict("search by facet, p95", "ms", 50, figures.facet.p95),
        Verdict("report of a month", "s", 30, figures.report_s),
    )


def audit_json(figures: AuditFigures) -> dict[str, Any]:
    """The figures as a document, with the goals."""
    return {**asdict(figures), "goals": [{"goal": goal.says, "met": goal.met} for goal in audit_goals(figures)]}


def audit_rows(figures: AuditFigures) -> list[list[object]]:
    """The leading text of a page."""

    def both(each: Percentiles) -> str:
        return f"{each.p50:.1f} / {each.p95:.1f}"

    return [
        ["entries", figures.entries],
        ["added to the index, /s", f"{figures.indexed_per_s:.0f}"],
        ["bytes of an entry in the index", f"{figures.index_bytes:.0f}"],
        ["text that one entry holds, p50 / p95 ms", both(figures.rare)],
        ["text that none holds", both(figures.absent)],
        ["text that most hold, a page", both(figures.frequent)],
        ["by facet, a page", both(figures.facet)],
        ["counts by facet", both(figures.counts)],
        ["report of a month, s", f"{figures.report_s:.1f}"],
    ]


async def _fill(ledger: Ledger, pairs: Sequence[tuple[Recorded, Recorded]], entries: int) -> list[str]:
    """Requests until there are so many entries; gives the words that one question each holds."""
    chance = random.Random(4)  # noqa: S311 - a benchmark's filling
    words = ["".join(chance.choices(_SYLLABLES, k=5)) + str(number) for number in range(entries // 2)]

    async def asked(number: int) -> None:
        intent, outcome = pairs[number % len(pairs)]
        request_id = new_id()
        first = await ledger.record(
            intent.kind, tenant=TENANT, request_id=request_id, parts=_with_word(intent.parts, words[number])
        )
        await ledger.record(
            outcome.kind,
            tenant=TENANT,
            request_id=request_id,
            parts=outcome.parts,
            sources=outcome.sources,
            refs=[first.as_ref("intent")],
        )

    await by_callers(len(words), asked)
    return words


def _with_word(parts: dict[str, bytes], word: str) -> dict[str, bytes]:
    return {**parts, "question": parts["question"] + f" {word}".encode()}


async def _facets(search: EntrySearch) -> AsyncIterator[EntryQuery]:
    """Every value that entries are counted by, as a criterion."""
    counts, _ = await search.counts(EntryCriteria(EntryQuery()))
    for name in ("kind", "outcome", "rule", "model"):
        for value, _ in counts.values[name]:
            yield EntryQuery(**{name: Kind(value) if name == "kind" else value})  # type: ignore[arg-type]


async def _page(search: EntrySearch, text: str) -> int:
    """All pages of a search for a rare text, the first one of a frequent text; how many were found."""
    following: int | None = -1
    found = 0
    while following is not None and found < _PAGE:
        page = await search.page(EntryCriteria(EntryQuery(tenant=TENANT), text=text), after=following, limit=_PAGE)
        found, following = found + len(page.found), page.next
    return found


async def _timed(
    work: Callable[[Any], Awaitable[Any]], asked: Sequence[object], *, found: int | None = None
) -> Percentiles:
    taken = []
    for each in asked:
        began = time.perf_counter()
        result = await work(each)
        taken.append((time.perf_counter() - began) * 1000)
        if found is not None and result != found:
            raise AssertionError(f"{json.dumps(each)} was found {result} times, not {found}")
    return spread(taken)


def _this_month() -> Month:
    return Month.parse(datetime.now(UTC).strftime("%Y-%m"))
