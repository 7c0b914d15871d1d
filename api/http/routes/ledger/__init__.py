"""Routes of the ledger and of the log beneath it."""

from __future__ import annotations

from api.http.routes.ledger import changes, difference, entries, log, overview, replay

ROUTERS = (entries.router, changes.router, difference.router, overview.router, replay.router, log.router)
