"""Runs that were found before, under the same authority and in the same corpus.

The key holds the whole query, which holds the scope (tenant and admitted classes), the corpus version and the digest of
the policy that made the scope: a change of role, policy or corpus is another key, at once. Only runs are kept, ids and
scores; records are read and decided over anew for each request, so what was withdrawn, has expired or was erased is
gone whatever the cache holds. Runs of a search that met a failure are not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.channels.fan_out import FanOut
from retrieval.model import ChannelName, Query


@dataclass(frozen=True, slots=True)
class Authority:
    """Under what a search was made, beside its scope."""

    corpus_version: int
    policy: str


Key = tuple[Query, tuple[ChannelName, ...], Authority]


class RunCache:
    """The last `capacity` searches; 0 keeps none. `hits` and `misses` count since the process began."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[Key, FanOut] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def get(self, query: Query, names: Sequence[ChannelName], authority: Authority) -> FanOut | None:
        """The results of the same search, or None."""
        if not self._capacity:
            return None
        key = (query, tuple(names), authority)
        found = self._kept.get(key)
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        self._kept.move_to_end(key)
        return FanOut(found.runs, (), dict.fromkeys(found.timings_ms, 0.0))

    def put(self, query: Query, names: Sequence[ChannelName], authority: Authority, found: FanOut) -> None:
        """Keeps what a search found, unless something went wrong in it."""
        if not self._capacity or found.limitations:
            return
        self._kept[query, tuple(names), authority] = found
        while len(self._kept) > self._capacity:
            self._kept.popitem(last=False)
