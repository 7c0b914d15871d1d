"""The goals, and whether a report meets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from api.measure.bench.model import GOVERNANCE, RETRIEVAL, ChannelComparison, Report, SizeFigures

SMALL, LARGE = 1_000, 100_000
MOST_TIMES, MOST_MORE_MS = 1.5, 2.0
"""The time a channel may take above its driver alone with the same statements; whichever is more."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One goal. `measured` None: the run did not measure it, which does not meet it either."""

    goal: str
    unit: str
    limit: float
    measured: float | None
    at_least: bool = False

    @property
    def met(self) -> bool:
        """True if the measure is on the right side of the limit."""
        if self.measured is None:
            return False
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def says(self) -> str:
        """The verdict in a line, with the factor by which a goal is missed."""
        bound = f"{'>=' if self.at_least else '<='} {self.limit:,g} {self.unit}"
        if self.measured is None:
            return f"not measured  {self.goal} {bound}"
        line = f"{self.measured:,.2f} {self.unit}, goal {bound}"
        if self.met:
            return f"met     {self.goal}: {line}"
        factor = self.limit / self.measured if self.at_least else self.measured / self.limit
        return f"MISSED  {self.goal}: {line}, by a factor of {factor:.2f}"


def verdicts(report: Report) -> tuple[Verdict, ...]:
    """Every goal, in order. Those of a run on servers are the servers'."""
    by_size = {measured.size: measured for measured in report.sizes}
    if on_servers := [measured.servers for measured in report.sizes if measured.servers]:
        return tuple(_verdicts_on(on_servers[-1].beside))
    return tuple(_verdicts(by_size.get(SMALL), by_size.get(LARGE)))


def _verdicts_on(beside: Mapping[str, ChannelComparison]) -> Iterator[Verdict]:
    for name, one in beside.items():
        goal = f"{name} beside the driver alone ({one.bare.p50:.2f} ms), more in the same turn"
        limit = max(one.bare.p50 * (MOST_TIMES - 1), MOST_MORE_MS)
        yield Verdict(goal, "ms", round(limit, 3), one.more_ms)


def _verdicts(small: SizeFigures | None, large: SizeFigures | None) -> Iterator[Verdict]:
    def at_large(measure: Callable[[SizeFigures], float]) -> float | None:
        return None if large is None else measure(large)

    governed = "gate + three policy points + two durable ledger entries at 100k"
    ratio = None
    if small and large:
        ratio = large.load.requests["in process"].p50 / small.load.requests["in process"].p50
    yield Verdict("four channels + bundle at 100k, p50", "ms", 10, at_large(lambda m: m.load.sums[RETRIEVAL].p50))
    yield Verdict(f"{governed}, p50", "ms", 8, at_large(lambda m: m.load.sums[GOVERNANCE].p50))
    yield Verdict(f"{governed}, p99", "ms", 20, at_large(lambda m: m.load.sums[GOVERNANCE].p99))
    yield Verdict("whole request, p50 at 100k over p50 at 1k", "x", 3, ratio)
    ingested = at_large(lambda m: m.ingested.passages_per_s)
    yield Verdict("ingest at 100k", "passages/s", 2_000, ingested, at_least=True)
    yield Verdict("cold start of exhibit ask at 100k", "s", 1.5, at_large(lambda m: m.cold_start_s))
