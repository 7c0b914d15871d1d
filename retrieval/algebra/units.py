"""Sizes of units of length and area, as decimal numerals: exact for whoever computes with them."""

from __future__ import annotations

from collections.abc import Mapping

METRES: Mapping[str, str] = {
    "mm": "0.001",
    "cm": "0.01",
    "m": "1",
    "km": "1000",
    "inch": "0.0254",
    "ft": "0.3048",
    "yd": "0.9144",
    "mi": "1609.344",
}
SQUARE_KILOMETRES: Mapping[str, str] = {
    "m²": "0.000001",
    "ha": "0.01",
    "km²": "1",
    "ac": "0.0040468564224",
    "mi²": "2.589988110336",
}
