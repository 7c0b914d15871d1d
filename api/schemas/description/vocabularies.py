"""The closed vocabularies of the API: properties that are text and may only hold one of few words, which are taken from
where the code has them.

What a home chooses itself is none of these: labels, roles, the codes of a policy's rules, kinds of place, measures.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from ai.answer.shapes import ChannelLabel
from ai.case.agent_record import Action
from api.audit.registry.feedback import FeedbackKind
from api.audit.registry.search import STRATEGY
from api.problems import MEANINGS
from api.schemas.ledger.search import OutcomeName
from ledger.model import Kind
from policy import checks, obligations, rules
from policy.model import Effect, Point
from retrieval.model import Lifecycle

LIMITATIONS = (
    "APPEAL_WITHHELD",
    "CHANNEL_CIRCUIT_OPEN",
    "CHANNEL_FAULT",
    "CHANNEL_TIMEOUT",
    "CHANNEL_UNAVAILABLE",
    "CLARIFICATION_HELPS",
    "CONFLICTING_OBSERVATIONS",
    "CONTEXT_OVERRIDDEN",
    "EMBED_MODEL_MISMATCH",
    "INDEX_NOT_READY",
    "LIST_CUT",
    "NO_GEOMETRY",
    "NO_OBSERVATION",
    "PART_NOT_ANSWERED",
    "PLACE_NOT_NAMED",
    "PROMPT_SANITIZED",
    "RERANK_FALLBACK",
    "SHARED_NAME",
    "SPELLING",
    "TOO_MANY_ROWS",
    "UNDATED_MAP",
    "UNKNOWN_PLACE",
    "WORDS_NOT_UNDERSTOOD",
)
"""The codes of limitations: those that are stated where they are made, and those of channels that failed."""

_DUTIES = (obligations.QUERY, obligations.EVIDENCE, obligations.ANSWER)
_OPS = {op for table in _DUTIES for op in table}
_TARGETS = ("request", "answer", "collection", "evidence", "sentence")
_OUTCOMES = typing.get_args(OutcomeName)
_RELATIONS = ("intent", "about", "settles", "redacts", "clears")
Words = Iterable[str]

VOCABULARIES: Mapping[tuple[str, str], Words] = {
    ("Error", "code"): MEANINGS,
    ("Limitation", "code"): LIMITATIONS,
    ("Limitation", "channel"): typing.get_args(ChannelLabel),
    ("Abstention", "reason_codes"): ("INSUFFICIENT_EVIDENCE",),
    ("AnswerObligation", "op"): obligations.PUBLIC,
    ("DecisionObligation", "op"): _OPS,
    ("DecisionTarget", "kind"): _TARGETS,
    ("DecisionReason", "severity"): checks.SEVERITIES,
    ("PolicyRule", "severity"): rules.SEVERITIES,
    ("SpokenRule", "severity"): rules.SEVERITIES,
    ("EvaluateResponse", "point"): Point,
    ("EvaluateResponse", "effect"): Effect,
    ("PolicyDecision", "point"): Point,
    ("PolicyDecision", "effect"): Effect,
    ("EntryResponse", "kind"): Kind,
    ("FoundEntry", "kind"): Kind,
    ("FoundEntry", "outcome"): _OUTCOMES,
    ("ExplanationResponse", "outcome"): _OUTCOMES,
    ("ReplayResponse", "kind"): Kind,
    ("FeedbackItem", "about_kind"): Kind,
    ("FeedbackItem", "kind"): typing.get_args(FeedbackKind),
    ("EntryReference", "rel"): _RELATIONS,
    ("AssetQueryItem", "lifecycle"): Lifecycle,
    ("AssetRead", "lifecycle"): Lifecycle,
    ("HeldSourceVersion", "lifecycle"): Lifecycle,
    ("IngestedFile", "stage"): ("", "label", "load", "chunk", "index"),
    ("AssetRelevance", "strategy"): (STRATEGY,),
    ("SearchMeasure", "strategy"): (STRATEGY,),
    ("RetrievalStep", "action"): typing.get_args(Action),
    ("ReadyResponse", "status"): ("ready", "degraded", "unavailable"),
}
"""The words of each property, by schema and name."""


def describe_vocabularies(schemas: dict[str, Any]) -> None:
    """Name the words where the text is: at the property, among its alternatives, or at the items of its list."""
    for (name, prop), words in VOCABULARIES.items():
        text = _text(schemas[name]["properties"][prop])
        text.setdefault("enum", sorted({str(each) for each in words}))


def _text(schema: dict[str, Any]) -> dict[str, Any]:
    inner = chain(schema.get("anyOf", ()), [schema["items"]] if "items" in schema else ())
    return schema if schema.get("type") == "string" else next((found for found in map(_text, inner) if found), {})
