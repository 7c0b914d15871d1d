"""Values of a benchmark. Times are milliseconds unless named otherwise, memory and disk MiB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from api.measure.bench.statistics import Percentiles

RETRIEVAL = "four channels + bundle"
TO_PROMPT = "question to prompt"
GOVERNANCE = "gate + policy + ledger"

SUMS = {
    RETRIEVAL: ("retrieve", "bundle"),
    TO_PROMPT: ("intent", "retrieve", "bundle", "context"),
    GOVERNANCE: (
        "gate",
        "policy_query",
        "evidence",
        "policy_answer",
        "ledger_intent",
        "ledger_outcome",
        "ledger_promise",
    ),
}
"""The stages whose time is added up, per request. The evidence and answer stages count whole, with the facts that they
draw up and the obligations that they carry out; the ledger's with the making of every part."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The workload of a run, at each size. `sample` is the folder of the sample corpus, `folder` where the scaled ones
    lie. `servers` are the settings that put stores on servers; without any only the folder is measured."""

    folder: Path
    sample: Path
    sizes: tuple[int, ...]
    queries: int
    rounds: int
    seed: int
    peer: str | None = None
    peer_queries: int = 50
    servers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class IngestFigures:
    """One ingest of a whole corpus into an empty home. `passages` counts table rows too; `records` also observations
    and features, each of which is indexed as a passage is."""

    files: int
    passages: int
    records: int
    seconds: float
    peak_memory_mib: int | None
    disk_mib: Mapping[str, float]

    @property
    def passages_per_s(self) -> float:
        """Passages made retrievable in a second, with everything else that they were made retrievable with."""
        return self.passages / self.seconds


@dataclass(frozen=True, slots=True)
class Load:
    """The questions at one size. `throughput` is requests per second by name of the way of asking."""

    stages: Mapping[str, Percentiles]
    channels: Mapping[str, Percentiles]
    sums: Mapping[str, Percentiles]
    requests: Mapping[str, Percentiles]
    throughput: Mapping[str, float]
    outcomes: Mapping[str, Mapping[str, int]]
    peak_memory_mib: int | None


@dataclass(frozen=True, slots=True)
class Peer:
    """Another library on the same passages and questions: from question to prompt, without generation, policy or
    record."""

    name: str
    passages: int
    index_seconds: float
    query: Percentiles
    peak_memory_mib: int | None


@dataclass(frozen=True, slots=True)
class ChannelComparison:
    """One channel on a server by itself; the driver alone with the same `statements` (mean of a query); the folder's
    channel with the same queries. `times` and `more_ms`: what the channel takes of and above what the driver takes in
    the same turn, medians over turns."""

    channel: Percentiles
    bare: Percentiles
    embedded: Percentiles
    statements: float
    times: float
    more_ms: float


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """The same corpus and questions with the stores on servers; `beside` by channel and store."""

    ingested: IngestFigures
    load: Load
    beside: Mapping[str, ChannelComparison]


@dataclass(frozen=True, slots=True)
class SizeFigures:
    """Everything at one size."""

    size: int
    ingested: IngestFigures
    load: Load
    cold_start_s: float
    peer: Peer | None = None
    servers: ServerFigures | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run."""

    plan: Mapping[str, object]
    machine: Mapping[str, object]
    sizes: tuple[SizeFigures, ...] = field(default=())
