"""Positions that are shown on a grid only: the one place that says which point stands for a geometry."""

from __future__ import annotations

import math
import struct
from functools import lru_cache

from retrieval.wkb import shape_of

_METRES_PER_DEGREE = 111_320.0
_POINT = b"\x01\x01\x00\x00\x00"


def on_grid(x: float, y: float, *, metres: int, decimals: int) -> tuple[float, float]:
    """The point that is shown in place of one under `generalise_geometry`."""
    step_y = metres / _METRES_PER_DEGREE
    shown_y = round(round(y / step_y) * step_y, decimals)
    step_x = step_y / max(0.01, math.cos(math.radians(shown_y)))
    return round(round(x / step_x) * step_x, decimals), shown_y


@lru_cache(maxsize=65_536)  # a search looks at every coarse geometry of its scope, wherever it lies
def coarse_point(wkb: bytes, metres: int, decimals: int) -> tuple[float, float] | None:
    """The centre of a geometry, on a grid of `metres` and to `decimals` places: no shape, which could be recognised.
    None where it is empty."""
    if len(wkb) == len(_POINT) + 16 and wkb.startswith(_POINT):
        x, y = struct.unpack("<dd", wkb[len(_POINT) :])
        return on_grid(x, y, metres=metres, decimals=decimals)

    centre = shape_of(wkb).centroid
    return None if centre.is_empty else on_grid(centre.x, centre.y, metres=metres, decimals=decimals)


def coarse_wkb(wkb: bytes, metres: int, decimals: int) -> bytes | None:
    """The same as WKB."""
    point = coarse_point(wkb, metres, decimals)
    return None if point is None else _POINT + struct.pack("<dd", *point)
