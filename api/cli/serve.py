"""`exhibit serve`: the HTTP API."""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import configuration, note
from api.cli.options import Home
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

app = typer.Typer(help="Serve the HTTP API.", add_completion=False, rich_markup_mode=None)

_SWITCH_S = 0.001
"""For how long a thread that computes may keep the event loop waiting. Python's own 5 ms add up, since the loop waits
each time that it has read or written."""


@app.command()
def serve(
    *,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on (server.host).")] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="Port to listen on; 0 takes a free one (server.port).")
    ] = None,
    home: Home = None,
) -> None:
    """Serve until stopped. Beyond loopback only with API keys. The embedded default serves from one process."""
    configured = configuration(home, **{"server.host": host, "server.port": port})
    check_exposure(configured)
    from api.home.logs import configure_logging
    from api.http.admission.listener import listening, serve_until_stopped, url_of
    from api.http.app import create_app
    from api.wiring import require_corpus, trust_policy

    trust_policy(configured.settings)  # told here in one line, not by the server's log
    require_corpus(configured)
    server = configured.settings.server
    with listening(server.host, server.port) as listener:
        asyncio.run(_redact_again(configured))
        configure_logging(server.log_level)
        url = url_of(server.host, listener, tls=server.tls_certificate is not None)
        note(f"exhibit on {url}, documentation at /docs")
        note("the embedded stores are served by one process; several replicas need PostgreSQL")
        served = _ServedApp(create_app(configured))
        sys.setswitchinterval(_SWITCH_S)
        started = serve_until_stopped(served, listener, server)
    if not started:
        raise served.failure or typer.Exit(EXIT_FAILED)


class _ServedApp:
    """The application. Why it could not start is kept, to be told in one line as by any command, and not by the
    server's log, which would hold a stack."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.failure: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return

        async def quiet(message: Message) -> None:
            gc.collect()
            gc.freeze()  # what is open for good is not gone through again while questions are answered
            await send({"type": message["type"]} if message["type"] == "lifespan.startup.failed" else message)

        try:
            await self._app(scope, receive, quiet)
        except Exception as exc:
            self.failure = exc
            raise


async def _redact_again(configured: Any) -> None:
    """Erase again, before the first request, everything that the log says was erased, whatever a backup has brought
    back."""
    from api.audit.erasure.erasing import carry_out_again
    from api.home.backends import backends_of

    if not backends_of(configured).ledger.exists:
        return
    made = await carry_out_again(configured)
    if made:
        note(f"{len(made)} redactions were carried out again: a restored store had what was erased")


def check_exposure(configured: Any) -> None:
    """Raise ActionForbidden for an address beyond loopback while no usable API key exists."""
    from api.errors import ActionForbidden
    from api.home.identity.principal import is_loopback
    from api.wiring import key_store

    host = configured.settings.server.host
    if not is_loopback(host) and not key_store(configured).usable():
        raise ActionForbidden(
            f"{host} is not a loopback address and there is no API key; "
            "make one first: exhibit key create --name NAME --role ROLE"
        )
