"""Folds equal and nearly equal passages into the first of them, and keeps where each came from."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from retrieval.model import ChannelRank, Computed, Locator, Record, RecordKind, SourcedRecord
from retrieval.words import words

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item on its way into the bundle. For a computed one `records` are its inputs, else it is the one record."""

    record_id: str
    records: tuple[SourcedRecord, ...]
    ranks: tuple[ChannelRank, ...]
    score_nano: int
    computed: Computed | None = None
    duplicates: tuple[SourcedRecord, ...] = ()

    @property
    def words(self) -> str:
        """What the item says: the statement of a computed item, cell or feature, the text of a passage."""
        if self.computed is not None:
            return self.computed.statement
        record = self.records[0].record
        return record.statement or record.text


@dataclass(frozen=True, slots=True)
class DedupeRules:
    """Passages are near duplicates when the Jaccard index of their `shingle_words`-word sequences reaches
    `jaccard_milli` and they name the same numbers; slices of one document when they share `overlap_milli` of the
    shorter one."""

    jaccard_milli: int = 850
    shingle_words: int = 5
    overlap_milli: int = 500

    def __post_init__(self) -> None:
        if not (0 < self.jaccard_milli <= 1000 and 0 < self.overlap_milli <= 1000 and self.shingle_words > 0):
            raise ValueError("thresholds of dedupe are 1 to 1000 thousandths, and a shingle has a word")


def dedupe(candidates: Sequence[Candidate], rules: DedupeRules) -> tuple[Candidate, ...]:
    """The candidates in order without those that repeat an earlier kept one.

    A repeated one is folded: its record joins the kept one's `duplicates`, its ranks join the kept one's ranks, and the
    kept one's own record, score and place stay. So what is shown is always the kept record under its own access facts.
    Computed items and observations are neither folded nor folded into; rows and features fold only when they say
    exactly the same of the same entities.
    """
    kept: list[Candidate] = []
    seen: dict[Hashable, int] = {}
    prose = _Prose(rules)
    for candidate in candidates:
        key = _exact_key(candidate)
        at = seen.get(key) if key is not None else None
        passage = _is_prose(candidate)
        if at is None and passage:
            at = prose.match(candidate)
        if at is not None:
            kept[at] = _folded(kept[at], candidate)
            continue
        if key is not None:
            seen[key] = len(kept)
        if passage:
            prose.add(candidate, len(kept))
        kept.append(candidate)
    return tuple(kept)


def _folded(kept: Candidate, repeated: Candidate) -> Candidate:
    ranks = tuple(sorted({*kept.ranks, *repeated.ranks}, key=lambda r: (r.channel, r.store, r.rank, r.score, r.path)))
    return replace(kept, ranks=ranks, duplicates=(*kept.duplicates, *repeated.records, *repeated.duplicates))


def _exact_key(candidate: Candidate) -> Hashable:
    """Equal for items that say the same; None for an item that must stand alone."""
    record = candidate.records[0].record
    if candidate.computed is not None or record.kind is RecordKind.OBSERVATION:
        return None
    folded = " ".join(candidate.words.casefold().split())
    return (record.kind, folded, tuple(sorted(e.entity_id for e in record.entities)) if _is_stated(record) else ())


def _is_stated(record: Record) -> bool:
    """A row or feature: many of them share their words but for a name or a number."""
    return record.kind is not RecordKind.PASSAGE or record.locator.row is not None or record.statement is not None


def _is_prose(candidate: Candidate) -> bool:
    return candidate.computed is None and not _is_stated(candidate.records[0].record)


class _Prose:
    """Near-duplicate search by prefix filter (Bayardo, Ma, Srikant 2007): two sets whose Jaccard index reaches t share
    an element among the first |s| - ceil(t |s|) + 1 of each, in any common order; only those pairs are compared."""

    def __init__(self, rules: DedupeRules) -> None:
        self._rules = rules
        self._shingles: dict[int, frozenset[int]] = {}
        self._numbers: dict[int, frozenset[str]] = {}
        self._by_prefix: dict[int, list[int]] = {}
        self._slices: dict[str, list[tuple[Locator, int]]] = {}

    def match(self, candidate: Candidate) -> int | None:
        """The first kept passage that this one repeats."""
        record = candidate.records[0].record
        found = [
            at for locator, at in self._slices.get(record.document_id, ()) if self._overlaps(locator, record.locator)
        ]
        shingles = _shingles(record.text, self._rules.shingle_words)
        near = {at for shingle in self._prefix(shingles) for at in self._by_prefix.get(shingle, ())}
        numbers = frozenset(_NUMBER.findall(record.text)) if near else frozenset()
        found += [at for at in near if numbers == self._numbers[at] and self._alike(shingles, self._shingles[at])]
        return min(found, default=None)

    def add(self, candidate: Candidate, at: int) -> None:
        """Remembers a kept passage under its place."""
        record = candidate.records[0].record
        self._shingles[at] = shingles = _shingles(record.text, self._rules.shingle_words)
        self._numbers[at] = frozenset(_NUMBER.findall(record.text))
        for shingle in self._prefix(shingles):
            self._by_prefix.setdefault(shingle, []).append(at)
        self._slices.setdefault(record.document_id, []).append((record.locator, at))

    def _prefix(self, shingles: frozenset[int]) -> list[int]:
        least_shared = -(-len(shingles) * self._rules.jaccard_milli // 1000)
        return sorted(shingles)[: len(shingles) - least_shared + 1]

    def _alike(self, one: frozenset[int], other: frozenset[int]) -> bool:
        shared = len(one & other)
        return shared * 1000 >= self._rules.jaccard_milli * (len(one) + len(other) - shared)

    def _overlaps(self, one: Locator, other: Locator) -> bool:
        shared = min(one.end_char, other.end_char) - max(one.start_char, other.start_char)
        shorter = min(one.end_char - one.start_char, other.end_char - other.start_char)
        return shared > 0 and shared * 1000 >= self._rules.overlap_milli * shorter


def _shingles(text: str, size: int) -> frozenset[int]:
    """Hashes of the word sequences. They differ between processes, but only equality is used, never their order's
    outcome."""
    found = words(text)
    if len(found) < size:
        return frozenset({hash(tuple(found))})
    return frozenset(map(hash, zip(*(found[i:] for i in range(size)), strict=False)))
