"""From the wire's request to the pipeline's value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from ai.canonical import plan_of
from ai.model import Ask, MapContext, Options
from api.errors import ActionForbidden, FieldProblem, RequestRejected
from api.problems import printable
from api.schemas.query import Context, QueryRequest, first_day, last_day
from policy.model import Subject
from retrieval.algebra.operations import Operation
from retrieval.model import TimeRange

_FIELD_CHARS = 100
_MOST_DETAILS = 20


def parse_query(body: object) -> QueryRequest:
    """The request in `body` (JSON values). Raises RequestRejected; details name fields and never repeat values."""
    try:
        return QueryRequest.model_validate(body)
    except ValidationError as exc:
        raise RequestRejected(
            "The request is not valid.", field_problems(exc.errors(include_input=False, include_url=False))
        ) from None


def field_problems(errors: Sequence[Any]) -> tuple[FieldProblem, ...]:
    """Validation errors as details: at most twenty, each with a bounded path."""
    return tuple(_field_problem(error) for error in errors[:_MOST_DETAILS])


def ask_of(request: QueryRequest, *, subject: Subject, request_id: str) -> Ask:
    """The question as the pipeline takes it. Raises ActionForbidden if the body names another tenant than the
    subject's."""
    if any(named is not None and named != subject.tenant for named in (request.tenant, request.tenant_id)):
        raise ActionForbidden("The tenant in the request is not that of the credential.")
    options = request.options
    return Ask(
        request_id=request_id,
        question=request.question,
        subject=subject,
        context=_context(request.context),
        options=Options(
            profile=options.profile,
            top_k=options.top_k,
            max_tokens=options.max_tokens,
            temperature_milli=round(options.temperature * 1000),
            seed=options.seed,
            collections=tuple(options.collections),
            plan=_plan(options.plan),
        ),
        purpose=request.purpose,
        session_id=request.session_id,
    )


def _plan(values: Sequence[object]) -> tuple[Operation, ...]:
    try:
        return plan_of(values)
    except ValueError:
        detail = FieldProblem("options.plan", "plan_invalid", "Not operations in the form of `interpretation.plan`")
        raise RequestRejected("The request is not valid.", (detail,)) from None


def _context(context: Context) -> MapContext:
    bbox = context.bbox
    return MapContext(
        place=context.place,
        place_id=context.place_id,
        bbox=None if bbox is None else (bbox[0], bbox[1], bbox[2], bbox[3]),
        geometry=None
        if context.geometry is None
        else json.dumps(context.geometry, sort_keys=True, separators=(",", ":")),
        time=_time(context),
        active_layers=tuple(context.active_layers),
        story_node_id=context.story_node_id,
    )


def _time(context: Context) -> TimeRange | None:
    if context.year is not None:
        return TimeRange.year(context.year)
    if context.year_range is not None:
        return TimeRange.year(*context.year_range)
    if context.time_range is not None:
        return TimeRange(first_day(context.time_range.start), last_day(context.time_range.end))
    return None


def _field_problem(error: Any) -> FieldProblem:
    path = ".".join(str(part) for part in error["loc"] if part != "body")
    return FieldProblem(printable(path, _FIELD_CHARS) or "body", str(error["type"]), printable(str(error["msg"])))
