"""The obligations that a decision may carry: at which point, on what, with which parameters.

A new one is declared here and carried out in `ai.governance`; whatever else must know of it reads it here. One that is
not declared makes the decision untrusted, and the data may only name those that a handling tag can be met by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Duty:
    """One obligation: the kind of its target, and whether parameters fit it. `meets_tags` says that a handling tag may
    ask for it, `keeps_words` that what it is about reads as before, `public` that a reader is told of it."""

    op: str
    target: str
    fits: Callable[[Params], bool]
    meets_tags: bool = False
    keeps_words: bool = False
    public: bool = False


def _nothing(params: Params) -> bool:
    return not params


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(type(each) is str for each in value)


def _whole(value: object, *, least: int) -> bool:
    return type(value) is int and value >= least


def _filter(params: Params) -> bool:
    return params.keys() == {"classes", "lifecycle"} and _texts(params["classes"]) and params["lifecycle"] == ["active"]


def _kinds(params: Params) -> bool:
    return params.keys() == {"kinds"} and _texts(params["kinds"]) and bool(params["kinds"])


def _geometry(params: Params) -> bool:
    right = params.keys() == {"metres", "decimals"}
    return right and _whole(params["metres"], least=1) and _whole(params["decimals"], least=0)


def _minimum(params: Params) -> bool:
    return params.keys() == {"minimum"} and _whole(params["minimum"], least=1)


def _span(params: Params) -> bool:
    right = params.keys() == {"kind", "start", "end"} and isinstance(params["kind"], str)
    return right and _whole(params["start"], least=0) and _whole(params["end"], least=params["start"] + 1)


def _catalogue(params: Params) -> bool:
    return params.keys() == {"catalogue"} and isinstance(params["catalogue"], str)


def _table(*duties: Duty) -> Mapping[str, Duty]:
    return MappingProxyType({duty.op: duty for duty in duties})


FILTER = "filter"
DROP = "drop"
QUERY = _table(
    Duty(FILTER, "request", _filter),
    Duty("neutralise_prompt", "request", _nothing, keeps_words=True, public=True),
)
EVIDENCE = _table(
    Duty(DROP, "evidence", _nothing),
    Duty("redact", "evidence", _kinds, meets_tags=True),
    Duty("generalise_geometry", "evidence", _geometry, meets_tags=True),
    Duty("aggregate_only", "evidence", _minimum, meets_tags=True),
    Duty("datamark", "evidence", _nothing, meets_tags=True, keeps_words=True),
)
ANSWER = _table(
    Duty("drop_sentence", "sentence", _nothing),
    Duty("mark_quotation", "sentence", _nothing),
    Duty("redact", "sentence", _span),
    Duty("append_notice", "answer", _catalogue, public=True),
    Duty("abstain", "answer", _nothing),
)

MEETS_TAGS = tuple(op for op, duty in EVIDENCE.items() if duty.meets_tags)
KEEPS_WORDS = frozenset(op for op, duty in EVIDENCE.items() if duty.keeps_words)
"""Obligations on evidence that leave an item's words as they are."""
PUBLIC = frozenset(op for table in (QUERY, ANSWER) for op, duty in table.items() if duty.public)
