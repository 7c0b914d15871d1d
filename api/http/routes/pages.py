"""The pages for people, and the files that they load. A page holds nothing of the corpus: its scripts read the public
API with the key of whoever opened it."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import HTMLResponse, Response

import api.web
from api.errors import NoSuchThing
from api.http.routes.page_twins import TWINS
from api.problems import Problem
from api.schemas.description.client import client_files
from api.web.log_page import FORMS
from api.web.page import page, strings
from ledger.model import Kind
from policy.model import Point

router = APIRouter(include_in_schema=False)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_WEB = FilePath(api.web.__file__).parent
_ENTRY = r"^[0-9a-f-]{36}$"
_CLASSIC = ("verify.js", "leaf.js", "proof.js")
_TYPES: Mapping[str, str] = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_NAV: Mapping[str, str] = {"/": "ask", "/audit": "audit", "/policy": "policy", "/corpus": "corpus"}


@router.get("/")
async def ask() -> HTMLResponse:
    """Ask on the map."""
    return _page("/", "ask", layout="ask", forms=FORMS)


@router.get("/audit")
async def audit() -> HTMLResponse:
    """Search the ledger."""
    return _page("/audit", "audit", layout="columns", kinds=[str(kind) for kind in Kind])


@router.get("/audit/compare")
async def compare() -> HTMLResponse:
    """Two entries beside each other."""
    return _page("/audit", "compare", layout="record", path="/audit/compare")


@router.get("/audit/changes")
async def changes() -> HTMLResponse:
    """Since when a question is answered differently."""
    return _page("/audit", "changes", layout="record", path="/audit/changes")


@router.get("/audit/{entry_id}")
async def entry(entry_id: Annotated[str, Path(pattern=_ENTRY)]) -> HTMLResponse:
    """One entry: its page says no more than the id, whether there is such an entry or not."""
    return _page("/audit", "entry", layout="record", path="/audit/{entry_id}", entry_id=entry_id, forms=FORMS)


@router.get("/evidence/{document_id}")
async def piece(document_id: str) -> HTMLResponse:
    """A piece of evidence: its page is the same for every document, whether there is such a document or not."""
    return _page("", "piece", layout="record")


@router.get("/corpus")
async def corpus() -> HTMLResponse:
    """Sources, labels and ingest runs."""
    return _page("/corpus", "corpus", layout="wide")


@router.get("/policy")
async def policy() -> HTMLResponse:
    """The policy in force, and candidates."""
    return _page("/policy", "policy", layout="wide", points=[str(point) for point in Point])


def _page(here: str, name: str, *, layout: str, path: str | None = None, **values: Any) -> HTMLResponse:
    """A page below `here` of the navigation; `path` is its own where it is another."""
    words = strings()
    nav = [(path, getattr(words.site, each)) for path, each in _NAV.items()]
    title = getattr(words, name).title
    twins = [each.format_map(values) for each in TWINS.get(path or here, ())]
    html = page(f"{name}.html.j2", title=title, layout=layout, here=here, nav=nav, twins=twins, **values)
    return HTMLResponse(html, headers={"content-security-policy": POLICY, "cache-control": "no-cache"})


def problem_page(problem: Problem, request_id: str, headers: Mapping[str, str]) -> HTMLResponse:
    """A failed request, told to a person: what its JSON says."""
    found = _page("", "problem", layout="record", problem=problem, request_id=request_id)
    found.status_code = problem.status
    found.headers.update({**headers, "vary": "accept"})
    return found


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
def _paths() -> Mapping[str, FilePath]:
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
