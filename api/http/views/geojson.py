"""A response that is a GeoJSON document."""

from __future__ import annotations

from starlette.responses import JSONResponse

from api.http.map.geojson import GEOJSON


class GeoJson(JSONResponse):
    """A GeoJSON document (RFC 7946)."""

    media_type = GEOJSON
