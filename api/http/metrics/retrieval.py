"""Requirement 000's metrics, with exactly its names and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_TOKENS = (100, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000)
_COUNTS = (0, 1, 2, 3, 5, 8, 10, 15, 20, 50, 100)
NO_EFFORT = "none"


@dataclass(frozen=True, slots=True)
class RequestMeasurement:
    """One retrieval request, as it ended."""

    mode: Literal["basic", "agentic"]
    status: str
    latency_s: float = 0.0
    effort: str = NO_EFFORT
    tokens: int = 0
    steps: int = 0
    results: int = 0
    truncated: str | None = None


class RetrievalMetrics:
    """`mode` is basic or agentic; `status` ok, abstained, denied or error; `reason` budget, latency or steps. A basic
    request has the reasoning effort `none`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "kf_retrieval_requests_total", "Retrieval requests", ["mode", "status"], registry=registry
        )
        self._latency = _latency(registry)
        self._tokens = Histogram(
            "kf_retrieval_tokens_used", "Tokens of a request", ["mode"], buckets=_TOKENS, registry=registry
        )
        self._steps = Histogram("kf_retrieval_steps_total", "Steps of a request", buckets=_COUNTS, registry=registry)
        self._results = Histogram(
            "kf_retrieval_results_total", "Results of a request", ["mode"], buckets=_COUNTS, registry=registry
        )
        self._queries = _queries(registry)
        self._truncated = Counter(
            "kf_retrieval_truncated_total", "Requests that a limit cut", ["reason"], registry=registry
        )

        self._own: dict[str, tuple[Histogram, Histogram]] = {}

    def observe_query(self, seconds: float, *, tenant: str) -> None:
        """One request of requirement 002; it has no name in requirement 000."""
        self._queries.observe(seconds)
        self._own_of(tenant)[1].observe(seconds)

    def _own_of(self, tenant: str) -> tuple[Histogram, Histogram]:
        return self._own.setdefault(tenant, (_latency(None), _queries(None)))

    def latencies(self, *, tenant: str) -> dict[str, dict[str, Any]]:
        """Cumulative histograms by surface, as far as there was a request of the tenant: how much others ask is not
        told."""
        told: dict[str, dict[str, Any]] = {}
        for surface, histogram in zip(("retrieve", "query"), self._own_of(tenant), strict=True):
            for sample in (s for family in histogram.collect() for s in family.samples):
                labels = {name: value for name, value in sample.labels.items() if name != "le"}
                name = ".".join((surface, *labels.values()))
                held = told.setdefault(name, {"count": 0, "sum_seconds": 0.0, "buckets": {}})
                match sample.name.rpartition("_")[2]:
                    case "bucket":
                        held["buckets"][sample.labels["le"]] = int(sample.value)
                    case "count":
                        held["count"] = int(sample.value)
                    case "sum":
                        held["sum_seconds"] = round(sample.value, 6)
        return told

    def observe(self, measured: RequestMeasurement, *, tenant: str) -> None:
        """Count one request; one that failed has no more than its status."""
        self._requests.labels(measured.mode, measured.status).inc()
        if measured.status == "error":
            return
        for histogram in (self._latency, self._own_of(tenant)[0]):
            histogram.labels(measured.mode, measured.effort).observe(measured.latency_s)
        self._tokens.labels(measured.mode).observe(measured.tokens)
        self._steps.observe(measured.steps)
        self._results.labels(measured.mode).observe(measured.results)
        if measured.truncated is not None:
            self._truncated.labels(measured.truncated).inc()


def _latency(registry: CollectorRegistry | None) -> Histogram:
    return Histogram(
        "kf_retrieval_latency_seconds",
        "Time of a retrieval request",
        ["mode", "reasoning_effort"],
        buckets=_SECONDS,
        registry=registry,
    )


def _queries(registry: CollectorRegistry | None) -> Histogram:
    return Histogram("exhibit_retrieval_query_seconds", "Time of /retrieval/query", buckets=_SECONDS, registry=registry)
