"""The management side of an OPA server, by its client package: what it says of itself, for whoever runs it.

Nothing is decided by this: decisions go through `policy.opa.server`, over a connection that keeps one deadline and
repeats nothing. See ADR 0006 for what the package is used for, and what not.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from policy.data import DATA_PATH

TIMEOUT_S = 5.0
_PACKAGE = "kfm.ai"
_CITED, _UNCITED = "The fort was built in 1827 [1].", "The fort was built in 1827."
_DATA = DATA_PATH.removesuffix("/data.json")


@dataclass(frozen=True, slots=True)
class OpaState:
    """The server's answers. None: it withholds one from this token, or cannot be asked.

    `healthy`: it runs and its bundles are active. `policies`: the ids of its modules. `same_data`: its configuration is
    that of the bundle. `allow_answer`: requirement 003's rule lets a text with a citation out and holds one without.
    """

    healthy: bool
    policies: tuple[str, ...] | None
    same_data: bool | None
    allow_answer: bool | None


async def state_of(url: str, *, token: str | None, data: Any) -> OpaState | None:
    """The state of the server at a plain `http://host:port`; `data` is the bundle's configuration. None for an address
    that the package cannot ask: it knows no sockets, no paths and no authorities but the system's."""
    from opa_client.opa_async import AsyncOpaClient  # noqa: PLC0415  0.3 s, for one command

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.hostname is None or parts.path.strip("/"):
        return None
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    asked = AsyncOpaClient(parts.hostname, port, ssl=secure, token=token, retries=0, timeout=TIMEOUT_S)
    async with asked as client:
        if not await client.check_health({"bundles": True}):
            return OpaState(healthy=False, policies=None, same_data=None, allow_answer=None)
        policies = await _said(client.get_policies_list())
        found = await _said(client.get_data(_DATA))
        allowed = [
            await _said(client.query_rule({"answer": text}, _PACKAGE, "allow_answer")) for text in (_CITED, _UNCITED)
        ]
        return OpaState(
            healthy=True,
            policies=None if policies is None else tuple(sorted(policies)),
            same_data=None if found is None else found["result"] == data,
            allow_answer=None if None in allowed else [each.get("result") for each in allowed] == [True, False],
        )


async def _said(call: Awaitable[Any]) -> Any:
    """The server's answer, or None where it refuses: the token of decisions opens the entry points alone."""
    from aiohttp import ClientError  # noqa: PLC0415
    from opa_client.errors import PolicyNotFoundError  # noqa: PLC0415

    try:
        return await call
    except (ClientError, PolicyNotFoundError, TimeoutError, ValueError):
        return None
