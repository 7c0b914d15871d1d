"""Admission of requests: the Host header, the rate of an address, a slot for a question, and one deadline for all.

Plain ASGI. Probes pass at once. A refusal is raised, and the outermost layer answers it with the one error body.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable, Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import MalformedBody, RequestTimeout
from api.home.identity.principal import host_of, is_loopback
from api.home.server import Server
from api.http.admission.rates import RateLimits
from api.http.admission.slots import ProcessorShare, Slots
from api.http.admission.work import Work, work_of

ONCE = frozenset(
    {
        b"host",
        b"content-type",
        b"content-encoding",
        b"idempotency-key",
        b"last-event-id",
        b"origin",
        b"sec-fetch-site",
        b"x-csrf-token",
        b"upload-length",
        b"upload-offset",
        b"upload-metadata",
        b"tus-resumable",
    }
)
"""Headers of one value, of which one layer could read the first and another the last."""
_NETWORK_BITS = 64


class Admission:
    """Lets a request in, or raises: MalformedBody for another Host and for a header that has two values, RateLimited,
    Overloaded, and RequestTimeout for one whose work took too long, which is cancelled."""

    def __init__(self, app: ASGIApp, *, server: Server, rates: RateLimits) -> None:
        self._app = app
        self._hosts = frozenset(name.lower() for name in server.allowed_hosts)
        self._deadline_s = server.admission.deadline_ms / 1000
        self._rates = rates
        self._slots = Slots(
            always=server.admission.questions,
            most=max(server.admission.questions, server.admission.most_questions),
            waiting=server.admission.waiting,
            busy=ProcessorShare().busy,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        work = work_of(scope["path"])
        if work is not Work.PROBE:
            headers = dict(scope["headers"])
            _check_once(scope["headers"])
            self._check_host(headers)
            self._count_address(scope, headers)
        deadline = asyncio.timeout(self._deadline_s)
        try:
            async with deadline:
                if work is Work.QUESTION:
                    async with self._slots.hold():
                        await self._app(scope, receive, send)
                else:
                    await self._app(scope, receive, send)
        except TimeoutError as exc:
            if not deadline.expired():
                raise
            raise RequestTimeout("The request took longer than it may.") from exc

    def _check_host(self, headers: Mapping[bytes, bytes]) -> None:
        host = host_of(headers.get(b"host", b"").decode("latin-1"))
        if self._hosts and (host or "").lower() not in self._hosts:
            raise MalformedBody("The Host header names another server.")

    def _count_address(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        address = scope["client"][0] if scope.get("client") else "unknown"
        if is_loopback(address) and b"authorization" not in headers and b"x-api-key" not in headers:
            return
        quota = self._rates.count("address", caller_at(address))
        if quota is not None:
            scope.setdefault("state", {})["quota"] = quota


def caller_at(address: str) -> str:
    """The address that counts as one caller: an address of IPv4, also where it is written as one of IPv6; of IPv6 the
    network of 64 bits, since the holder of one of its addresses has all of them."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # a socket without addresses
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found) >> _NETWORK_BITS << _NETWORK_BITS, _NETWORK_BITS)))


def _check_once(headers: Iterable[tuple[bytes, bytes]]) -> None:
    values: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in ONCE and values.setdefault(name, value) != value:
            raise MalformedBody(f"The header {name.decode()} has two values.")
