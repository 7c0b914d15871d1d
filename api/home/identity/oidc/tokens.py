"""A token of the identity provider, checked and read: who it speaks for, and until when."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError

from api.errors import CredentialRejected
from api.home.identity.oidc.ended_sessions import EndedSessions
from api.home.identity.oidc.identity import TokenIdentity
from api.home.identity.oidc.settings import Oidc
from api.home.identity.oidc.signing_keys import SigningKeys

_MOST_CHARS = 16_384
_MOST_LISTED = 256
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:-]{0,63}")
_SUBJECT = re.compile(r"[\x21-\x7e]{1,255}")
# An access token or an ID token; other kinds that the same keys sign, such as a logout token, are no credentials.
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
_LOGOUT_TYPES = frozenset({"jwt", "logout+jwt"})
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"


@dataclass(frozen=True, slots=True)
class TokenReader:
    """Reads the tokens of one issuer. `now_ms` is UTC."""

    oidc: Oidc
    keys: SigningKeys
    ended: EndedSessions
    now_ms: Callable[[], int]

    async def authenticate(self, token: str) -> TokenIdentity:
        """The identity that a token proves. Raises CredentialRejected, which does not say why, and
        IdentityUnavailable."""
        claims = await self._claims(
            token, _TYPES, iat={"essential": True}, exp={"essential": True}, sub={"essential": True}
        )
        subject, begins, ends = claims["sub"], claims["iat"], claims["exp"]
        session = claims.get("sid")
        rejected = (
            "events" in claims
            or not _SUBJECT.fullmatch(subject)
            or not 0 < ends - begins <= self.oidc.longest_s
            or not isinstance(session, str | None)
        )
        if rejected or await asyncio.to_thread(self.ended.covers, subject=subject, session=session, issued_s=begins):
            raise CredentialRejected
        return TokenIdentity(
            subject=subject,
            tenant=self._tenant(claims),
            roles=tuple(
                sorted({self.oidc.roles[r] for r in _names(claims, self.oidc.roles_claim) if r in self.oidc.roles})
            ),
            groups=tuple(g for g in _names(claims, self.oidc.groups_claim) if _NAME.fullmatch(g)),
            expires_ms=ends * 1000,
        )

    async def end_session(self, logout_token: str) -> None:
        """End the sessions that a logout token names (OpenID Connect Back-Channel Logout 1.0): tokens of that session,
        or of that subject if issued before, are refused from now on. Raises CredentialRejected, IdentityUnavailable."""
        claims = await self._claims(
            logout_token, _LOGOUT_TYPES, iat={"essential": True}, exp={"essential": True}, jti={"essential": True}
        )
        subject, session, events = claims.get("sub"), claims.get("sid"), claims.get("events")
        named = [name for name in (subject, session) if name is not None]
        is_logout = isinstance(events, dict) and isinstance(events.get(_LOGOUT_EVENT), dict) and "nonce" not in claims
        if not is_logout or not named or not all(isinstance(n, str) and 0 < len(n) <= 255 for n in named):
            raise CredentialRejected
        until_s = self.now_ms() // 1000 + self.oidc.longest_s + 2 * self.oidc.leeway_s
        await asyncio.to_thread(
            self.ended.add, subject=subject, session=session, issued_s=claims["iat"], until_s=until_s
        )

    async def _claims(self, token: str, types: frozenset[str], **wanted: Any) -> Mapping[str, Any]:
        """The claims of a token of this issuer for this audience, whose signature and times hold."""
        if len(token) > _MOST_CHARS:
            raise CredentialRejected
        try:
            header = jws.extract_compact(token.encode("ascii")).headers()
            key_id, algorithm, kind = header.get("kid"), str(header.get("alg")), str(header.get("typ", "jwt"))
            accepted = algorithm in self.oidc.algorithms and kind.lower() in types
            # Extensions (`crit`) must be understood or the token refused (RFC 7515, 4.1.11); none is understood here.
            if not accepted or "crit" in header or not isinstance(key_id, str | None):
                raise CredentialRejected
            key = await self.keys.find(key_id, algorithm)
            if key is None:
                raise CredentialRejected
            claims = jwt.decode(token, key, algorithms=[algorithm]).claims
            jwt.JWTClaimsRegistry(
                now=self.now_ms() // 1000,
                leeway=self.oidc.leeway_s,
                iss={"essential": True, "value": self.oidc.issuer},
                aud={"essential": True, "value": self.oidc.audience},
                **wanted,
            ).validate(claims)
        except (JoseError, ValueError, TypeError, RecursionError) as exc:  # what anybody can write
            raise CredentialRejected from exc
        if not all(type(claims[name]) is int for name in ("iat", "exp") if name in claims):
            raise CredentialRejected
        return claims

    def _tenant(self, claims: Mapping[str, Any]) -> str:
        if self.oidc.tenant_claim is None:
            return self.oidc.tenant
        tenant = _at(claims, self.oidc.tenant_claim)
        if not isinstance(tenant, str) or not _NAME.fullmatch(tenant):
            raise CredentialRejected
        return tenant


def _names(claims: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """The names that a claim lists, sorted; one name may stand alone. Anything else in it rejects the token."""
    listed = _at(claims, path)
    if listed is None:
        return ()
    names = [listed] if isinstance(listed, str) else listed
    if not isinstance(names, list) or len(names) > _MOST_LISTED or not all(isinstance(name, str) for name in names):
        raise CredentialRejected
    return tuple(sorted(set(names)))


def _at(claims: Mapping[str, Any], path: str) -> object:
    """The value of a claim: of that whole name (`https://example.org/roles`), else along its dots."""
    if path in claims:
        return claims[path]
    found: object = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
