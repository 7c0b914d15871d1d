"""`/api/v1/identity/logout`: the identity provider ends sessions (OpenID Connect Back-Channel Logout 1.0)."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.errors import CredentialRejected, MalformedBody, NoSuchThing
from api.home.identity.oidc.tokens import TokenReader
from api.schemas.errors import errors

router = APIRouter(prefix="/api/v1/identity", tags=["identity"])
LOGOUT = "/api/v1/identity/logout"
_FORM = {
    "type": "object",
    "required": ["logout_token"],
    "properties": {
        "logout_token": {"type": "string", "description": "The logout token, signed by the identity provider."}
    },
}


@router.post(
    "/logout",
    operation_id="endSession",
    summary="Back-channel logout of the identity provider",
    response_model=None,
    responses=errors(400, 404, 408, 413, 415, 503),
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": _FORM}}}
    },
)
async def logout(request: Request) -> Response:
    """End the sessions that a logout token names: their tokens are refused from the next request on."""
    reader: TokenReader | None = request.app.state.tokens
    if reader is None:
        raise NoSuchThing("No identity provider is set.")
    try:
        form = parse_qs((await request.body()).decode("ascii"), strict_parsing=True, max_num_fields=16)
        [token] = form["logout_token"]
    except (ValueError, KeyError):
        raise MalformedBody("The form holds no logout token.") from None
    try:
        await reader.end_session(token)
    except CredentialRejected:
        raise MalformedBody("The logout token is not valid.") from None
    return Response(headers={"cache-control": "no-store"})
