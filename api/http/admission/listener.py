"""The address that a server listens at, and the server on it: an address that cannot be had is told before anything is
opened, in one line, and the port that was taken for 0 is known."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from api.errors import SettingsInvalid
from api.home.server import Server

_BACKLOG = 2048
_GRACE_S = 10


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens there; of several addresses of a name the first of IPv4. Raises SettingsInvalid."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
        taken = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as exc:
        raise SettingsInvalid(f"cannot listen on {host}, port {port}: {exc.strerror}") from exc
    except UnicodeError as exc:
        raise SettingsInvalid(f"{host} is not an address") from exc
    with taken:
        # Inherited by what is accepted. The event loop sets it for sockets that name their protocol, which this one
        # does not; without it the body of an answer waits 40 ms for the acknowledgement of its head.
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield taken


def url_of(host: str, listener: socket.socket, *, tls: bool = False) -> str:
    """Where the socket is reached, under the name that was given."""
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def serve_until_stopped(app: Any, listener: socket.socket, server_settings: Server) -> bool:
    """Serve the application until a signal stops it; False if it did not start. Raises SettingsInvalid for a
    certificate that cannot be used."""
    import uvicorn  # noqa: PLC0415 - commands that do not serve start without it

    from api.http.admission.connections import HEAD_BYTES, bounded_protocol  # noqa: PLC0415
    from api.wiring import new_id  # noqa: PLC0415

    config = uvicorn.Config(
        app,
        http=bounded_protocol(server_settings.admission, new_id),
        ws="none",
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_keep_alive=max(1, server_settings.admission.idle_ms // 1000),
        timeout_graceful_shutdown=_GRACE_S,
        # Who is behind a proxy is believed of the proxies that are named, of nobody else.
        proxy_headers=bool(server_settings.trusted_proxies),
        forwarded_allow_ips=list(server_settings.trusted_proxies),
        ssl_certfile=server_settings.tls_certificate,
        ssl_keyfile=server_settings.tls_key,
        log_config=None,
        access_log=False,
        server_header=False,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as exc:
        raise SettingsInvalid(f"the certificate or its key cannot be used: {exc.strerror or exc}") from exc
    server = uvicorn.Server(config)
    with suppress(KeyboardInterrupt, SystemExit):  # with the latter it leaves where the application does not start
        server.run(sockets=[listener])
    return server.started
