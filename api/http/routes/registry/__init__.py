"""Routes of the asset registry (requirement 004)."""

from __future__ import annotations

from api.http.routes.registry import assets, feedback

ROUTERS = (assets.router, feedback.router)
