"""The dependencies that routes share: the open system, the request id, and who is asking."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer

from api.errors import ActionForbidden, CredentialRejected
from api.home.identity.keys import is_key
from api.home.identity.principal import (
    Principal,
    host_of,
    is_loopback,
    public_subject,
    subject_of_key,
    subject_of_token,
)
from api.http.admission.rates import RateLimits
from api.http.credentials import credential_of, require_own_page
from api.http.metrics.process import Metrics
from api.wiring import System
from policy.model import Subject

if TYPE_CHECKING:
    from api.home.identity.oidc.tokens import TokenReader

_bearer = HTTPBearer(auto_error=False, description="An API key, or a token of the identity provider.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="An API key, in a header of its own.")


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
    """The principal behind a request. Raises CredentialRejected for a bad key, token or session, and for none from
    beyond loopback."""
    system = system_of(request)
    loopback = is_loopback(request.client.host if request.client else None)
    credential = await credential_of(request)
    if credential is not None:
        return await principal_of_token(request, credential.token)
    if not loopback or request.app.state.require_key:
        raise CredentialRejected("An API key is needed.")
    if not is_loopback(host_of(request.headers.get("host"))):
        # A web page can point a name of its own at this machine; the Host header tells.
        raise ActionForbidden("Without an API key the server answers to its loopback names only.")
    return Principal((await _standing(system, public_subject(system.data)))[0], loopback)


async def principal_of_token(request: Request, token: str) -> Principal:
    """The principal behind a key or token, counted. Raises CredentialRejected, RateLimited."""
    system = system_of(request)
    subject, quota = await _standing(system, await _subject(request, system, token))
    _count(request, subject, quota)
    return Principal(subject, is_loopback(request.client.host if request.client else None))


async def _standing(system: System, subject: Subject) -> tuple[Subject, str | None]:
    """The subject as its tenant stands, and the tenant's own quota."""
    held = await asyncio.to_thread(system.tenants.find, subject.tenant)
    if held is None:
        return subject, None
    return subject.suspended() if held.state == "suspended" else subject, held.quota


async def _subject(request: Request, system: System, token: str) -> Subject:
    """The subject of an API key, or of a token where an identity provider is set."""
    reader: TokenReader | None = request.app.state.tokens
    if reader is not None and not is_key(token):
        return subject_of_token(await reader.authenticate(token), system.data)
    return subject_of_key(await asyncio.to_thread(system.keys.authenticate, token), system.data)


def _count(request: Request, subject: Subject, own: str | None) -> None:
    """Count the request of a subject and of its tenant, which may have a quota of its own. Raises RateLimited."""
    rates: RateLimits = request.app.state.rates
    for name, caller, limit in (("tenant", subject.tenant, own), ("principal", subject.id, None)):
        quota = rates.count(name, caller, own=limit)
        if quota is not None:
            request.state.quota = quota


@dataclass(frozen=True, slots=True)
class Call:
    """One authenticated call: the open system, who is calling, and the id that the server gave it."""

    system: System
    caller: Principal
    request_id: str


async def call_of(request: Request) -> Call:
    """The call behind a request. Raises as `principal_of`."""
    return Call(system_of(request), await principal_of(request), request_id_of(request))


async def writing_call_of(request: Request) -> Call:
    """The call behind a request that changes something: with a key, a token or a session, and not sent by a page of
    another origin. Raises ActionForbidden, and as `principal_of`."""
    require_own_page(request)
    call = await call_of(request)
    if await credential_of(request) is None:
        raise ActionForbidden("A change needs an API key, a token or a session.")
    return call


Open = Annotated[System, Depends(system_of)]
Meters = Annotated[Metrics, Depends(metrics_of)]
Calling = Annotated[Call, Depends(call_of)]
Writing = Annotated[Call, Depends(writing_call_of)]
Caller = Annotated[Principal, Depends(principal_of)]
SECURITY = [Security(_bearer), Security(_header)]
