"""One request as the ledger recorded it, as far as policy had a say in it: every run of every point, and what left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ai.errors import ReplayImpossible
from policy.checks import INVALID
from policy.model import Point

PARTS = ("policy.query", "policy.evidence", "policy.answer", "answer")
"""The parts that are read; which of them an entry has depends on its kind and on how far the request came."""


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """One run of a point. `bundle` is the digest of the bundle that decided."""

    point: Point
    input: Mapping[str, Any]
    decision: Mapping[str, Any]
    digest: str
    bundle: str

    @property
    def by_adapter(self) -> bool:
        """True if the adapter denied because the engine's word could not be trusted; no bundle gives that again."""
        return any(str(reason["code"]).startswith(INVALID) for reason in self.decision["reasons"])

    @property
    def allowed(self) -> bool:
        """True if it was no denial."""
        return str(self.decision["effect"]) != "deny"

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of its reasons, sorted."""
        return tuple(sorted({str(reason["code"]) for reason in self.decision["reasons"]}))


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """`outcome` is that of the released body; empty for a surface that releases no answer. `released` are the texts of
    the released sentences that cite, by their number in the draft."""

    entry_id: str
    t_ms: int
    outcome: str
    query: RecordedDecision
    evidence: tuple[RecordedDecision, ...] = ()
    answer: tuple[RecordedDecision, ...] = ()
    released: Mapping[int, str] = field(default_factory=dict)

    @property
    def decisions(self) -> tuple[RecordedDecision, ...]:
        """All of them, in order."""
        return (self.query, *self.evidence, *self.answer)


def parse_request(entry_id: str, t_ms: int, parts: Mapping[str, bytes]) -> RecordedRequest:
    """The request out of its parts (those of the intent among them). Raises ReplayImpossible for what holds no policy
    decision or cannot be read."""
    try:
        body = orjson.loads(parts["answer"]) if parts.get("answer") else {}
        query = _decisions(Point.QUERY, parts.get("policy.query", b""))
        evidence = _decisions(Point.EVIDENCE, parts.get("policy.evidence", b""))
        answer = _decisions(Point.ANSWER, parts.get("policy.answer", b""))
        released = {int(s["i"]): str(s["text"]) for s in body.get("sentences", ()) if s["citations"]}
        outcome = str(body.get("outcome", ""))
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ReplayImpossible(f"the record cannot be read: {type(exc).__name__}") from exc
    if len(query) != 1:
        raise ReplayImpossible("no decision of the query point is on record")
    return RecordedRequest(entry_id, t_ms, outcome, query[0], evidence, answer, released)


def _decisions(point: Point, part: bytes) -> tuple[RecordedDecision, ...]:
    found: Sequence[Mapping[str, Any]] = orjson.loads(part) if part else ()
    return tuple(
        RecordedDecision(point, each["input"], each["decision"], str(each["digest"]), str(each["stamp"]["bundle"]))
        for each in found
    )
