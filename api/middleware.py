"""What happens around every HTTP request: a request id, limits on the body, one log line, metrics, and no error that
escapes.

Plain ASGI, so that a body over the limit is refused while it arrives and never held whole.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Collection

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import PayloadTooLarge, UnsupportedMediaType
from api.metrics import Metrics
from api.problems import Problem, code_of, problem_of

_log = structlog.get_logger("exhibit.http")
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})
_FRAMES = 12
_SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)


class RequestFrame:
    """Outermost layer: makes the request id, adds headers, logs, counts, and turns whatever escapes into an error
    body."""

    def __init__(self, app: ASGIApp, *, new_id: Callable[[], str], metrics: Metrics) -> None:
        self._app = app
        self._new_id = new_id
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = self._new_id()
        scope.setdefault("state", {})["request_id"] = request_id
        started, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode()), *_SECURITY_HEADERS]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception as exc:
            log_failure(exc, request_id)
            if status == 0:
                await send_problem(problem_of(exc), request_id, answer)
        finally:
            route = getattr(scope.get("route"), "path", "unmatched")
            self._metrics.count_request(route=route, method=scope["method"], status=status)
            elapsed_ms = round((time.perf_counter() - started) * 1000, 3)
            _log.info(
                "request",
                request_id=request_id,
                method=scope["method"],
                route=route,
                status=status,
                elapsed_ms=elapsed_ms,
            )


class BodyLimits:
    """Refuses a body over the limit, and a body that does not say it is JSON where the method takes one. `offered`
    gives the methods at a path: one that is not offered is refused as such, whatever its body."""

    def __init__(self, app: ASGIApp, *, body_bytes: int, offered: Callable[[Scope], Collection[str]]) -> None:
        self._app = app
        self._limit = body_bytes
        self._offered = offered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope["method"] not in _BODY_METHODS:
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length[:20]) > self._limit:
            raise PayloadTooLarge(f"The body may have at most {self._limit} bytes.")
        if not _is_json(headers.get(b"content-type", b"")) and scope["method"] in self._offered(scope):
            raise UnsupportedMediaType("The content type must be application/json.")
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise PayloadTooLarge(f"The body may have at most {self._limit} bytes.")
            return message

        await self._app(scope, counted, send)


async def send_problem(problem: Problem, request_id: str, send: Send) -> None:
    """Send an error body as a whole response."""
    body = json.dumps(problem.body(request_id), ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _is_json(content_type: bytes) -> bool:
    kind, *parameters = (part.strip().lower() for part in content_type.decode("latin-1").split(";"))
    charsets = [p.partition("=")[2].strip('"') for p in parameters if p.startswith("charset=")]
    return kind == "application/json" and all(charset in ("utf-8", "utf8") for charset in charsets)


def log_failure(exc: BaseException, request_id: str) -> None:
    """Log an error by its class and code. A bug of ours also by the places it passed; never by its text, which may
    repeat a user's. A recorded failure is logged as its cause: a server that is gone is no bug."""
    if getattr(exc, "entry_id", None) is not None and exc.__cause__ is not None:
        exc = exc.__cause__
    code = code_of(exc)
    if code == "INTERNAL":
        frames = traceback.extract_tb(exc.__traceback__)[-_FRAMES:]
        where = [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames]
        _log.error("request_failed", request_id=request_id, code=code, error=type(exc).__name__, where=where)
    else:
        _log.info("request_refused", request_id=request_id, code=code, error=type(exc).__name__)
