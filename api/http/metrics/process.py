"""The metrics of one process, in a registry of its own, so that two apps in one process do not mix. No label holds
user text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from api.http.metrics.retrieval import RetrievalMetrics

_log = structlog.get_logger("exhibit.metrics")
_STAGE_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """The metrics that contracts section 12 names, as far as this version measures them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._http = Counter(
            "exhibit_http_requests", "HTTP responses", ["route", "method", "status"], registry=self.registry
        )
        self._requests = Counter(
            "exhibit_requests", "Requests by how they ended", ["surface", "outcome"], registry=self.registry
        )
        self._stages = Histogram(
            "exhibit_stage_seconds", "Time per stage", ["stage"], buckets=_STAGE_BUCKETS, registry=self.registry
        )
        self._reasons = Counter("exhibit_policy_reasons", "Reasons of refusals", ["code"], registry=self.registry)
        self._channels = Counter(
            "exhibit_channel_failures", "Channels that did not answer", ["channel", "code"], registry=self.registry
        )

        self._appends = Histogram(
            "exhibit_ledger_append_seconds",
            "Time of an intent's durable append",
            buckets=_STAGE_BUCKETS,
            registry=self.registry,
        )
        self._uncited = Counter(
            "exhibit_uncited_sentences",
            "Sentences of drafts that were dropped for lack of a citation",
            registry=self.registry,
        )

        self._refused_late = Counter(
            "exhibit_evidence_refused_late",
            "Found records that the evidence point refused though the scope should have kept them out: incidents",
            registry=self.registry,
        )
        self._shapes = Histogram(
            "exhibit_scope_shapes",
            "Access shapes of one request: classes of visibility, in the forms in which the caller may see them",
            buckets=(0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024),
            registry=self.registry,
        )
        self._shapes_warned = Counter(
            "exhibit_scope_shapes_warned",
            "Requests with more access shapes than retrieval.warned_shapes",
            registry=self.registry,
        )
        self._cache = Gauge(
            "exhibit_search_cache",
            "Searches found in the cache, and those not found",
            ["result"],
            registry=self.registry,
        )
        self._unpublished = Gauge(
            "exhibit_checkpoint_unpublished_seconds",
            "For how long no checkpoint could be published",
            registry=self.registry,
        )
        self.retrieval = RetrievalMetrics(self.registry)

    def count_request(self, *, route: str, method: str, status: int) -> None:
        """One HTTP response; `route` is the template, never the path."""
        self._http.labels(route, method if method in _METHODS else "other", str(status)).inc()

    def count_fault(self, *, surface: str, code: str) -> None:
        """One request that ended in an error of ours."""
        self._requests.labels(surface, code).inc()

    def count_outcome(self, *, surface: str, outcome: str) -> None:
        """One request of a surface that gives no answer body."""
        self._requests.labels(surface, outcome).inc()

    def observe_cache(self, *, hits: int, misses: int) -> None:
        """How often the cache of searches answered since the process began; hits / (hits + misses) is the ratio."""
        self._cache.labels("hit").set(hits)
        self._cache.labels("miss").set(misses)

    def observe_unpublished(self, waited_ms: int | None) -> None:
        """For how long no checkpoint could be published; None where nobody signs."""
        self._unpublished.set((waited_ms or 0) / 1000)

    def observe_scope(self, shapes: int, *, warned: int) -> None:
        """How many access shapes one request met, and a warning above the bound. Of the caller's view: a class that is
        hidden from every caller is counted nowhere."""
        self._shapes.observe(shapes)
        if shapes > warned:
            self._shapes_warned.inc()
            _log.warning("many access shapes", shapes=shapes, bound=warned)

    def observe_draft(self, *, uncited_sentences: int, refused_late: int) -> None:
        """The parts of a draft that did not leave, and the evidence that should not have been found."""
        self._uncited.inc(uncited_sentences)
        self._refused_late.inc(refused_late)

    def observe_answer(self, *, surface: str, body: Mapping[str, Any]) -> None:
        """Facts of one released body."""
        if "ledger_intent" in body["timings_ms"]:
            self._appends.observe(body["timings_ms"]["ledger_intent"] / 1000)
        self._requests.labels(surface, body["outcome"]).inc()
        for code in body["reason_codes"]:
            self._reasons.labels(code).inc()
        for limitation in body["limitations"]:
            if limitation["channel"] is not None:
                self._channels.labels(limitation["channel"], limitation["code"]).inc()
        for stage, elapsed_ms in body["timings_ms"].items():
            self._stages.labels(stage).observe(elapsed_ms / 1000)

    def render(self) -> bytes:
        """The exposition text."""
        return generate_latest(self.registry)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
