"""`/docs` without the network: Swagger UI from the installed package, started by `static/reference.js`, under a
policy that allows nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from api.errors import NoSuchThing
from api.web.page import strings

router = APIRouter(include_in_schema=False)
_ASSETS = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="stylesheet" href="/assets/reference.css"></head>
<body><main id="ui" data-operations="{operations}"></main>
<script src="/docs/assets/swagger-ui-bundle.js"></script><script src="/assets/reference.js"></script>
<noscript>{noscript} <a href="/openapi.json">/openapi.json</a></noscript>
</body></html>
"""
# Swagger UI sets styles from its script, hence 'unsafe-inline' for styles alone.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@router.get("/docs")
async def page() -> HTMLResponse:
    """The page."""
    return HTMLResponse(_PAGE.format_map(vars(strings().docs)), headers={"content-security-policy": _POLICY})


@router.get("/docs/assets/{name}")
async def asset(name: str) -> Response:
    """One of its files."""
    if name not in _ASSETS:
        raise NoSuchThing("There is no such file.")
    content = (files("fastapi_offline") / "static" / name).read_bytes()
    return Response(content, media_type=_ASSETS[name], headers={"cache-control": "max-age=86400"})
