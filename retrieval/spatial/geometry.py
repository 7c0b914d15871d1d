"""Exact predicates and distances on WKB in WGS 84 (degrees, longitude first). Shapely and PROJ are imported at the
first use.

Distances follow the geodesic on the WGS 84 ellipsoid (Karney 2013, as `pyproj.Geod` computes it), rounded to whole
metres. Between areas the distance is that of the two nearest points, found in a local equirectangular plane. Shapes
across the antimeridian are not unwrapped.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from retrieval.spatial.facts import Box
from retrieval.wkb import shape_of

BORDER_TOLERANCE_M = 50
"""Boundaries of generalised maps may leave slivers: lines this close count as one."""
BORDER_LENGTH_M = 250
"""Two places share a border when at least this much of it is common: a corner alone (DE-9IM boundary dimension 0) is
none."""
_METRES_PER_DEGREE = 111_195.0
_POINT = struct.Struct("<BI2d")


def point(longitude: float, latitude: float) -> bytes:
    """WKB of a point."""
    return _POINT.pack(1, 1, longitude, latitude)


def bounds(wkb: bytes) -> Box:
    """(west, south, east, north). Raises `ValueError` for bytes that are no geometry, or an empty one."""
    if len(wkb) == _POINT.size and wkb[:5] == b"\x01\x01\x00\x00\x00":
        _, _, x, y = _POINT.unpack(wkb)
        box = (x, y, x, y)
    else:
        box = _shape(wkb).bounds
    if any(not math.isfinite(edge) for edge in box):
        raise ValueError("an empty geometry has no bounds")
    return box


def from_geojson(text: str) -> bytes:
    """WKB of a GeoJSON geometry. Raises `ValueError` when it is none."""
    import shapely  # noqa: PLC0415

    try:
        return bytes(shapely.to_wkb(shapely.from_geojson(text)))
    except shapely.errors.ShapelyError as exc:
        raise ValueError("not a GeoJSON geometry") from exc


@lru_cache(maxsize=64)
def boxed(west: float, south: float, east: float, north: float) -> bytes:
    """WKB of a box; across the antimeridian where west > east."""
    import shapely  # noqa: PLC0415

    spans = ((west, east),) if west <= east else ((west, 180.0), (-180.0, east))
    return bytes(shapely.to_wkb(shapely.union_all([shapely.box(left, south, right, north) for left, right in spans])))


def intersects(one: bytes, other: bytes) -> bool:
    """True if the two share a point."""
    return bool(_shape(one).intersects(_shape(other)))


def contains(area: bytes, thing: bytes) -> bool:
    """True if the area covers the thing: a point wholly, an area by a point inside it (borders of maps never agree
    exactly)."""
    inner = _shape(thing)
    return bool(_shape(area).covers(inner if inner.geom_type == "Point" else inner.representative_point()))


def share_border(one: bytes, other: bytes) -> bool:
    """True if two areas have a common border line of at least `BORDER_LENGTH_M`, within `BORDER_TOLERANCE_M`."""
    first, second = _shape(one), _shape(other)
    if first.geom_type == "Point" or second.geom_type == "Point":
        return False
    latitude = (first.bounds[1] + first.bounds[3]) / 2
    near, far = _plane(first, latitude), _plane(second, latitude)
    if near.distance(far) > BORDER_TOLERANCE_M:
        return False
    return bool(near.boundary.intersection(far.boundary.buffer(BORDER_TOLERANCE_M)).length >= BORDER_LENGTH_M)


def gap_m(one: bytes, other: bytes) -> int:
    """Metres between the nearest points of two shapes; 0 when they meet."""
    first, second = _shape(one), _shape(other)
    if first.geom_type == second.geom_type == "Point":
        return _geodesic_m((first.x, first.y), (second.x, second.y))
    if first.intersects(second):
        return 0
    import shapely  # noqa: PLC0415

    latitude = (first.bounds[1] + first.bounds[3] + second.bounds[1] + second.bounds[3]) / 4
    scale = _METRES_PER_DEGREE * _shrink(latitude)
    line = shapely.shortest_line(_plane(first, latitude), _plane(second, latitude))
    ends = [(x / scale, y / _METRES_PER_DEGREE) for x, y in line.coords]
    return _geodesic_m(ends[0], ends[1])


def centre_distance_m(one: bytes, other: bytes) -> int:
    """Metres between the centroids of two shapes."""
    first, second = _shape(one).centroid, _shape(other).centroid
    return _geodesic_m((first.x, first.y), (second.x, second.y))


def area_km2(wkb: bytes) -> Fraction | None:
    """Square kilometres of an area on the ellipsoid, to a hundredth; None for what has no inside."""
    shape = _shape(wkb)
    if shape.geom_type not in ("Polygon", "MultiPolygon"):
        return None
    import shapely  # noqa: PLC0415

    metres = sum(_ring_m2(p.exterior) - sum(_ring_m2(r) for r in p.interiors) for p in shapely.get_parts(shape))
    return Fraction(round(metres / 10_000), 100)


def _ring_m2(ring: Any) -> float:
    longitudes, latitudes = zip(*((x, y) for x, y, *_ in ring.coords), strict=True)
    square: float = _geod().polygon_area_perimeter(longitudes, latitudes)[0]
    return abs(square)


def box_around(wkb: bytes, distance_m: int) -> Box:
    """Bounds that hold every point within a distance of a shape, with a margin; the whole belt of longitudes near a
    pole."""
    west, south, east, north = bounds(wkb)
    reach = distance_m / _METRES_PER_DEGREE * 1.02 + 0.0001
    south, north = max(-90.0, south - reach), min(90.0, north + reach)
    narrowest = _shrink(max(abs(south), abs(north)))
    wide = reach / narrowest if narrowest > 0.001 else 360.0
    return (max(-180.0, west - wide), south, min(180.0, east + wide), north)


@lru_cache(maxsize=1024)
def _shape(wkb: bytes) -> Any:
    import shapely  # noqa: PLC0415

    shape = shape_of(wkb)
    return shape if shape.is_valid else shapely.make_valid(shape)


def _plane(shape: Any, latitude: float) -> Any:
    """The shape in metres of a local equirectangular plane."""
    import shapely  # noqa: PLC0415

    scale = (_METRES_PER_DEGREE * _shrink(latitude), _METRES_PER_DEGREE)
    return shapely.transform(shape, lambda xy: xy * scale)


def _shrink(latitude: float) -> float:
    return math.cos(math.radians(latitude))


@cache
def _geod() -> Any:
    from pyproj import Geod  # noqa: PLC0415

    return Geod(ellps="WGS84")


def _geodesic_m(one: tuple[float, float], other: tuple[float, float]) -> int:
    metres: float = _geod().inv(one[0], one[1], other[0], other[1])[2]
    return round(metres)
