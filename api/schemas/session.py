"""The wire format of signing in to the pages."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from api.schemas.answer import ClosedModel


class SignIn(ClosedModel):
    """Somebody signs in."""

    credential: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_192)] = Field(
        description="an API key, or a token of the identity provider",
        examples=["exk_3fa2b1c9d0e4_Zm9yIGV4YW1wbGUgb25seSwgb3BlbnMgbm90aGluZyE"],
    )


class SessionResponse(ClosedModel):
    """The caller's session: who is signed in, if anybody."""

    signed_in: bool = Field(default=False, description="whether somebody is", examples=[True])
    tenant: str | None = Field(default=None, description="the tenant that they belong to", examples=["default"])
    roles: list[str] = Field(default=[], description="their roles", examples=[["auditor"]])
    capabilities: list[str] = Field(
        default=[], description="what they may do beside asking", examples=[["ledger.audit", "trace"]]
    )
    expires_ms: int | None = Field(
        default=None, description="when the session ends by itself, UTC milliseconds", examples=[1795442831231]
    )
    csrf_token: str | None = Field(
        default=None,
        description="what requests of the session other than readings carry in `X-CSRF-Token`",
        examples=["5c1f7cbe9d0a4f0e8b2d6a3c9e1f7054a6b8c0d2e4f60718293a4b5c6d7e8f90"],
    )
