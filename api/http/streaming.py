"""An answer as Server-Sent Events: steps while it is made, sentences once their ledger entry is durable, then the body.

Nothing of an answer leaves before `ai.focus_pipeline.answer` returns, which is after the outcome is recorded. So what
follows can be cut anywhere: a reader who names the last event that came gets the others from the record.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from fastapi import Request

from ai.answer.render import marked
from ai.focus_pipeline import Step
from api.http.middleware import log_failure
from api.problems import problem_of

HEARTBEAT_S = 15.0
"""After so long without an event a comment is sent, so that what stands between does not close the connection."""

T = TypeVar("T")
Event = tuple[Literal["stage", "sentence", "done", "error"], Mapping[str, Any]]
Body = Mapping[str, Any]


class Writer(Protocol):
    """How events are written down."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers of the response beside its type."""
        ...

    def lines(self, number: int, event: Event) -> Iterator[bytes]:
        """The bytes of one event; `number` counts from 0."""
        ...


@dataclass(frozen=True, slots=True)
class Events:
    """Events by name; the id of each is that of the request and its number."""

    request_id: str
    headers: Mapping[str, str]

    def lines(self, number: int, event: Event) -> Iterator[bytes]:
        """See `Writer`."""
        name, data = event
        yield b"id: %s.%d\nevent: %s\ndata: %s\n\n" % (self.request_id.encode(), number, name.encode(), rendered(data))


class UiMessageStream:
    """The UI message stream protocol of the AI SDK: one message with one text, whose deltas are the sentences."""

    def __init__(self, request_id: str) -> None:
        self.headers = {"x-vercel-ai-ui-message-stream": "v1"}
        self._request_id = request_id
        self._text = ""
        self._sources: set[str] = set()

    def lines(self, number: int, event: Event) -> Iterator[bytes]:
        """See `Writer`."""
        if number == 0:
            yield _part(type="start", messageId=self._request_id)
        name, data = event
        match name:
            case "stage":
                yield _part(type="data-stage", data=dict(data), transient=True)
            case "sentence":
                yield from self._sentence(data)
            case "done":
                yield from self._end(data)
            case "error":
                yield _part(type="error", errorText=data["error"]["message"])
                yield b"data: [DONE]\n\n"

    def _sentence(self, data: Body) -> Iterator[bytes]:
        sentence = data["sentence"]
        for n, citation in data["citations"].items():
            if n not in self._sources:
                self._sources.add(n)
                yield _part(type="source-url", sourceId=n, url=citation["href"], title=citation["title"])
        yield from self._say(marked(sentence["text"], dict.fromkeys(each["n"] for each in sentence["citations"])))
        yield _part(type="data-sentence", id=f"sentence-{sentence['i']}", data=dict(data))

    def _say(self, words: str) -> Iterator[bytes]:
        if not self._text:
            yield _part(type="text-start", id="answer")
        delta = f" {words}" if self._text else words
        self._text += delta
        yield _part(type="text-delta", id="answer", delta=delta)

    def _end(self, body: Body) -> Iterator[bytes]:
        left = body["answer"].removeprefix(self._text).strip() if body["answer"].startswith(self._text) else ""
        if left:  # notices stand after the sentences
            yield from self._say(left)
        if self._text:
            yield _part(type="text-end", id="answer")
        yield _part(type="data-answer", data=dict(body))
        yield _part(type="finish")
        yield b"data: [DONE]\n\n"


def _part(**fields: Any) -> bytes:
    return b"data: %s\n\n" % rendered(fields)


def rendered(data: Mapping[str, Any]) -> bytes:
    """JSON in one line, byte for byte as a JSON response has it."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


STEPS: tuple[Step, ...] = ("gate", "scope", "search", "evidence", "draft", "decision")


def events_of(body: Body) -> Iterator[Event]:
    """The events after the stages: the sentences with the citations that they use, then the whole body."""
    for sentence in body["sentences"]:
        numbers = dict.fromkeys(str(each["n"]) for each in sentence["citations"])
        yield "sentence", {"sentence": sentence, "citations": {n: body["citations"][n] for n in numbers}}
    yield "done", body


def recorded_stream(body: Body, writer: Writer, *, after: int) -> Iterator[bytes]:
    """The events of a recorded answer that come after the one of that number."""
    events: list[Event] = [("stage", {"stage": step}) for step in STEPS]
    for number, event in enumerate([*events, *events_of(body)]):
        if number > after:
            yield from writer.lines(number, event)


Work = Callable[[Callable[[Step], None]], Awaitable[Body]]


async def live_stream(request: Request, work: Work, writer: Writer, *, request_id: str) -> AsyncIterator[bytes]:
    """The events of an answer while it is made. A reader who goes away cancels `work`."""
    told: asyncio.Queue[Step | Literal["ended", "gone"]] = asyncio.Queue()

    async def ended() -> Body:
        try:
            return await work(told.put_nowait)
        finally:
            told.put_nowait("ended")

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        told.put_nowait("gone")

    working, watching = asyncio.create_task(ended()), asyncio.create_task(gone())
    number = 0
    try:
        while (heard := await _next(told)) != "ended":
            if heard == "gone":
                return
            if heard is None:
                yield b": still here\n\n"
                continue
            for line in writer.lines(number, ("stage", {"stage": heard})):
                yield line
            number += 1
        await asyncio.wait({working})
        for event in _outcome(working, request_id):
            for line in writer.lines(number, event):
                yield line
            number += 1
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.wait({working, watching})


async def _next(told: asyncio.Queue[T]) -> T | None:
    """The next event; None where nothing is for a while."""
    try:
        async with asyncio.timeout(HEARTBEAT_S):
            return await told.get()
    except TimeoutError:
        return None


def _outcome(working: asyncio.Task[Body], request_id: str) -> Iterator[Event]:
    failed = working.exception()
    if failed is None:
        yield from events_of(working.result())
    elif isinstance(failed, Exception):
        log_failure(failed, request_id)
        yield "error", problem_of(failed).body(request_id)
    else:
        raise failed
