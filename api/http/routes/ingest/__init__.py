"""Routes by which documents come in."""

from __future__ import annotations

from api.http.routes.ingest import documents, jobs, uploads

ROUTERS = (documents.router, uploads.router, jobs.router)
