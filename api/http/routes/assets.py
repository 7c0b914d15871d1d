"""The files that the pages load: scripts, style and words, MapLibre, and the client of the API."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import Response

import api.web
from api.errors import NoSuchThing
from api.schemas.description.client import client_files

router = APIRouter(include_in_schema=False)
_WEB = Path(api.web.__file__).parent
_CLASSIC = ("verify.js", "leaf.js", "proof.js")
_TYPES: Mapping[str, str] = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}


@router.get("/embed.js")
async def embed() -> Response:
    """The elements for pages of other origins, at an address that stays."""
    return _script('export * from "./assets/embed.js";\n')


@router.get("/client.js")
async def client(request: Request) -> Response:
    """The client of the API, made from its description."""
    return _script(client_files(request.app.openapi())["client.js"])


@router.get("/client.d.ts")
async def client_types(request: Request) -> Response:
    """The types of the client."""
    return _script(client_files(request.app.openapi())["client.d.ts"], "text/plain")


def _script(text: str, media_type: str = "text/javascript") -> Response:
    return Response(text, media_type=media_type, headers={"cache-control": "public, no-cache"})


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that a page loads, as it is and compressed, with its entity tag."""

    data: bytes
    packed: bytes
    media_type: str
    etag: str


@router.get("/assets/{name:path}")
async def asset(name: str, request: Request) -> Response:
    """One of the files. A browser asks again each time, and gets it only when it has changed."""
    if name not in _paths():
        raise NoSuchThing("There is no such file.")
    found = _asset(name)
    headers = {"etag": found.etag, "cache-control": "public, no-cache", "vary": "accept-encoding"}
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, media_type=found.media_type, headers=headers | {"content-encoding": "gzip"})
    return Response(found.data, media_type=found.media_type, headers=headers)


@cache
def _paths() -> Mapping[str, Path]:
    """Every file that is served, by its name: nothing else can be named."""
    own = {path.name: path for path in (_WEB / "static").iterdir()} | {name: _WEB / name for name in _CLASSIC}
    vendored = {f"vendor/{path.name}": path for path in (_WEB / "vendor").iterdir()}
    return {name: path for name, path in (own | vendored).items() if path.suffix in _TYPES}


@cache
def _asset(name: str) -> Asset:
    path = _paths()[name]
    data = path.read_bytes()
    etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    return Asset(data, gzip.compress(data, 6, mtime=0), _TYPES[path.suffix], etag)
