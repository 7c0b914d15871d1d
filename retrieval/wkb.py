"""Geometries as they are kept: WKB."""

from __future__ import annotations

from typing import Any

from retrieval.errors import GeometryDamaged


def shape_of(wkb: bytes) -> Any:
    """The geometry, of Shapely, which is imported at the first use. Raises `GeometryDamaged` for bytes that are
    none."""
    import shapely  # noqa: PLC0415  0.1 s to import, and most questions need none of it

    try:
        return shapely.from_wkb(wkb)
    except shapely.errors.ShapelyError as exc:
        raise GeometryDamaged("bytes that are kept as a geometry are none") from exc
