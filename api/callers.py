"""The dependencies that routes share: the open system, the request id, and who is asking."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer

from api.errors import ActionForbidden, CredentialRejected
from api.metrics import Metrics
from api.principal import Principal, host_of, is_loopback, public_subject, subject_of_key, token_of
from api.wiring import System

_bearer = HTTPBearer(auto_error=False, description="An API key, made by `exhibit key create`.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same, in a header of its own.")


def system_of(request: Request) -> System:
    """The system that this request began with."""
    return cast("System", request.state.system)


def metrics_of(request: Request) -> Metrics:
    """The application's metrics."""
    return cast("Metrics", request.app.state.metrics)


def request_id_of(request: Request) -> str:
    """The id that the server made for this request."""
    return cast("str", request.state.request_id)


async def principal_of(request: Request) -> Principal:
    """Who is asking. Raises CredentialRejected for a bad key, and for no key from beyond loopback."""
    system = system_of(request)
    loopback = is_loopback(request.client.host if request.client else None)
    token = token_of(request.headers)
    if token is not None:
        key = await asyncio.to_thread(system.keys.authenticate, token)
        return Principal(subject_of_key(key, system.data), key, loopback)
    if not loopback:
        raise CredentialRejected("An API key is needed.")
    if not is_loopback(host_of(request.headers.get("host"))):
        # A web page can point a name of its own at this machine; the Host header tells.
        raise ActionForbidden("Without an API key the server answers to its loopback names only.")
    return Principal(public_subject(system.data), None, loopback)


@dataclass(frozen=True, slots=True)
class Call:
    """One authenticated call: the open system, who is calling, and the id that the server gave it."""

    system: System
    caller: Principal
    request_id: str


async def call_of(request: Request) -> Call:
    """The call behind a request. Raises as `principal_of`."""
    return Call(system_of(request), await principal_of(request), request_id_of(request))


Open = Annotated[System, Depends(system_of)]
Meters = Annotated[Metrics, Depends(metrics_of)]
Calling = Annotated[Call, Depends(call_of)]
Caller = Annotated[Principal, Depends(principal_of)]
SECURITY = [Security(_bearer), Security(_header)]
