"""Routes of retrieval without an answer (requirements 000 and 002)."""

from __future__ import annotations

from api.http.routes.retrieval import more, retrieve, search

ROUTERS = (retrieve.router, search.router, more.router)
