"""The asker over HTTP: an API key, a token of the identity provider, or nobody in particular on loopback."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from api.errors import ActionForbidden, CredentialRejected
from api.home.identity.keys import ApiKey
from api.home.identity.oidc.identity import TokenIdentity
from policy.data import PolicyData
from policy.model import Subject

DEFAULT_TENANT = "default"
PUBLIC_ROLE = "public_viewer"
LOCAL_ID = "local"
ANONYMOUS_ID = "anonymous"
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,255})(?::[0-9]{0,5})?")


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller over HTTP. `loopback` says whether the connection came from this machine."""

    subject: Subject
    loopback: bool

    def may(self, capability: str) -> bool:
        """True if the caller has the capability."""
        return capability in self.subject.capabilities

    def require(self, capability: str) -> None:
        """Raise ActionForbidden unless the caller has the capability."""
        if not self.may(capability):
            raise ActionForbidden(f"This needs the capability {capability}.")


def token_of(headers: Iterable[tuple[str, str]]) -> str | None:
    """The API key or token in `Authorization: Bearer` or `X-API-Key`, whose names are in lower case and may occur more
    than once. Raises CredentialRejected for another scheme, or two that differ."""
    tokens = set()
    for name, value in headers:
        if name == "authorization":
            scheme, _, token = value.partition(" ")
            if scheme.lower() != "bearer":
                raise CredentialRejected
            tokens.add(token.strip())
        elif name == "x-api-key":
            tokens.add(value.strip())
    if len(tokens) > 1:
        raise CredentialRejected
    return tokens.pop() if tokens else None


def subject_of_key(key: ApiKey, data: PolicyData) -> Subject:
    """The subject that a key stands for, with today's roles and clearances."""
    return Subject.of(
        id=f"key:{key.key_id}",
        tenant=key.tenant,
        roles=key.roles,
        data=data,
        groups=key.groups,
        extra_capabilities=key.capabilities,
        session_expires_ms=key.expires_ms,
    )


def subject_of_token(identity: TokenIdentity, data: PolicyData) -> Subject:
    """The subject that a token of the identity provider stands for, with today's roles and clearances; one without a
    known role has the public viewer's."""
    return Subject.of(
        id=f"oidc:{identity.subject}",
        tenant=identity.tenant,
        roles=identity.roles or (PUBLIC_ROLE,),
        data=data,
        groups=identity.groups,
        session_expires_ms=identity.expires_ms,
    )


def public_subject(data: PolicyData) -> Subject:
    """Nobody in particular: the public viewer of the default tenant."""
    return Subject.of(id=ANONYMOUS_ID, tenant=DEFAULT_TENANT, roles=(PUBLIC_ROLE,), data=data)


def is_loopback(host: str | None) -> bool:
    """True if an address or host name is this machine's own."""
    if host is None:
        return False
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_of(header: str | None) -> str | None:
    """The host of a `Host` header, without its port; None for what is no host with a port or without."""
    found = _HOST.fullmatch(header or "")
    return found[1] if found else None
