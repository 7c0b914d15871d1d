"""`exhibit ledger witness`: a small witness for other logs (C2SP tlog-witness)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from api.cli.console import emit, note
from api.cli.options import AsJson
from api.problems import EXIT_FAILED

app = typer.Typer(
    help="A small witness for other logs.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
Folder = Annotated[Path, typer.Argument(help="Folder of the witness: its key and what it has seen.")]


@app.command()
def key(
    folder: Folder,
    *,
    name: Annotated[str, typer.Option("--name", help="Name of the witness, a URL without scheme.")],
    as_json: AsJson = False,
) -> None:
    """Make the witness's key in its folder and print the verifier key, for trust policies."""
    from ledger.witnesses.key import create_witness_key

    vkey = str(asyncio.run(create_witness_key(folder, name)).verifier)
    emit({"vkey": vkey}, as_json=as_json, render=lambda: vkey)


@app.command()
def serve(
    folder: Folder,
    *,
    log: Annotated[list[str], typer.Option("--log", help="Verifier key of a log to watch; repeatable.")],
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="Port; 0 takes a free one.")] = 8485,
) -> None:
    """Cosign the checkpoints of these logs until stopped; never two that contradict each other."""
    from api.home.logs import configure_logging
    from api.home.server import Server
    from api.http.admission.listener import listening, serve_until_stopped, url_of
    from api.http.witness import create_witness_app
    from ledger.notes.note import parse_vkey
    from ledger.witnesses.key import open_witness_key

    signer = asyncio.run(open_witness_key(folder))
    keys = [parse_vkey(each) for each in log]
    with listening(host, port) as listener:
        configure_logging("info")
        note(f"witness {signer.verifier}")
        note(f"submission prefix {url_of(host, listener)}")
        if not serve_until_stopped(
            create_witness_app(folder / "witness.sqlite", key=signer, logs=keys), listener, Server()
        ):
            raise typer.Exit(EXIT_FAILED)
