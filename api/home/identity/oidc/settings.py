"""Settings of the identity provider whose tokens are accepted beside API keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from api.home.stores import DeadlineMs, Section, comma_separated

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def _read_address(value: str) -> str:
    """An address whose answers can be believed: https, or http on this machine."""
    parts = urlsplit(value)
    encrypted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not encrypted or not parts.hostname or parts.query or parts.fragment or parts.username is not None:
        raise ValueError("addresses are https://host/path, without a query or user; http only on this machine")
    return value


Address = Annotated[str, AfterValidator(_read_address)]
# Asymmetric ones alone: with a symmetric one everybody who can check a token could make one.
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA"]
Algorithms = Annotated[tuple[Algorithm, ...], BeforeValidator(comma_separated), Field(min_length=1)]
Claim = Annotated[str, Field(min_length=1, max_length=200)]
Seconds = Annotated[int, Field(ge=1, le=604_800)]


class Oidc(Section):
    """An identity provider (OpenID Connect, or any issuer of JSON Web Tokens with published keys)."""

    issuer: Address = Field(description="the issuer, exactly as its tokens name it in `iss`")
    audience: Annotated[str, Field(min_length=1, max_length=400)] = Field(
        description="the name of this server in the tokens' `aud`"
    )
    jwks_url: Address | None = Field(
        default=None, description="where the issuer publishes its keys; unset: as its discovery document says"
    )
    algorithms: Algorithms = Field(default=("RS256", "ES256"), description="signature algorithms that are accepted")
    ca_file: Path | None = Field(
        default=None, description="certificate authorities (PEM) of the issuer; unset: the system's"
    )
    timeout_ms: DeadlineMs = Field(default=5_000, description="longest wait for the issuer's keys")
    keys_s: Seconds = Field(default=600, description="how long the issuer's keys are used before they are read again")
    leeway_s: Annotated[int, Field(ge=0, le=300)] = Field(default=30, description="how far the two clocks may differ")
    longest_s: Seconds = Field(default=86_400, description="longest life of a token, from `iat` to `exp`")
    tenant: Claim = Field(default="default", description="tenant of the callers where `tenant_claim` is unset")
    tenant_claim: Claim | None = Field(
        default=None, description="claim that names the tenant; a token without it is refused"
    )
    roles_claim: Claim = Field(default="roles", description="claim that lists roles; a dot leads into an object")
    groups_claim: Claim = Field(default="groups", description="claim that lists groups; a dot leads into an object")
    roles: Mapping[str, str] = Field(
        default={},
        description="roles here by the values of the roles' claim; a value that is not listed gives none",
    )
