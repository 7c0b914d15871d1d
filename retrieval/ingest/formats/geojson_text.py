"""Layers of other formats as the text of GeoJSON, in WGS 84."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyproj
import shapely

from retrieval.errors import LoadError
from retrieval.ingest.values import Extracted
from retrieval.media_types import GEOJSON

Move = Callable[[Any], Any]
"""Changes an array of coordinates (n, 2) to longitude and latitude in degrees."""
GEOMETRY_FAULTS = (ValueError, shapely.errors.GEOSException, pyproj.exceptions.ProjError)
"""The errors that `geometry_text` raises for a geometry that cannot be read or moved."""


def collection_text(features: Iterable[str]) -> str:
    """A FeatureCollection, one feature a line."""
    lines = ",\n".join(features)
    return f'{{"type": "FeatureCollection", "features": [\n{lines}\n]}}\n'


def layer_text(rows: Iterable[tuple[object, Mapping[str, object], bytes | None]], move: Move) -> Extracted:
    """The features of a layer, each with its id, its properties and its geometry in WKB; those whose geometry cannot
    be read are left out and told."""
    left_out: list[str] = []
    features: list[str] = []
    for key, properties, wkb in rows:
        try:
            features.append(feature_text(key, properties, geometry_text(wkb, move)))
        except GEOMETRY_FAULTS as exc:
            left_out.append(f"feature {key}: the geometry cannot be read ({str(exc)[:80]})")
    return Extracted(collection_text(features), slips=tuple(left_out), form=GEOJSON)


def feature_text(key: object, properties: Mapping[str, object], geometry: str) -> str:
    """A feature. Values that are bytes are no properties; numbers that are none are null."""
    kept = {name: _json(value) for name, value in properties.items() if not isinstance(value, bytes)}
    shown = json.dumps(kept, ensure_ascii=False)
    return f'{{"type": "Feature", "id": {json.dumps(key)}, "properties": {shown}, "geometry": {geometry}}}'


def _json(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def geometry_text(wkb: bytes | None, move: Move) -> str:
    """GeoJSON of a geometry in WKB, in two dimensions; `null` where there is none. Raises `GEOMETRY_FAULTS`."""
    if wkb is None:
        return "null"
    shape = shapely.force_2d(shapely.from_wkb(wkb))
    text: str = shapely.to_geojson(shapely.transform(shape, move))
    return text


def to_wgs84(name: str, system: object) -> Move:
    """The change from a system of coordinates, in any words that PROJ knows (`EPSG:3857`, WKT, PROJJSON). Raises
    `LoadError` for one that is not known."""
    try:
        crs = pyproj.CRS.from_user_input(system)
        if crs.equals(pyproj.CRS.from_epsg(4326), ignore_axis_order=True):
            return lambda points: points
        transformer = pyproj.Transformer.from_crs(crs, "EPSG:4326", always_xy=True, only_best=False)
    except (pyproj.exceptions.ProjError, TypeError) as exc:
        raise LoadError(f"{name}: the coordinates are in {str(system)[:60]}, which is not known") from exc

    def moved(points: Any) -> Any:
        longitudes, latitudes = transformer.transform(points[:, 0], points[:, 1], errcheck=True)
        points[:, 0], points[:, 1] = longitudes, latitudes
        return points

    return moved
