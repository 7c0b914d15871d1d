"""`/api/v1/session`: somebody signs in to the pages with a key or token, and out again."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.errors import CredentialRejected
from api.home.identity.principal import Principal
from api.http.callers import Open, principal_of_token
from api.http.credentials import (
    COOKIE,
    credential_of,
    forget_cookie,
    require_own_page,
    sessions_of,
    set_cookie,
)
from api.schemas.errors import errors
from api.schemas.session import SessionResponse, SignIn
from api.wiring import clock_ms

router = APIRouter(prefix="/api/v1/session", tags=["identity"])


@router.post(
    "", operation_id="signIn", summary="Sign in to the pages", responses=errors(400, 401, 403, 408, 413, 415, 422, 503)
)
async def sign_in(body: SignIn, request: Request, response: Response, system: Open) -> SessionResponse:
    """Begin a session with a key or token: the browser gets a cookie that lasts twelve hours at most and no longer than
    the credential. Requests of a session other than readings carry its token in `X-CSRF-Token`."""
    del system  # opened by the request
    require_own_page(request)
    principal = await principal_of_token(request, body.credential)
    begin = sessions_of(request).begin
    session = await asyncio.to_thread(begin, body.credential, ends_ms=principal.subject.session_expires_ms)
    set_cookie(response, request, session, now_ms=clock_ms())
    return _told(principal, session.expires_ms, session.csrf_token)


@router.get("", operation_id="getSession", summary="Who is signed in", responses=errors(503))
async def current(request: Request, response: Response) -> SessionResponse:
    """The session of the cookie, with the token for its requests; nobody where there is none or it is over."""
    if COOKIE not in request.cookies:
        return SessionResponse()
    try:
        credential = await credential_of(request)
        session = credential.session if credential else None
        if credential is None or session is None:
            return SessionResponse()
        principal = await principal_of_token(request, credential.token)
    except CredentialRejected:
        forget_cookie(response, request)
        return SessionResponse()
    return _told(principal, session.expires_ms, session.csrf_token)


@router.delete(
    "", operation_id="signOut", summary="Sign out of the pages", status_code=204, responses=errors(401, 403, 503)
)
async def sign_out(request: Request, response: Response, _signed_in: Annotated[object, Depends(credential_of)]) -> None:
    """End the session of the cookie; of no effect without one."""
    cookie = request.cookies.get(COOKIE)
    if cookie is not None:
        await asyncio.to_thread(sessions_of(request).end, cookie)
        forget_cookie(response, request)


def _told(principal: Principal, expires_ms: int, csrf_token: str) -> SessionResponse:
    subject = principal.subject
    return SessionResponse(
        signed_in=True,
        tenant=subject.tenant,
        roles=sorted(subject.roles),
        capabilities=sorted(subject.capabilities),
        expires_ms=expires_ms,
        csrf_token=csrf_token,
    )
