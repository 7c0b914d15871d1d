"""Settings of the HTTP server: where it listens, who may speak to it, and how much work it takes on."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from api.home.identity.oidc.settings import Oidc
from api.home.stores import DeadlineMs, Section, comma_separated

# An origin as browsers send it: lower case, no path, no wildcard.
_ORIGIN = re.compile(r"https?://(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::[0-9]{1,5})?")


def _origins(value: object) -> tuple[str, ...]:
    """Origins from a list, or from one text, as the environment has it."""
    listed = value.split() if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(o, str) and _ORIGIN.fullmatch(o) for o in listed):
        raise ValueError("origins are written https://host or https://host:port, in lower case, without a wildcard")
    return tuple(listed)


def _read_rate(value: str) -> str | None:
    """A rate that the limiter can read; None for an empty one."""
    from limits import parse  # noqa: PLC0415  which only servers need

    if not value.strip():
        return None
    try:
        parse(value)
    except ValueError:
        raise ValueError("not a rate, such as 600/minute") from None
    return value


Rate = Annotated[str, AfterValidator(_read_rate)]
HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9.:/\[\]-]{1,255}$")]
HostNames = Annotated[tuple[HostName, ...], BeforeValidator(comma_separated)]


class Rates(Section):
    """Requests that one caller may make, as `COUNT/second`, `/minute`, `/hour` or `/day`; an empty value sets no limit.
    Callers on loopback without a key are not counted."""

    address: Rate | None = Field(default="1200/minute", description="requests of one address, before its key is read")
    principal: Rate | None = Field(default="600/minute", description="requests of one key")
    tenant: Rate | None = Field(default=None, description="requests of all keys of one tenant; unset: no limit")


class Admission(Section):
    """Bounds on work and time, per process."""

    deadline_ms: DeadlineMs = Field(default=120_000, description="longest time for one request, its wait included")
    head_ms: DeadlineMs = Field(default=10_000, description="longest time for the head of a request to arrive")
    body_ms: DeadlineMs = Field(default=30_000, description="longest time for the body of a request to arrive")
    idle_ms: DeadlineMs = Field(default=5_000, description="longest time that a connection is kept without a request")
    connections: Annotated[int, Field(ge=1, le=100_000)] = Field(default=2_000, description="connections at one time")
    questions: Annotated[int, Field(ge=1, le=1_000)] = Field(
        default=8, description="questions that always run at one time"
    )
    most_questions: Annotated[int, Field(ge=1, le=1_000)] = Field(
        default=64, description="questions that run at one time while the process has processor time to spare"
    )
    waiting: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=512, description="questions that may wait for their turn; one more is refused"
    )


class Server(Section):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="address to listen on; beyond loopback only with API keys")
    port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        default=8484, description="port to listen on; 0 takes a free one"
    )
    require_key: bool = Field(
        default=False, description="refuse callers without a key on loopback too, as behind a proxy on the same host"
    )
    allowed_hosts: HostNames = Field(
        default=(), description="names that the Host header may have; empty: any, and without a key loopback names"
    )
    cors_origins: Annotated[tuple[str, ...], BeforeValidator(_origins)] = Field(
        default=(), description="origins whose pages may call the API from a browser, separated by spaces; empty: none"
    )
    trusted_proxies: HostNames = Field(
        default=(), description="addresses whose X-Forwarded-For and X-Forwarded-Proto are believed"
    )
    tls_certificate: str | None = Field(
        default=None, min_length=1, description="certificate chain (PEM) to serve HTTPS with; unset: HTTP"
    )
    tls_key: str | None = Field(default=None, min_length=1, description="private key (PEM) of the certificate")
    oidc: Oidc | None = Field(
        default=None, description="identity provider whose tokens are accepted; unset: API keys alone"
    )
    body_bytes: Annotated[int, Field(ge=1_024, le=16_777_216)] = Field(
        default=262_144, description="largest request body"
    )
    rates: Rates = Field(default=Rates(), description="requests per caller")
    admission: Admission = Field(default=Admission(), description="bounds on work and time")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="lowest severity that is logged"
    )
