"""`exhibit serve`: the HTTP API."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from api.cli.console import configuration, note
from api.cli.options import Home

app = typer.Typer(help="Serve the HTTP API.", add_completion=False, rich_markup_mode=None)


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
    import uvicorn

    from api.app import create_app
    from api.logs import configure_logging
    from api.wiring import trust_policy

    trust_policy(configured.settings)  # told here in one line, not by the server's log
    asyncio.run(_redact_again(configured))
    server = configured.settings.server
    configure_logging(server.log_level)
    note(f"exhibit on http://{server.host}:{server.port or '(a free port)'}, documentation at /docs")
    note("the embedded stores are served by one process; several replicas need PostgreSQL")
    uvicorn.run(
        create_app(configured),
        host=server.host,
        port=server.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=10,
    )


async def _redact_again(configured: Any) -> None:
    """What the log says was erased is gone before the first request, whatever a backup has brought back."""
    from api.backends import backends_of
    from api.erasing import carry_out_again

    if not backends_of(configured).ledger.exists:
        return
    made = await carry_out_again(configured)
    if made:
        note(f"{len(made)} redactions were carried out again: a restored store had what was erased")


def check_exposure(configured: Any) -> None:
    """Raise ActionForbidden for an address beyond loopback while no usable API key exists."""
    from api.errors import ActionForbidden
    from api.principal import is_loopback
    from api.wiring import key_store

    host = configured.settings.server.host
    if not is_loopback(host) and not key_store(configured).usable():
        raise ActionForbidden(
            f"{host} is not a loopback address and there is no API key; "
            "make one first: exhibit key create --name NAME --role ROLE"
        )
