"""The HTTP application: services opened and closed by its lifespan, routes, one error body."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Match

from api import docs_page
from api.configuration import Configuration
from api.errors import BadQuery, EdgeError, MalformedBody, MethodNotOffered, NoSuchThing, RequestRejected
from api.live import PinnedSystem, live
from api.metrics import Metrics
from api.middleware import BodyLimits, RequestFrame, log_failure
from api.problems import CODES, Problem, problem_of
from api.routes import ai, collections, evidence, health, ledger, log, policy, retrieval, retrieval_more, retrieve
from api.schemas.ask import field_problems
from api.schemas.filters import describe_filters
from api.version import VERSION
from api.wiring import new_id, open_system

_DESCRIPTION = (
    "Questions answered from governed evidence: each sentence cited, each answer recorded, each record provable."
)


def create_app(configuration: Configuration) -> FastAPI:
    """The application over one home folder. Nothing is opened before its lifespan starts; everything is closed when
    that ends, last opened first."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_system(configuration, signing=True) as system, live(system) as current:
            app.state.live = current
            yield

    app = FastAPI(
        title="Exhibit", version=VERSION, lifespan=lifespan, docs_url=None, redoc_url=None, description=_DESCRIPTION
    )
    app.state.metrics = metrics
    surfaces = (ai, retrieve, retrieval, retrieval_more, evidence, collections, ledger, log, policy)
    modules = (*surfaces, health, docs_page)
    for module in modules:
        app.include_router(module.router)
    app.state.routes = (*(route for module in modules for route in module.router.routes), *app.routes)
    # Added last is outermost.
    app.add_middleware(PinnedSystem)
    app.add_middleware(
        BodyLimits, body_bytes=configuration.settings.server.body_bytes, offered=partial(methods_of, app)
    )
    app.add_middleware(RequestFrame, new_id=new_id, metrics=metrics)
    for kind in (*(kind for kind in CODES if kind.__base__ is Exception), HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _refuse)
    app.openapi = partial(_described, app, app.openapi)  # type: ignore[method-assign]
    return app


def _described(app: FastAPI, describe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The description of the API, made once. Errors are JSON whatever a route answers with; the framework takes the
    route's own type."""
    if app.openapi_schema is None:
        document = describe()
        for operation in (o for path in document["paths"].values() for o in path.values()):
            for status, response in operation["responses"].items():
                if int(status) >= 400 and "content" in response:
                    response["content"] = {"application/json": next(iter(response["content"].values()))}
        describe_filters(document)
        app.openapi_schema = document
    return app.openapi_schema


async def _refuse(request: Request, exc: Exception) -> JSONResponse:
    told = _told(exc, request.url.path)
    request_id: str = request.state.request_id
    log_failure(told, request_id)
    problem = problem_of(told)
    request.app.state.metrics.count_fault(surface=_surface(request.scope), code=problem.code)
    headers = _headers(problem) | _allowed(request, problem)
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


def _headers(problem: Problem) -> dict[str, str]:
    if problem.status == 401:
        return {"www-authenticate": "Bearer"}
    return {"retry-after": "1"} if problem.status == 503 else {}


def _allowed(request: Request, problem: Problem) -> dict[str, str]:
    """The methods of the path, which a 405 has to name (RFC 9110, 15.5.6)."""
    return {"allow": ", ".join(sorted(methods_of(request.app, request.scope)))} if problem.status == 405 else {}


def methods_of(app: FastAPI, scope: Any) -> set[str]:
    """The methods that are offered at the path of a request; none where nothing is there."""
    routes = (route for route in app.state.routes if getattr(route, "methods", None))
    return {method for route in routes if route.matches(scope)[0] is not Match.NONE for method in route.methods}


def _surface(scope: Any) -> str:
    return getattr(scope.get("route"), "path", "unmatched")
