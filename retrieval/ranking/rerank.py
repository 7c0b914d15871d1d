"""A deterministic second look at the fused order: does the item speak of what was asked?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from retrieval.algebra.operations import Lookup
from retrieval.english.words import content_beginnings, occurs, words
from retrieval.model import Intent, Query
from retrieval.ranking.dedupe import Candidate
from retrieval.ranking.links import lifted


@dataclass(frozen=True, slots=True)
class RerankWeights:
    """How much each feature counts, in thousandths; a feature is 0 to 1000. The default puts a direct answer to an
    operation of the question before everything else. `title`, `names`, `linked` and `shared`
    (`retrieval.ranking.links`) are for passages of many subjects, where the heading says what a passage is about."""

    fused: int = 400
    coverage: int = 300
    entity: int = 200
    time: int = 100
    direct: int = 1000
    title: int = 0
    names: int = 0
    linked: int = 0
    shared: int = 0


def rerank(candidates: Sequence[Candidate], *, query: Query, weights: RerankWeights) -> tuple[Candidate, ...]:
    """The candidates by weighted features, ties by fused score, then record id. All arithmetic is on integers."""
    best = max((c.score_nano for c in candidates), default=0)
    asked = _QuestionFeatures.of(query)

    scores = {c.record_id: score_milli(c, asked=asked, best_nano=best, weights=weights) for c in candidates}
    ranked = sorted(candidates, key=lambda c: (-c.score_nano, c.record_id))
    told = lifted(ranked, scores, query.text, linked=weights.linked, shared=weights.shared)
    return tuple(sorted(ranked, key=lambda c: -told[c.record_id]))


@dataclass(frozen=True, slots=True)
class _QuestionFeatures:
    """The question as the features read it: its stems, and for each known name the entities that it may mean."""

    intent: Intent
    stems: tuple[str, ...]
    names: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, query: Query) -> _QuestionFeatures:
        named = (frozenset(c.entity_id for c in m.candidates) for m in query.intent.mentions if m.candidates)
        return cls(query.intent, content_beginnings(query.text), tuple(named))


def score_milli(candidate: Candidate, *, asked: _QuestionFeatures, best_nano: int, weights: RerankWeights) -> int:
    """The sum of weight x feature, in thousandths."""
    entity, time = _entity(candidate, asked.names), _time(candidate, asked.intent)
    total = (
        weights.fused * (candidate.score_nano * 1000 // best_nano if best_nano else 0)
        + (weights.coverage and weights.coverage * _coverage(candidate, asked.stems))
        + weights.entity * entity
        + weights.time * time
        + weights.direct * _direct(candidate, asked.intent, entity=entity, time=time)
        + (weights.title and weights.title * _title(candidate, asked.stems))
        + (weights.names and weights.names * _names(candidate, asked.intent))
    )
    return total // 1000


def _coverage(candidate: Candidate, asked: Sequence[str]) -> int:
    """The share of the question's words that the item, its heading or its title holds."""
    if not asked:
        return 0
    folded = f"{candidate.title}\n{candidate.heading}\n{candidate.words}".casefold()
    held = [stem for stem in asked if stem in folded]  # most are not, and a look at the string is the cheaper one
    return sum(occurs(stem, folded) for stem in held) * 1000 // len(asked)


def _title(candidate: Candidate, asked: Sequence[str]) -> int:
    """True if the question holds every content word of the item's heading: it asks about that subject."""
    heading = candidate.heading
    return 1000 if heading and _stems_of(heading) <= set(asked) else 0


@lru_cache(maxsize=8192)
def _stems_of(heading: str) -> frozenset[str]:
    return frozenset(content_beginnings(heading))


def _names(candidate: Candidate, intent: Intent) -> int:
    """The share of the question's names, known or not, that the item writes out."""
    if not intent.mentions:
        return 0
    text = f"{candidate.heading} {candidate.words}".casefold()
    asked = [words(mention.surface) for mention in intent.mentions]
    possible = [name for name in asked if all(word in text for word in name)]  # cheaper than to take the text apart
    if not possible:
        return 0
    written = f" {' '.join(words(text))} "
    return sum(f" {' '.join(name)} " in written for name in possible) * 1000 // len(asked)


def _entity(candidate: Candidate, names: Sequence[frozenset[str]]) -> int:
    """The share of the question's known names that the item is about by declaration."""
    if not names:
        return 0
    about = {e.entity_id for sourced in candidate.records for e in sourced.record.entities}
    about |= {s.record.measurement.place.entity_id for s in candidate.records if s.record.measurement is not None}
    return sum(not meant.isdisjoint(about) for meant in names) * 1000 // len(names)


def _time(candidate: Candidate, intent: Intent) -> int:
    """True if the item is dated inside a time of the question."""
    if not intent.times:
        return 0
    times = [s.record.time for s in candidate.records if s.record.time is not None]
    return 1000 if any(t.overlaps(asked) for t in times for asked in intent.times) else 0


def _direct(candidate: Candidate, intent: Intent, *, entity: int, time: int) -> int:
    """A computed result answers the operation it was asked for; a cell answers a lookup of its measure, place and
    time."""
    if not intent.operations:
        return 0
    if candidate.computed is not None:
        return 1000
    measurement = candidate.records[0].record.measurement
    if measurement is None or measurement.measure not in intent.measures:
        return 0
    on_map = any(isinstance(operation, Lookup) and not operation.place_ids for operation in intent.operations)
    return 900 if (entity or on_map) and (time or not intent.times) else 0
