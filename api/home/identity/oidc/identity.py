"""The caller that a token of the identity provider speaks for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenIdentity:
    """The identity behind a token. `subject` is the issuer's name for the caller; `expires_ms` is UTC."""

    subject: str
    tenant: str
    roles: tuple[str, ...]
    groups: tuple[str, ...]
    expires_ms: int
