"""Who is counted as one caller by their address, and headers that have two values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from api.errors import MalformedBody, RateLimited
from api.home.server import Rates, Server
from api.http.admission.middleware import ONCE, Admission
from api.http.admission.rates import RateLimits

pytestmark = pytest.mark.asyncio
KEY = (b"x-api-key", b"k")


def admission() -> Admission:
    rates = Rates(address="2/minute")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        del scope, receive, send

    return Admission(app, server=Server(rates=rates), rates=RateLimits(rates))


async def ask(
    admitting: Admission, address: str = "203.0.113.9", headers: Sequence[tuple[bytes, bytes]] = (KEY,)
) -> None:
    async def never(*_: Any) -> Any:
        raise AssertionError

    scope = {"type": "http", "path": "/api/v1/corpus", "client": (address, 50_000), "headers": list(headers)}
    await admitting(scope, never, never)


@pytest.mark.parametrize(
    "addresses",
    [
        ("203.0.113.9",) * 3,
        ("2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff:ffff:ffff:ffff"),
        ("2001:db8:1:2::1", "2001:0DB8:1:2:0::1", "2001:db8:1:2::1"),
        ("203.0.113.9", "::ffff:203.0.113.9", "::ffff:cb00:7109"),
        ("fe80::1%eth0", "fe80::2%eth0", "fe80::3%eth0"),
        ("a socket", "a socket", "a socket"),
    ],
)
async def test_addresses_of_one_caller_have_one_rate(addresses: tuple[str, str, str]) -> None:
    """Whoever has one address of IPv6 has its whole network of 64 bits."""
    admitting = admission()
    for address in addresses[:2]:
        await ask(admitting, address)
    with pytest.raises(RateLimited):
        await ask(admitting, addresses[2])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("203.0.113.9", "203.0.113.10"),
        ("2001:db8:1:2::1", "2001:db8:1:3::1"),
        ("::ffff:203.0.113.9", "::ffff:203.0.113.10"),
        ("::ffff:203.0.113.9", "::cb00:7109"),
        ("a socket", "another"),
    ],
)
async def test_addresses_of_two_callers_have_two(one: str, other: str) -> None:
    admitting = admission()
    for address in (one, other, one, other):
        await ask(admitting, address)


@pytest.mark.parametrize("name", sorted(ONCE))
async def test_a_header_that_says_two_things_is_refused(name: bytes) -> None:
    """One layer reads the first, another the last."""
    for values in ((b"a", b"b"), (b"a", b""), (b"a", b"a", b"b")):
        with pytest.raises(MalformedBody):
            await ask(admission(), headers=[KEY, *((name, value) for value in values)])
    await ask(admission(), headers=[KEY, (name, b"a"), (name, b"a")])
    await ask(admission(), headers=[KEY, (name, b"a")])


async def test_headers_that_may_be_lists_may_come_twice() -> None:
    for name in (b"accept", b"cookie", b"x-forwarded-for", b"cache-control"):
        await ask(admission(), headers=[KEY, (name, b"a"), (name, b"b")])


async def test_what_must_come_once_is_what_is_read_as_one_value() -> None:
    assert {b"content-type", b"host", b"idempotency-key", b"origin", b"x-csrf-token"} <= ONCE
