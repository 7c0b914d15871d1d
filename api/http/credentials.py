"""The credentials of a request: a key or token in a header, or the cookie of somebody who is signed in."""

from __future__ import annotations

import asyncio
import hmac
from dataclasses import dataclass
from typing import cast

from fastapi import Request
from starlette.responses import Response

from api.errors import ActionForbidden, CredentialRejected
from api.home.identity.principal import token_of
from api.home.identity.sessions import PageSession, PageSessions

COOKIE = "exhibit-session"
CSRF_HEADER = "x-csrf-token"
_READING = {"GET", "HEAD", "OPTIONS"}


@dataclass(frozen=True, slots=True)
class Credential:
    """A key or token, and the session that it came from where it came from one."""

    token: str
    session: PageSession | None = None


def sessions_of(request: Request) -> PageSessions:
    """The sessions of the pages of this home."""
    return cast("PageSessions", request.app.state.sessions)


async def credential_of(request: Request) -> Credential | None:
    """The credential of a request; a header comes before a cookie, and None is nobody in particular. Raises
    CredentialRejected for headers that contradict each other and for a session that is over, ActionForbidden for a
    request with a cookie that is more than a reading and was not sent by a page of ours."""
    token = token_of(request.headers.items())
    if token is not None:
        return Credential(token)
    cookie = request.cookies.get(COOKIE)
    if cookie is None:
        return None
    session = await asyncio.to_thread(sessions_of(request).find, cookie)
    if session is None:
        raise CredentialRejected("The session is over. Sign in again.")
    if request.method not in _READING:
        require_own_page(request)
        if not hmac.compare_digest(request.headers.get(CSRF_HEADER, "").encode(), session.csrf_token.encode()):
            raise ActionForbidden(f"A request with a session needs its token in {CSRF_HEADER.title()}.")
    return Credential(session.credential, session)


def require_own_page(request: Request) -> None:
    """Raise ActionForbidden for a request of a page of another origin. Browsers say whose page sends
    (`Sec-Fetch-Site`), and other programs say neither that nor an origin."""
    sent_by, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if sent_by != "same-origin" and (sent_by is not None or origin is not None):
        raise ActionForbidden("Pages of another origin may not change anything.")


def set_cookie(response: Response, request: Request, session: PageSession, *, now_ms: int) -> None:
    """Let the browser keep a session: for this server alone, unread by scripts, not sent by pages of other sites, and
    over TLS only where it came over TLS."""
    response.set_cookie(
        COOKIE,
        session.cookie,
        max_age=max(0, (session.expires_ms - now_ms) // 1000),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def forget_cookie(response: Response, request: Request) -> None:
    """Let the browser forget a session."""
    secure = request.url.scheme == "https"
    response.delete_cookie(COOKIE, path="/", secure=secure, httponly=True, samesite="strict")
