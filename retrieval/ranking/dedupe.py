"""Folds equal and nearly equal passages into the first of them, and keeps where each came from."""

from __future__ import annotations

import re
import string
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from retrieval.model import ChannelRank, Computation, Locator, Record, RecordKind, SourcedRecord
from retrieval.withheld import searchable

_NUMBER = re.compile(r"\d+")
_BREAKS = str.maketrans(dict.fromkeys(string.punctuation + "“”„‘’«»–—…", " "))
_SPACES = "\x1c\x1d\x1e\x1f"  # white space to `str`, not to `bytes`
_ASCII_WORDS = bytes(
    ord(" " if chr(c) in string.punctuation + _SPACES else chr(c).casefold()) if c < 128 else c for c in range(256)
)
_ASCII_DIGITS = bytes(c if chr(c) in string.digits else ord(" ") for c in range(256))


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item on its way into the bundle. For a computed one `records` are its inputs, else it is the one record."""

    record_id: str
    records: tuple[SourcedRecord, ...]
    ranks: tuple[ChannelRank, ...]
    score_nano: int
    computed: Computation | None = None
    duplicates: tuple[SourcedRecord, ...] = ()

    @property
    def words(self) -> str:
        """The text of the item as a search may read it: the statement of a computed item, cell or feature, the text of
        a passage."""
        if self.computed is not None:
            return self.computed.statement
        record, access = self.records[0].record, self.records[0].source.visibility
        return searchable(record.statement or record.text, places=bool(access.handling))

    @property
    def heading(self) -> str:
        """The heading as a search may read it."""
        record, access = self.records[0].record, self.records[0].source.visibility
        return searchable(record.heading or "", places=bool(access.handling))

    @property
    def title(self) -> str:
        """The title of the item's source as a search may read it."""
        source = self.records[0].source
        return searchable(source.title, places=bool(source.visibility.handling))


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
    """The kept passages, by the numbers they name: only passages that name the same ones are compared, and only for
    those are words read at all."""

    def __init__(self, rules: DedupeRules) -> None:
        self._rules = rules
        self._slices: dict[str, list[tuple[Locator, int]]] = {}
        self._alike: dict[frozenset[bytes] | frozenset[str], _Texts] = {}

    def match_or_keep(self, record: Record, place: int) -> int | None:
        """The place of the first kept passage that this one repeats; None, and it is kept at `place`, if there is
        none."""
        slices = self._slices.setdefault(record.document_id, [])
        numbers = _numbers(record.text)
        texts = self._alike.get(numbers)
        if texts is None:
            texts = self._alike[numbers] = _Texts(self._rules)
        found = [at for locator, at in slices if self._overlaps(locator, record.locator)]
        found += texts.matches(record.text)
        if found:
            return min(found)
        texts.keep(record.text, place)
        slices.append((record.locator, place))
        return None

    def _overlaps(self, one: Locator, other: Locator) -> bool:
        shared = min(one.end_char, other.end_char) - max(one.start_char, other.start_char)
        shorter = min(one.end_char - one.start_char, other.end_char - other.start_char)
        return shared > 0 and shared * 1000 >= self._rules.overlap_milli * shorter


class _Texts:
    """Kept texts that name the same numbers (others say different things, however alike their words).

    If the Jaccard index of two sets of shingles reaches t, at most |s| - ceil(t |s|) shingles of either are missing in
    the other, and |s| is at most the number of word windows. So a text whose first windows are missing once more than
    that in all kept texts together repeats none of them; only for another are sets made. Windows are taken far apart
    first, since a text may begin as another does.
    """

    def __init__(self, rules: DedupeRules) -> None:
        self._rules = rules
        self._unread: list[tuple[int, str]] = []
        self._kept: list[tuple[int, list[bytes]]] = []
        self._all = b""
        self._vocabulary = set[bytes]()
        self._sets: dict[int, frozenset[int]] = {}

    def matches(self, text: str) -> list[int]:
        """The places of the kept texts that this one nearly equals."""
        for place, other in self._unread:
            found = _words(other)
            self._kept.append((place, found))
            self._all += b"\n %b " % b" ".join(found)
            self._vocabulary.update(found)
        self._unread.clear()
        if not self._kept:
            return []
        found = _words(text)
        if self._differs_from_all(found):
            return []
        shingles = self._shingles(found)
        return [at for at, other in self._kept if self._are_alike(shingles, self._set_of(at, other))]

    def keep(self, text: str, place: int) -> None:
        """Adds a text."""
        self._unread.append((place, text))

    def _differs_from_all(self, found: list[bytes]) -> bool:
        size = self._rules.shingle_words
        windows = max(1, len(found) - size + 1)
        allowed = windows - -(-windows * self._rules.jaccard_milli // 1000)
        missing = set[bytes]()
        for first in range(size):
            for at in range(first, windows, size):
                words = found[at : at + size]
                window = b" %b " % b" ".join(words)
                if not self._vocabulary.issuperset(words) or window not in self._all:
                    missing.add(window)
                    if len(missing) > allowed:
                        return True
        return False

    def _set_of(self, place: int, found: list[bytes]) -> frozenset[int]:
        if place not in self._sets:
            self._sets[place] = self._shingles(found)
        return self._sets[place]

    def _shingles(self, found: list[bytes]) -> frozenset[int]:
        """As hashes: they differ between processes, but only their equality is used."""
        size = self._rules.shingle_words
        windows = zip(*(found[i:] for i in range(size)), strict=False) if len(found) >= size else iter([tuple(found)])
        return frozenset(map(hash, windows))

    def _are_alike(self, one: frozenset[int], other: frozenset[int]) -> bool:
        shorter, longer = sorted((len(one), len(other)))
        if shorter * 1000 < self._rules.jaccard_milli * longer:
            return False
        shared = len(one & other)
        return shared * 1000 >= self._rules.jaccard_milli * (len(one) + len(other) - shared)


def _numbers(text: str) -> frozenset[bytes] | frozenset[str]:
    """The runs of decimal digits; as bytes where the text is ASCII, which is ten times as fast and as good a key."""
    if text.isascii():
        return frozenset(text.encode().translate(_ASCII_DIGITS).split())
    found = _NUMBER.findall(text)
    return frozenset(found) if not "".join(found).isascii() else frozenset(number.encode() for number in found)


def _words(text: str) -> list[bytes]:
    """Case-folded words without punctuation."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).split()
    return [word.encode("utf-8", "surrogatepass") for word in text.casefold().translate(_BREAKS).split()]
