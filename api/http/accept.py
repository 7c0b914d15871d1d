"""The callers who are answered in HTML: people in browsers, and nobody else."""

from __future__ import annotations

from starlette.requests import Request


def wants_page(request: Request) -> bool:
    """True if HTML is preferred over JSON: browsers name it first, programs do not name it."""
    kinds = [part.split(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")]
    before_json = kinds[: kinds.index("application/json")] if "application/json" in kinds else kinds
    return "text/html" in before_json
