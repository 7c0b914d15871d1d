"""The way to a Neo4j server: its driver, bounded in time, and its faults as errors of a channel."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neo4j import AsyncDriver, AsyncGraphDatabase, NotificationMinimumSeverity
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from retrieval.errors import ChannelError, ChannelFault, ChannelTimeout, ChannelUnavailable
from retrieval.model import ChannelName

GONE = (ServiceUnavailable, SessionExpired, OSError)
_TIMED_OUT = "TransactionTimedOut"
_LOCKED_OUT = "AuthenticationRateLimit"  # what the server says of credentials that it refused a moment ago
_POOL = 16
_SCHEMES = frozenset(f"{name}{tls}" for name in ("bolt", "neo4j") for tls in ("", "+s", "+ssc"))
_VERIFIED = "+s"
_NO_ADDRESS = "the address of the graph server is not valid: bolt, neo4j, bolt+s or neo4j+s, and a host"


_EVERYTHING = (
    "MATCH (n) RETURN reduce(all = '', label IN labels(n) | all + ':' + label), properties(n)",
    "MATCH ()-[r]->() RETURN type(r), properties(r)",
)
_NO_AUTHORITIES = "the file of certificate authorities for the graph server cannot be used"
_NOT_VERIFIED = "certificate authorities for the graph server need an address with bolt+s or neo4j+s"


def driver_of(uri: str, user: str, password: str, *, ca_file: Path | None = None, deadline_s: float) -> AsyncDriver:
    """A driver that connects when it is first used and never waits longer than `deadline_s` for a connection. The
    scheme of the address says whether TLS is used (`bolt+s`, `neo4j+s`); `ca_file` (PEM) replaces the system's
    authorities. Raises ChannelUnavailable for an address or a file of authorities that is none."""
    if uri.partition("://")[0] not in _SCHEMES:  # the driver's HTTP transport is a preview
        raise ChannelUnavailable(ChannelName.GRAPH, _NO_ADDRESS)
    try:
        uri, trusted = _trusted(uri, ca_file)
        return AsyncGraphDatabase.driver(
            uri,
            auth=(user, password),
            connection_timeout=deadline_s,
            connection_acquisition_timeout=deadline_s,
            connection_write_timeout=deadline_s,
            max_transaction_retry_time=0,
            max_connection_pool_size=_POOL,
            notifications_min_severity=NotificationMinimumSeverity.OFF,
            telemetry_disabled=True,
            **trusted,
        )
    except (ConfigurationError, ValueError) as exc:
        raise ChannelUnavailable(ChannelName.GRAPH, _NO_ADDRESS) from exc


def _trusted(uri: str, ca_file: Path | None) -> tuple[str, dict[str, Any]]:
    """The address and the options of the driver, which takes authorities only beside an address that says nothing of
    TLS."""
    if ca_file is None:
        return uri, {}
    scheme, _, rest = uri.partition("://")
    if not scheme.endswith(_VERIFIED):
        raise ChannelUnavailable(ChannelName.GRAPH, _NOT_VERIFIED)
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as exc:
        raise ChannelUnavailable(ChannelName.GRAPH, _NO_AUTHORITIES) from exc
    return f"{scheme.removesuffix(_VERIFIED)}://{rest}", {"ssl_context": context, "encrypted": True}


async def every_property(driver: AsyncDriver) -> AsyncIterator[tuple[str, bytes]]:
    """Of every node and relationship its labels or type, and its properties: what a search for erased text reads.
    Raises ChannelError. The driver is closed at the end."""
    async with driver, driver.session() as session:
        for statement in _EVERYTHING:
            with faults():
                result = await session.run(statement)
                rows = [row async for row in result]
            for name, properties in rows:
                yield name, json.dumps(properties, ensure_ascii=False, default=str).encode()


@contextmanager
def faults() -> Iterator[None]:
    """Exceptions of the driver, as errors of the graph channel."""
    try:
        yield
    except TimeoutError as exc:
        raise ChannelTimeout(ChannelName.GRAPH, "the graph server did not answer in time") from exc
    except (Neo4jError, DriverError, OSError) as exc:
        raise error_of(exc) from exc


def error_of(exc: Exception) -> ChannelError:
    """The error of the channel for one of the driver; says no address and nothing that the server said."""
    if isinstance(exc, AuthError) or (isinstance(exc, Neo4jError) and _LOCKED_OUT in (exc.code or "")):
        return ChannelUnavailable(ChannelName.GRAPH, "the graph server refuses the credentials")
    if isinstance(exc, Neo4jError) and _TIMED_OUT in (exc.code or ""):
        return ChannelTimeout(ChannelName.GRAPH, "the graph server did not answer in time")
    if isinstance(exc, Neo4jError) and not isinstance(exc, TransientError):
        return ChannelFault(ChannelName.GRAPH, "the graph server could not carry out the search")
    return ChannelUnavailable(ChannelName.GRAPH, _unreached(exc))


def _unreached(exc: BaseException | None) -> str:
    while exc is not None:
        if isinstance(exc, ssl.SSLCertVerificationError):
            return "the certificate of the graph server cannot be verified"
        if isinstance(exc, ssl.SSLError):
            return "the connection to the graph server cannot be secured"
        exc = exc.__cause__ or exc.__context__
    return "the graph server cannot be reached"
