"""The HTTP application: services opened and closed by its lifespan, routes, one error body."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from api.errors import BadQuery, EdgeError, MalformedBody, MethodNotOffered, NoSuchThing, RequestRejected
from api.home.configuration import Configuration
from api.home.folder import PAGE_SESSIONS_FILE
from api.home.identity.sessions import PageSessions
from api.home.server import Server
from api.home.version import VERSION
from api.http import docs_page
from api.http.accept import wants_page
from api.http.admission.bodies import JsonBodies
from api.http.admission.middleware import Admission
from api.http.admission.rates import RateLimits
from api.http.callers_trace import CallersTrace
from api.http.ingest import IngestDesk
from api.http.metrics.process import Metrics
from api.http.middleware import ErrorBodies, RequestFrame, log_failure, problem_headers
from api.http.policy.reload import PinnedSystem, live
from api.http.policy.trials import PolicyTrials
from api.http.routes import (
    ai,
    assets,
    collections,
    computations,
    corpus,
    evidence,
    health,
    identity,
    ingest,
    ledger,
    map,
    pages,
    policy,
    registry,
    retrieval,
    session,
    stream,
)
from api.http.sending import STREAMED
from api.problems import CODES, Problem, problem_of
from api.schemas.ask import field_problems
from api.schemas.description.openapi import describe
from api.wiring import clock_ms, new_id, open_system, token_reader

_DESCRIPTION = (
    "Questions answered from governed evidence: each sentence cited, each answer recorded, each record provable."
)


_ASKED_HEADERS = ("Authorization", "X-API-Key", "Content-Type", "Idempotency-Key", "Last-Event-ID", "traceparent")
_TOLD_HEADERS = ("X-Request-Id", "Retry-After", "WWW-Authenticate", "X-Ledger-Entry", "X-Features-Omitted")


_ROUTERS = (
    ai.router,
    stream.router,
    *retrieval.ROUTERS,
    evidence.router,
    computations.router,
    collections.router,
    corpus.router,
    *ingest.ROUTERS,
    map.router,
    *registry.ROUTERS,
    *ledger.ROUTERS,
    *policy.ROUTERS,
    identity.router,
    session.router,
    health.router,
    docs_page.router,
    assets.router,
    pages.router,
)


def create_app(configuration: Configuration) -> FastAPI:
    """The application over one home folder. Nothing is opened before its lifespan starts; everything is closed when
    that ends, last opened first."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_system(configuration, signing=True) as system, live(system) as current:
            app.state.live = current
            app.state.ingest = IngestDesk(configuration)
            await app.state.ingest.start()
            document()  # made before the first request, which would wait for it
            try:
                yield
            finally:
                await app.state.ingest.aclose()
                await app.state.trials.aclose()

    app = _routed(lifespan)
    app.state.metrics = Metrics()
    app.state.map = map.MapCaches()
    app.state.trials = PolicyTrials()
    app.state.rates = RateLimits(configuration.settings.server.rates)
    app.state.tokens = token_reader(configuration)
    app.state.sessions = PageSessions(configuration.home / PAGE_SESSIONS_FILE, clock_ms=clock_ms)
    app.state.require_key = configuration.settings.server.require_key
    app.state.routes = (*(route for router in _ROUTERS for route in router.routes), *app.routes)
    _wrap(app, configuration.settings.server)
    for kind in (*(kind for kind in CODES if kind.__base__ is Exception), HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _refuse)
    app.openapi = document  # type: ignore[method-assign]
    return app


@cache
def document() -> dict[str, Any]:
    """The description of the API (OpenAPI). It is the same for every application: no route depends on a setting."""
    return describe(_routed().openapi())


def _routed(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None) -> FastAPI:
    """An application with all routes and nothing around them."""
    app = FastAPI(
        title="Exhibit",
        version=VERSION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        description=_DESCRIPTION,
        redirect_slashes=False,  # a redirect would repeat the Host header, which says what a caller likes
    )
    for router in _ROUTERS:
        app.include_router(router)
    return app


def _wrap(app: FastAPI, server: Server) -> None:
    """The middleware around every request."""
    # Added last is outermost.
    app.add_middleware(PinnedSystem)
    app.add_middleware(
        JsonBodies,
        body_bytes=server.body_bytes,
        body_ms=server.admission.body_ms,
        forms=(identity.LOGOUT,),
        streamed=STREAMED,
        offered=partial(methods_of, app),
    )
    app.add_middleware(Admission, server=server, rates=app.state.rates)
    app.add_middleware(ErrorBodies)
    if server.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=server.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=_ASKED_HEADERS,
            expose_headers=_TOLD_HEADERS,
        )
    app.add_middleware(CallersTrace)
    app.add_middleware(RequestFrame, new_id=new_id, metrics=app.state.metrics)


async def _refuse(request: Request, exc: Exception) -> Response:
    told = _told(exc, request.url.path)
    request_id: str = request.state.request_id
    log_failure(told, request_id)
    problem = problem_of(told)
    request.app.state.metrics.count_fault(surface=_surface(request.scope), code=problem.code)
    headers = problem_headers(told, problem) | _allowed(request, problem)
    if request.method in {"GET", "HEAD"} and wants_page(request):
        return pages.problem_page(problem, request_id, headers)
    return JSONResponse(problem.body(request_id), problem.status, headers=headers)


def _told(exc: Exception, path: str) -> Exception:
    """The framework's errors as ours."""
    if isinstance(exc, RequestValidationError):
        if any(error["type"] == "json_invalid" for error in exc.errors()):
            return MalformedBody("The body is not valid JSON.")
        if any(error["type"] == "missing" and error["loc"] == ("body",) for error in exc.errors()):
            return MalformedBody("The body is empty.")
        kind = BadQuery if path.startswith("/retrieval/") else RequestRejected
        return kind("The request is not valid.", field_problems(exc.errors()))
    if isinstance(exc, HTTPException):
        if isinstance(exc.__cause__, EdgeError):
            return exc.__cause__
        return _BY_STATUS.get(exc.status_code, MalformedBody("The request could not be read."))
    return exc


_BY_STATUS: Mapping[int, EdgeError] = {
    404: NoSuchThing("There is no such resource."),
    405: MethodNotOffered("This method is not offered here."),
}


def _allowed(request: Request, problem: Problem) -> dict[str, str]:
    """The methods of the path, which a 405 has to name (RFC 9110, 15.5.6)."""
    if problem.status != 405:
        return {}
    methods = methods_of(request.app, request.scope)
    return {"allow": ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))}


def methods_of(app: FastAPI, scope: Any) -> set[str]:
    """The methods that are offered at the path of a request; none where nothing is there."""
    routes = (route for route in app.state.routes if getattr(route, "methods", None))
    return {method for route in routes if route.matches(scope)[0] is not Match.NONE for method in route.methods}


def _surface(scope: Any) -> str:
    return getattr(scope.get("route"), "path", "unmatched")
