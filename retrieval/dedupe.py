"""Folds equal and nearly equal passages into the first of them, and keeps where each came from."""

from __future__ import annotations

import re
import string
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from retrieval.model import ChannelRank, Computed, Locator, Record, RecordKind, SourcedRecord

_NUMBER = re.compile(r"\d+")
_BREAKS = str.maketrans(dict.fromkeys(string.punctuation + "“”„‘’«»–—…", " "))


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
        if _is_prose(candidate):
            at = prose.match_or_keep(candidate.records[0].record, len(kept))
        else:
            key = _exact_key(candidate)
            at = None if key is None else seen.get(key)
            if key is not None:
                seen.setdefault(key, len(kept))
        if at is None:
            kept.append(candidate)
        else:
            kept[at] = _folded(kept[at], candidate)
    return tuple(kept)


def _folded(kept: Candidate, repeated: Candidate) -> Candidate:
    ranks = tuple(sorted({*kept.ranks, *repeated.ranks}, key=lambda r: (r.channel, r.store, r.rank, r.score, r.path)))
    return replace(kept, ranks=ranks, duplicates=(*kept.duplicates, *repeated.records, *repeated.duplicates))


def _exact_key(candidate: Candidate) -> Hashable:
    """Equal for stated records that say the same of the same entities; None for prose, and for what must stand
    alone."""
    record = candidate.records[0].record
    if candidate.computed is not None or record.kind is RecordKind.OBSERVATION or not _is_stated(record):
        return None
    folded = " ".join(candidate.words.casefold().split())
    return (record.kind, folded, tuple(sorted(e.entity_id for e in record.entities)))


def _is_stated(record: Record) -> bool:
    """A row or feature: many of them share their words but for a name or a number."""
    return record.kind is not RecordKind.PASSAGE or record.locator.row is not None or record.statement is not None


def _is_prose(candidate: Candidate) -> bool:
    return candidate.computed is None and not _is_stated(candidate.records[0].record)


class _Prose:
    """The kept passages, as sets of shingles.

    If two sets' Jaccard index reaches t, each holds at least t of the other's elements. So at most m = |s| - ceil(t
    |s|) of a set's elements are missing in its match, and of any sample of n elements at least n - m must be there.
    Only kept passages that hold enough of the sample are compared, and mostly one look at the union of all shows there
    is none.
    """

    def __init__(self, rules: DedupeRules) -> None:
        self._rules = rules
        self._kept: list[tuple[int, Record, frozenset[int]]] = []
        self._union: set[int] = set()
        self._slices: dict[str, list[tuple[Locator, int]]] = {}

    def match_or_keep(self, record: Record, place: int) -> int | None:
        """The place of the first kept passage that this one repeats; None, and it is kept at `place`, if there is
        none."""
        shingles, sample, least = self._read(record.text)
        slices = self._slices.setdefault(record.document_id, [])
        found = [at for locator, at in slices if self._overlaps(locator, record.locator)]
        if len(self._union.intersection(sample)) >= least:
            near = [(at, kept, have) for at, kept, have in self._kept if len(have.intersection(sample)) >= least]
            found += [at for at, kept, have in near if self._alike(shingles, have) and _same_numbers(record, kept)]
        if found:
            return min(found)
        self._kept.append((place, record, shingles))
        self._union |= shingles
        slices.append((record.locator, place))
        return None

    def _read(self, text: str) -> tuple[frozenset[int], list[int], int]:
        """All shingles, as hashes (they differ between processes, but only their equality is used), a sample of them,
        and how many of the sample every match holds."""
        found, size = text.casefold().translate(_BREAKS).split(), self._rules.shingle_words
        windows = zip(*(found[i:] for i in range(size)), strict=False) if len(found) >= size else iter([tuple(found)])
        hashes = list(map(hash, windows))
        shingles = frozenset(hashes)
        missing = len(shingles) - -(-len(shingles) * self._rules.jaccard_milli // 1000)
        sample = list(islice(shingles, 2 * missing + 1))
        return shingles, sample, len(sample) - missing

    def _alike(self, one: frozenset[int], other: frozenset[int]) -> bool:
        shorter, longer = sorted((len(one), len(other)))
        if shorter * 1000 < self._rules.jaccard_milli * longer:
            return False
        shared = len(one & other)
        return shared * 1000 >= self._rules.jaccard_milli * (len(one) + len(other) - shared)

    def _overlaps(self, one: Locator, other: Locator) -> bool:
        shared = min(one.end_char, other.end_char) - max(one.start_char, other.start_char)
        shorter = min(one.end_char - one.start_char, other.end_char - other.start_char)
        return shared > 0 and shared * 1000 >= self._rules.overlap_milli * shorter


def _same_numbers(one: Record, other: Record) -> bool:
    """Texts that differ in a year or a figure say different things, however alike their words."""
    return sorted(set(_NUMBER.findall(one.text))) == sorted(set(_NUMBER.findall(other.text)))
