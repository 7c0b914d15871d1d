"""Fits the calibration of `retrieval.ranking.calibration` on a home: questions are made from the home's own passages.

A question is some content words of one sentence, mixed with up to as many words of another passage. A record is
relevant when it holds every genuine word, or is the passage itself. Isotonic regression (pool adjacent violators) over
bins of the score gives the map.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ai.text.sentences import split_sentences
from api.wiring import System
from retrieval.english.lists import STOP_WORDS
from retrieval.english.words import beginning_of, occurs, words
from retrieval.index_text import index_text
from retrieval.model import ChannelName, Query, Record
from retrieval.ranking.calibration import FULL_MILLI
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.scope import Scope

QUESTIONS = 400
DEPTH = 20
BIN_MILLI = 50
_SHORTEST_WORD = 3


@dataclass(frozen=True, slots=True)
class GeneratedQuestion:
    """A question made from a passage: its words, and the stems that a relevant record holds."""

    text: str
    stems: tuple[str, ...]
    record_id: str


Point = tuple[int, bool]
"""A hit's score in thousandths, and whether it is relevant."""


async def points_of(system: System, tenant: str = "default", *, seed: int = 7) -> dict[ChannelName, list[Point]]:
    """Hits of full text and vectors for the made questions, over everything that the tenant has."""
    services = system.services
    scope = Scope.of(tenant, await services.store.classes(tenant))
    records = await _records(services.store, tenant)  # type: ignore[arg-type]
    folded = {record.record_id: (index_text(record) or "").casefold() for record in records}
    channels = [c for c in services.channels if c.name in (ChannelName.FULLTEXT, ChannelName.VECTOR)]
    found: dict[ChannelName, list[Point]] = {channel.name: [] for channel in channels}
    for made in questions(records, seed=seed):
        for channel in channels:
            run = await channel.search(Query(made.text, scope, DEPTH))
            for hit in run.hits:
                score = hit.score / run.ceiling if run.ceiling else hit.score
                whole = all(occurs(each, folded[hit.record_id]) for each in made.stems)
                found[channel.name].append((int(score * 1000), whole or hit.record_id == made.record_id))
    return found


async def _records(store: SqlRecordStore, tenant: str) -> list[Record]:
    ids = [document.document_id for document in await store.stored(tenant)]
    found: list[Record] = []
    for start in range(0, len(ids), 64):
        found += (await store.batch(tenant, ids[start : start + 64])).records
    return [record for record in found if index_text(record) is not None]


def questions(records: Sequence[Record], *, seed: int) -> Iterable[GeneratedQuestion]:
    """At most `QUESTIONS` of them, a function of records and seed."""
    chance = random.Random(seed)  # noqa: S311 - a sample, no secret
    for record in chance.sample(records, min(QUESTIONS, len(records))):
        text = record.statement or record.text
        span = chance.choice(split_sentences(text))
        own = _content(text[span.start : span.end])
        other = _content(chance.choice(records).text)
        if len(own) < _SHORTEST_WORD:
            continue
        count = max(2, min(8, round(len(own) * chance.uniform(0.3, 0.8))))
        genuine = chance.sample(own, count)
        noise = chance.sample(other, min(chance.choice((0, 1, 2, count)), len(other)))
        yield GeneratedQuestion(" ".join([*genuine, *noise]), tuple(map(beginning_of, genuine)), record.record_id)


def _content(text: str) -> list[str]:
    return list(dict.fromkeys(w for w in words(text) if w not in STOP_WORDS and len(w) >= _SHORTEST_WORD))


def bins(points: Iterable[Point]) -> list[tuple[int, int, int]]:
    """(middle of the bin in thousandths, hits, relevant ones) for each bin that has a hit."""
    counted: dict[int, list[int]] = {}
    for score, relevant in points:
        cell = counted.setdefault(min(score, FULL_MILLI - 1) // BIN_MILLI, [0, 0])
        cell[0] += 1
        cell[1] += relevant
    return [(at * BIN_MILLI + BIN_MILLI // 2, n, r) for at, (n, r) in sorted(counted.items())]


def isotonic(cells: Sequence[tuple[int, int, int]]) -> tuple[tuple[int, int], ...]:
    """Knots of the map, from (0, 0) to (1000, 1000): pooled shares at the middles of their bins."""
    pools: list[list[int]] = []  # first middle, last middle, hits, relevant
    for middle, hits, relevant in cells:
        pools.append([middle, middle, hits, relevant])
        while len(pools) > 1 and pools[-2][3] * pools[-1][2] >= pools[-1][3] * pools[-2][2]:
            last = pools.pop()
            pools[-1] = [pools[-1][0], last[1], pools[-1][2] + last[2], pools[-1][3] + last[3]]
    knots = [((p[0] + p[1]) // 2, p[3] * FULL_MILLI // p[2]) for p in pools]
    return ((0, 0), *(knot for knot in knots if 0 < knot[1] < FULL_MILLI), (FULL_MILLI, FULL_MILLI))
