"""The HTTP side of a witness (C2SP tlog-witness): one endpoint, no authentication beyond the log's signature."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.wiring import open_witness
from ledger.errors import LedgerUnavailable
from ledger.notes.note import Signer, VerifierKey

MAX_BODY_BYTES = 256 * 1024


def create_witness_app(path: Path, *, key: Signer, logs: Sequence[VerifierKey]) -> Starlette:
    """The application of a witness whose state is at `path`, for these logs' keys. The lifespan opens and closes it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        witness = await open_witness(path, key=key, logs=logs)
        app.state.witness, app.state.key = witness, key
        yield
        await witness.aclose()

    routes = [Route("/add-checkpoint", _add_checkpoint, methods=["POST"]), Route("/vkey", _vkey)]
    return Starlette(routes=routes, lifespan=lifespan)


async def _vkey(request: Request) -> Response:
    """The witness's verifier key, for trust policies."""
    return Response(f"{request.app.state.key.verifier}\n", media_type="text/plain")


async def _add_checkpoint(request: Request) -> Response:
    """See ledger.witness: the reply of the witness as it is."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return Response("the request is too large\n", 413, media_type="text/plain")
    try:
        reply = await request.app.state.witness.add_checkpoint(body.decode("utf-8"))
    except UnicodeDecodeError:
        return Response("not UTF-8\n", 400, media_type="text/plain")
    except LedgerUnavailable:
        return Response("the witness cannot record what it sees\n", 503, media_type="text/plain")
    return Response(reply.body, reply.status, headers={"content-type": reply.content_type})
