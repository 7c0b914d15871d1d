"""Rate limits per address, principal and tenant, counted in this process (a sliding window of two counters).

The reply says where the caller is: `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), and
`Retry-After` on a refusal.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from api.errors import RateLimited
from api.home.server import Rates


@dataclass(frozen=True, slots=True)
class Quota:
    """Where one caller is under one limit: `remaining` of `limit` requests until `reset_s` seconds from now."""

    name: str
    limit: int
    window_s: int
    remaining: int
    reset_s: int

    def headers(self) -> dict[str, str]:
        """The headers of the reply."""
        return {
            "ratelimit-policy": f'"{self.name}";q={self.limit};w={self.window_s}',
            "ratelimit": f'"{self.name}";r={self.remaining};t={self.reset_s}',
        }


class RateLimits:
    """Counts requests; a limit that is not set counts nothing."""

    def __init__(self, rates: Rates) -> None:
        self._limits: dict[str, RateLimitItem] = {
            name: parse(limit)
            for name, limit in (("address", rates.address), ("principal", rates.principal), ("tenant", rates.tenant))
            if limit is not None
        }
        self._counted = SlidingWindowCounterRateLimiter(MemoryStorage())

    def count(self, name: str, caller: str, *, own: str | None = None) -> Quota | None:
        """Count one request of the caller under its own limit, else under the limit `name`; None where neither is set.
        Raises RateLimited."""
        limit = self._limits.get(name) if own is None else parse(own)
        if limit is None:
            return None
        within = self._counted.hit(limit, name, caller)
        stats = self._counted.get_window_stats(limit, name, caller)
        reset_s = max(1, math.ceil(stats.reset_time - time.time()))
        quota = Quota(name, limit.amount, limit.get_expiry(), max(0, stats.remaining), reset_s)
        if not within:
            raise RateLimited(f"Too many requests of one {name}; try again in {reset_s} s.", quota.headers(), reset_s)
        return quota
