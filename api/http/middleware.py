"""The outermost layer around every HTTP request: a request id, headers, one log line, metrics, and no error that
escapes. Plain ASGI."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterable

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import RateLimited
from api.http.metrics.process import Metrics
from api.problems import Problem, code_of, problem_of
from policy.errors import OpaUnavailable

_log = structlog.get_logger("exhibit.http")
_FRAMES = 12
_CREDENTIALS = (b"authorization", b"x-api-key", b"cookie", b"accept")
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)


class RequestFrame:
    """Outermost layer: makes the request id, adds headers, logs and counts."""

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
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        started, status = time.perf_counter(), 0
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*_private(message["headers"]), (b"x-request-id", request_id.encode())]
                message["headers"] += SECURITY_HEADERS
                if (quota := state.get("quota")) is not None:
                    message["headers"] += [(name.encode(), value.encode()) for name, value in quota.headers().items()]
            elif inner is not scope:
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app(inner, receive, answer)
        finally:
            route = getattr(inner.get("route"), "path", "unmatched")
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


class ErrorBodies:
    """Turns whatever escapes into an error body, inside the layer that says which pages of other origins may read
    it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception as exc:
            request_id = scope["state"]["request_id"]
            log_failure(exc, request_id)
            if not begun:
                await send_problem(exc, request_id, send)


async def send_problem(exc: Exception, request_id: str, send: Send) -> None:
    """Send the error body of an exception as a whole response."""
    problem = problem_of(exc)
    body = json.dumps(problem.body(request_id), ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.encode(), value.encode()) for name, value in problem_headers(exc, problem).items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def problem_headers(exc: Exception, problem: Problem) -> dict[str, str]:
    """The headers that tell a client what to do about an error."""
    if isinstance(exc, RateLimited):
        return exc.headers | {"retry-after": str(exc.retry_after_s)}
    if problem.status == 401:
        return {"www-authenticate": "Bearer"}
    return {"retry-after": "1"} if problem.status == 503 else {}


def _private(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers, and those that keep a reply from being stored for others, unless it says that it is public."""
    given = [*headers]
    stored = b",".join(value for name, value in given if name.lower() == b"cache-control")
    if b"public" in stored:
        return given
    varies = [value for name, value in given if name.lower() == b"vary"]
    known = {name.strip().lower() for value in varies for name in value.split(b",")}
    varies += [name for name in _CREDENTIALS if name not in known]
    kept = [(name, value) for name, value in given if name.lower() != b"vary"]
    return [*kept, *([] if stored else [(b"cache-control", b"no-store")]), (b"vary", b", ".join(varies))]


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
        told = {"problem": exc.problem} if isinstance(exc, OpaUnavailable) else {}
        _log.info("request_refused", request_id=request_id, code=code, error=type(exc).__name__, **told)
