"""`POST /api/v1/ai/stream`: a question in, its answer as Server-Sent Events out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from ai.focus_pipeline import Step, answer
from api.errors import KeyReused, NoSuchThing
from api.home.request_records import RequestRecords
from api.http.callers import SECURITY, Call, Calling, Meters
from api.http.idempotency import released_again
from api.http.streaming import Body, Events, UiMessageStream, Writer, live_stream, recorded_stream
from api.schemas.ask import ask_of, parse_query
from api.schemas.errors import errors
from api.schemas.query import QueryRequest
from api.schemas.stream import ChatRequest, EventId, StreamEvent, StreamForm
from retrieval.scope import digest

router = APIRouter(prefix="/api/v1/ai", tags=["ai"], dependencies=SECURITY)
ROUTE = "POST /api/v1/ai/stream"
MEDIA_TYPE = "text/event-stream"
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


_EVENTS = {"model": StreamEvent, "description": "Steps, sentences, then the body."}


class EventStream(StreamingResponse):
    """Server-Sent Events."""

    media_type = MEDIA_TYPE


@router.post(
    "/stream",
    operation_id="streamAnswer",
    summary="Ask and read the answer as it comes",
    response_model=None,
    response_class=EventStream,
    responses={
        200: _EVENTS,
        **errors(400, 401, 403, 409, 413, 415, 422, 500, 503),
    },
)
async def stream(
    body: QueryRequest | ChatRequest,
    request: Request,
    call: Calling,
    metrics: Meters,
    *,
    form: Annotated[StreamForm, Query(alias="format")] = "events",
    last_event_id: Annotated[EventId | None, Header(alias="Last-Event-ID")] = None,
) -> Response:
    """The answer of `/ai/query` as events. Sentences come after they passed support, policy and the answer point, and
    after the ledger entry that covers them is durable; the steps before are always the same. A reader that was cut off
    asks again with `Last-Event-ID` and gets the rest; one that goes away before the end stops the work, which is
    recorded."""
    question = body if isinstance(body, QueryRequest) else _asked(body)
    said = question.model_dump(mode="json", exclude={"options": {"format"}})
    if last_event_id is not None:
        stream_id, _, number = last_event_id.rpartition(".")
        recorded = await _recorded(call, stream_id, said)
        if recorded is not None:
            writer = _writer(form, stream_id)
            lines = recorded_stream(recorded, writer, after=int(number))
            return EventStream(lines, headers={**_HEADERS, **writer.headers})
    ask = ask_of(question, subject=call.caller.subject, request_id=call.request_id)
    profile = call.system.profile(question.options.profile)

    async def work(tell: Callable[[Step], None]) -> Body:
        answered = await answer(ask, services=call.system.services, profile=profile, tell=tell)
        released = dict(answered.body)
        await _keep(call, said, released)
        metrics.observe_draft(uncited_sentences=answered.uncited_sentences, refused_late=answered.refused_late)
        if answered.scope is not None:
            metrics.observe_scope(
                answered.scope.shapes, warned=call.system.configuration.settings.retrieval.warned_shapes
            )
        metrics.observe_answer(surface="ai.stream", body=released)
        return released

    writer = _writer(form, call.request_id)
    events = live_stream(request, work, writer, request_id=call.request_id)
    return EventStream(events, headers={**_HEADERS, **writer.headers})


def _asked(chat: ChatRequest) -> QueryRequest:
    """The question in a chat. Raises RequestRejected."""
    said = {"context": chat.context.model_dump(mode="json"), "options": chat.options.model_dump(mode="json")}
    return parse_query({"question": chat.question, **said})


def _writer(form: str, request_id: str) -> Writer:
    return Events(request_id, {}) if form == "events" else UiMessageStream(request_id)


def _identity(call: Call, stream_id: str) -> tuple[str, ...]:
    return (call.caller.subject.tenant, call.caller.subject.id, ROUTE, stream_id)


async def _keep(call: Call, said: object, released: Body) -> None:
    """Note which entry answered, so that the stream can be taken up again; no text."""
    await asyncio.to_thread(
        RequestRecords(call.system.configuration.home).note,
        _identity(call, call.request_id),
        digest(said),
        now_ms=call.system.services.clock_ms(),
        entry_id=released["provenance"]["entry_id"],
        timings=json.dumps(released["timings_ms"]),
    )


async def _recorded(call: Call, stream_id: str, said: object) -> dict[str, Any] | None:
    """The answer of an earlier stream of this caller, read back from the ledger; None where it came to no answer.
    Raises KeyReused for another question, and for an answer that may no longer be shown."""
    records = RequestRecords(call.system.configuration.home)
    first = await asyncio.to_thread(records.find, _identity(call, stream_id))
    if first is None or first.entry_id is None or first.timings is None:
        return None
    if first.body != digest(said):
        raise KeyReused("The Last-Event-ID is that of another question.")
    try:
        return await released_again(call, first.entry_id, first.timings)
    except NoSuchThing as exc:
        raise KeyReused("The recorded answer may no longer be shown; ask again.") from exc
