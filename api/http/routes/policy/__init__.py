"""Routes for readers and authors of policy."""

from __future__ import annotations

from api.http.routes.policy import author, reading

ROUTERS = (reading.router, author.router)
