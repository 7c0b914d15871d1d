"""The way to an OpenSearch server: its client, bounded in time, and its faults as errors of the full-text channel."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import (
    AuthorizationException,
    ConnectionError,
    ConnectionTimeout,
    OpenSearchException,
    TransportError,
)

from retrieval.errors import ChannelError, ChannelFault, ChannelTimeout, ChannelUnavailable
from retrieval.fulltext.opensearch_reply import of_status
from retrieval.model import ChannelName

OLDEST = 2  # major version: the first with all that is asked of it
GONE = (ConnectionError,)
_CONNECTIONS = 16
_PORT = 9200
_PAGE, _KEPT_OPEN = 500, "2m"
_UNREADABLE = "the full-text server gave an answer that cannot be read"
_NO_ADDRESS = "the address of the full-text server is not valid: http or https, and a host, without query or fragment"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens, who may enter, and which authorities (PEM file) sign its certificate; None: the
    system's."""

    host: str
    port: int
    tls: bool
    path: str = ""
    user: str | None = None
    password: str = field(default="", repr=False)
    ca_file: Path | None = None

    @classmethod
    def parse(cls, url: str, *, ca_file: Path | None = None) -> Self:
        """`http[s]://[user:password@]host[:port][/path]`; user and password percent-encoded, the port 9200 unless it
        is given. Raises ChannelUnavailable, which does not repeat the address."""
        try:
            parts = urlsplit(url)
            port = parts.port or _PORT
        except ValueError as exc:
            raise ChannelUnavailable(ChannelName.FULLTEXT, _NO_ADDRESS) from exc
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ChannelUnavailable(ChannelName.FULLTEXT, _NO_ADDRESS)
        user = None if parts.username is None else unquote(parts.username)
        password, path = unquote(parts.password or ""), parts.path.rstrip("/")
        return cls(parts.hostname, port, parts.scheme == "https", path, user, password, ca_file)


def client_of(address: Address, *, deadline_s: float) -> AsyncOpenSearch:
    """A client that connects when it is first used, waits at most `deadline_s` for an answer and never asks twice by
    itself. Certificate and host name are always checked. Raises ChannelUnavailable for a file that holds no
    authorities."""
    return AsyncOpenSearch(
        hosts=[{"host": address.host, "port": address.port, "url_prefix": address.path}],
        http_auth=None if address.user is None else (address.user, address.password),
        use_ssl=address.tls,
        ssl_context=_authorities(address.ca_file) if address.tls else None,
        timeout=deadline_s,
        max_retries=0,
        maxsize=_CONNECTIONS,
    )


def _authorities(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as exc:
        told = "the file of certificate authorities for the full-text server cannot be used"
        raise ChannelUnavailable(ChannelName.FULLTEXT, told) from exc


async def check_server(client: AsyncOpenSearch) -> int | None:
    """The server's major version. Raises ChannelUnavailable where something else than OpenSearch 2 or newer answers. A
    user who may not ask for the version is let through (None): what is asked of the server next will tell."""
    try:
        told = await client.info()
    except AuthorizationException:
        return None
    version = told.get("version") if isinstance(told, Mapping) else None
    number = version.get("number") if isinstance(version, Mapping) else None
    if not isinstance(version, Mapping) or not isinstance(number, str):
        raise ChannelFault(ChannelName.FULLTEXT, "what answers is not a full-text server")
    major = re.match(r"[0-9]{1,3}(?=\.)", number, re.ASCII)
    if version.get("distribution") != "opensearch" or major is None or int(major[0]) < OLDEST:
        told_version = f"OpenSearch {OLDEST} or newer is needed; the full-text server is of another kind or version"
        raise ChannelUnavailable(ChannelName.FULLTEXT, told_version)
    return int(major[0])


async def every_document(address: Address, pattern: str, *, deadline_s: float) -> AsyncIterator[tuple[str, bytes]]:
    """The index and the source of every document in the indexes of that pattern: what a search for erased text reads.
    Raises ChannelError."""
    client = client_of(address, deadline_s=deadline_s)
    try:
        with faults():
            found = await client.search(
                index=pattern, scroll=_KEPT_OPEN, size=_PAGE, body={"sort": ["_doc"]}, ignore_unavailable=True
            )
        while hits := found["hits"]["hits"]:
            for hit in hits:
                yield hit["_index"], json.dumps(hit["_source"], ensure_ascii=False).encode()
            with faults():
                found = await client.scroll(scroll_id=found["_scroll_id"], scroll=_KEPT_OPEN)
        with faults():
            await client.clear_scroll(scroll_id=found["_scroll_id"])
    finally:
        await client.close()


@contextmanager
def faults() -> Iterator[None]:
    """Exceptions of the client, as errors of the full-text channel."""
    try:
        yield
    except TimeoutError as exc:
        raise ChannelTimeout(ChannelName.FULLTEXT, "the full-text server did not answer in time") from exc
    except OpenSearchException as exc:
        raise error_of(exc) from exc
    except OSError as exc:
        raise ChannelUnavailable(ChannelName.FULLTEXT, "the full-text server cannot be reached") from exc
    except RecursionError as exc:  # JSON deeper than any reply
        raise ChannelFault(ChannelName.FULLTEXT, _UNREADABLE) from exc


def error_of(exc: OpenSearchException) -> ChannelError:
    """The error of the channel for one of the client; says no address and nothing that the server said."""
    if isinstance(exc, ConnectionTimeout):
        return ChannelTimeout(ChannelName.FULLTEXT, "the full-text server did not answer in time")
    if isinstance(exc, ConnectionError) and isinstance(exc.info, UnicodeError):
        return ChannelFault(ChannelName.FULLTEXT, _UNREADABLE)
    if isinstance(exc, ConnectionError):
        return ChannelUnavailable(ChannelName.FULLTEXT, _unreached(exc))
    if isinstance(exc, TransportError):
        return of_status(exc.status_code if isinstance(exc.status_code, int) else 0)
    return ChannelFault(ChannelName.FULLTEXT, _UNREADABLE)


def _unreached(exc: ConnectionError) -> str:
    kind = type(exc.info).__name__
    if "Certificate" in kind:
        return "the certificate of the full-text server cannot be verified"
    if "SSL" in kind:
        return "the connection to the full-text server cannot be secured"
    return "the full-text server cannot be reached"
