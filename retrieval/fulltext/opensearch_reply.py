"""Replies of an OpenSearch server to a search, parsed once into values that cannot be wrong. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from retrieval.errors import ChannelError, ChannelFault, ChannelTimeout, ChannelUnavailable, IndexNotReady
from retrieval.model import ChannelName

# float32 sums differ in the last bits with the order of addition; equal texts must tie
SCORE_DECIMALS = 5
REBUILD = "the full-text index is not of this version or was changed; rebuild it: exhibit index rebuild"
_TOLD = {
    401: "refuses the credentials",
    403: "does not allow this user to do that",
    404: "lacks an index",
    429: "is overloaded",
    502: "is not ready",
    503: "is not ready",
    504: "is not ready",
}
_NO_REPLY = "the full-text server gave an invalid answer"


@dataclass(frozen=True, slots=True)
class ScoredRecord:
    """One hit: its score, rounded, and its record."""

    score: float
    record_id: str


@dataclass(frozen=True, slots=True)
class Reply:
    """Hits, best first, ties by record id; how many indexes were searched; how many entries with words they hold, and
    in how many each word of the question occurs."""

    found: tuple[ScoredRecord, ...]
    indexes: int
    entries: int = 0
    frequencies: tuple[int, ...] = ()

    @property
    def weight(self) -> float:
        """The weight of all words together: the sum of their idf (Robertson and Sparck Jones)."""
        return sum(math.log(1 + (max(self.entries - n, 0) + 0.5) / (n + 0.5)) for n in self.frequencies)


class IndexInTransition(Exception):
    """A part of an index does not answer now: it was replaced while it was searched, or is not up yet."""


def read_reply(reply: object, *, class_ids: Collection[str], size: int, words: int) -> Reply:
    """The findings of the three searches of `opensearch_schema`: hits, frequencies of that many words, number of
    entries.

    Raises Moving; IndexNotReady where the index cannot answer such a query (one that is being deleted says the same);
    ChannelTimeout for a search that was cut short; ChannelUnavailable; ChannelFault for anything that is not an answer
    to what was asked: more hits than `size`, a hit of a class outside `class_ids`, a score that is none, a record
    twice, a count that cannot be.
    """
    responses = _mapping(reply).get("responses")
    if not isinstance(responses, list) or len(responses) != 3:
        raise _fault()
    searched, counted, all_entries = (_answered(_mapping(response), most=len(class_ids)) for response in responses)
    hits = _mapping(searched.get("hits")).get("hits")
    if not isinstance(hits, list) or len(hits) > size:
        raise _fault()
    found = [_read_hit(_mapping(hit), class_ids) for hit in hits]
    if len({hit.record_id for hit in found}) != len(found):
        raise _fault()
    best = tuple(sorted(found, key=lambda hit: (-hit.score, hit.record_id)))
    entries = _count(_mapping(_mapping(all_entries.get("hits")).get("total")).get("value"))
    return Reply(best, searched["_shards"]["total"], entries, _read_frequencies(counted, words))


def _read_frequencies(response: Mapping[str, Any], words: int) -> tuple[int, ...]:
    if not response["_shards"]["total"]:
        return ()
    buckets = _mapping(_mapping(response.get("aggregations")).get("words")).get("buckets")
    if not isinstance(buckets, list) or len(buckets) != words:
        raise _fault()
    return tuple(_count(_mapping(bucket).get("doc_count")) for bucket in buckets)


def _answered(response: Mapping[str, Any], *, most: int) -> Mapping[str, Any]:
    """A search that was carried out to its end."""
    if "error" in response:
        _raise_told(response)
    if response.get("timed_out") is not False:
        raise ChannelTimeout(ChannelName.FULLTEXT, "the full-text server did not answer in time")
    _check_shards(_mapping(response.get("_shards")), most=most)
    return response


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _fault()
    return value


def of_status(status: int) -> ChannelError:
    """The error for an HTTP status that is no success."""
    if status in _TOLD:
        return ChannelUnavailable(ChannelName.FULLTEXT, f"the full-text server {_TOLD[status]}")
    return ChannelFault(ChannelName.FULLTEXT, "the full-text server could not do what was asked")


def _raise_told(response: Mapping[str, Any]) -> None:
    status, error = response.get("status"), _mapping(response["error"])
    if not isinstance(status, int) or not isinstance(error.get("type"), str):
        raise _fault()
    if _is_cancelled(error):
        raise ChannelTimeout(ChannelName.FULLTEXT, "the full-text server did not answer in time")
    if status in {404, 503}:
        raise IndexInTransition
    if status == 400:
        raise IndexNotReady(REBUILD)
    raise of_status(status)


def _is_cancelled(error: Mapping[str, Any]) -> bool:
    causes = error.get("root_cause")
    told = [error, *(causes if isinstance(causes, list) else [])]
    return any("cancelled" in str(each.get("type")) for each in told if isinstance(each, Mapping))


def _check_shards(shards: Mapping[str, Any], *, most: int) -> None:
    """There is one per index, and each answered."""
    total, successful, failed = (shards.get(name) for name in ("total", "successful", "failed"))
    if not isinstance(total, int) or failed != 0 or successful != total:
        raise IndexInTransition
    if not 0 <= total <= most:
        raise _fault()


def _read_hit(hit: Mapping[str, Any], class_ids: Collection[str]) -> ScoredRecord:
    sort, classes = hit.get("sort"), _mapping(hit.get("fields")).get("class_id")
    if not isinstance(sort, list) or len(sort) != 2 or not isinstance(classes, list) or len(classes) != 1:
        raise _fault()
    score, record_id = sort
    if not isinstance(classes[0], str) or classes[0] not in class_ids:
        raise _fault()
    if not isinstance(record_id, str) or not record_id:
        raise _fault()
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score) or score < 0:
        raise _fault()
    return ScoredRecord(round(float(score), SCORE_DECIMALS), record_id)


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _fault()
    return value


def _fault() -> ChannelFault:
    return ChannelFault(ChannelName.FULLTEXT, _NO_REPLY)
