"""The way to a Neo4j server: its driver, bounded in time, and its faults as errors of a channel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
_NO_ADDRESS = "the address of the graph server is not valid: bolt, neo4j, bolt+s or neo4j+s, and a host"


def driver_of(uri: str, user: str, password: str, *, deadline_s: float) -> AsyncDriver:
    """A driver that connects when it is first used and never waits longer than `deadline_s` for a connection. The
    scheme of the address says whether TLS is used (`bolt+s`, `neo4j+s`). Raises ChannelUnavailable for an address that
    is none."""
    if uri.partition("://")[0] not in _SCHEMES:  # the driver's HTTP transport is a preview
        raise ChannelUnavailable(ChannelName.GRAPH, _NO_ADDRESS)
    try:
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
        )
    except (ConfigurationError, ValueError) as exc:
        raise ChannelUnavailable(ChannelName.GRAPH, _NO_ADDRESS) from exc


@contextmanager
def faults() -> Iterator[None]:
    """What the driver raises inside, as errors of the graph channel."""
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
    return ChannelUnavailable(ChannelName.GRAPH, "the graph server cannot be reached")
