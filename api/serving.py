"""The address that a server listens at, and the server on it: an address that cannot be had is told before anything is
opened, in one line, and the port that was taken for 0 is known."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from api.errors import SettingsInvalid

_BACKLOG = 2048


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens there; of several addresses of a name the first of IPv4. Raises SettingsInvalid."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
        taken = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as exc:
        raise SettingsInvalid(f"{host}, port {port}, cannot be listened at: {exc.strerror}") from exc
    except UnicodeError as exc:
        raise SettingsInvalid(f"{host} is no address") from exc
    with taken:
        yield taken


def url_of(host: str, listener: socket.socket) -> str:
    """Where the socket is reached, under the name that was given."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def serve_until_stopped(app: Any, listener: socket.socket, **options: Any) -> bool:
    """Whether the application started; it is served until a signal stops it."""
    import uvicorn  # noqa: PLC0415 - commands that do not serve start without it

    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, **options)
    server = uvicorn.Server(config)
    with suppress(KeyboardInterrupt, SystemExit):  # with the latter it leaves where the application does not start
        server.run(sockets=[listener])
    return server.started
