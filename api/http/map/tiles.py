"""Features of a layer as vector tiles (Mapbox Vector Tile 2.1, web Mercator): found by the tile's box, decided over one
by one, recorded before they leave, like a page of features.

A tile draws at most `MOST` features. A level that would have more of them all over the layer leaves out small ones by
lot, the same share everywhere, so that what is drawn lies as thick as what there is; a tile that still has more draws
the larger ones first. What is left out is counted, and is there in the tiles of closer levels. Only what the caller is
shown is counted or chosen among.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ai.model import AdmittedItem
from api.http.map.features import admitted_page, record_map
from api.http.map.geojson import JsonObject, feature_properties
from api.http.map.layers import Layer, MapView
from api.http.map.shapes import Shape
from retrieval.spatial.facts import Box

MVT = "application/vnd.mapbox-vector-tile"
TOP_ZOOM = 14
"""The last level with tiles of its own: a unit of such a tile is half a metre, and maps draw closer levels from it."""
MOST = 1_000
_EXTENT, _BUFFER = 4_096, 64
_HALF_PIXEL = _EXTENT / 512 / 2
_SEEN_PIXELS = 8
_LAST_LATITUDE = 85.0511287798066
_TOLD = ("name", "place_id", "place_type", "start", "end")
TILE_FIELDS = ("id", *_TOLD)
"""The properties of a feature in a tile."""


@dataclass(frozen=True, slots=True)
class TileAddress:
    """A tile: level, column from the west and row from the north. Raises ValueError for one that no level has."""

    z: int
    x: int
    y: int

    def __post_init__(self) -> None:
        if not (0 <= self.z <= TOP_ZOOM and 0 <= self.x < 2**self.z and 0 <= self.y < 2**self.z):
            raise ValueError(f"there is no tile {self.z}/{self.x}/{self.y}")

    @property
    def box(self) -> Box:
        """The area that the tile shows, in degrees, with the margin in which lines and points of its neighbours are
        drawn too."""
        margin = _BUFFER / _EXTENT
        west, east = (_longitude((self.x + side) / 2**self.z) for side in (-margin, 1 + margin))
        south, north = (_latitude((self.y + side) / 2**self.z) for side in (1 + margin, -margin))
        return max(west, -180.0), south, min(east, 180.0), north

    def units(self, positions: Any) -> Any:
        """Degrees, an (n, 2) array, in units of the tile from its north-western corner."""
        import numpy as np  # noqa: PLC0415

        latitudes = np.radians(np.clip(positions[:, 1], -_LAST_LATITUDE, _LAST_LATITUDE))
        across = (positions[:, 0] + 180) / 360
        down = (1 - np.arcsinh(np.tan(latitudes)) / math.pi) / 2
        return (np.column_stack((across, down)) * 2**self.z - (self.x, self.y)) * _EXTENT


@dataclass(frozen=True, slots=True)
class VectorTile:
    """The bytes of a tile, the entry that records them, and how many features of its box it leaves out."""

    data: bytes
    entry_id: str
    omitted: int


async def read_tile(view: MapView, layer: Layer, address: TileAddress) -> VectorTile:
    """The tile as the caller may see it, empty where nothing lies. Recorded when this returns."""
    found = list(_found(layer, address.box))
    chosen = _chosen(layer, found, address)
    page = await admitted_page(view.reading, chosen, MOST)
    shown = [(item.geometry, _properties(item)) for item in page.items if item.geometry is not None]
    data = await asyncio.to_thread(encoded, layer.id, address, shown)
    asked = {"surface": "layers.tiles", "layer": layer.id, "z": address.z, "x": address.x, "y": address.y}
    recorded = await record_map(view.reading, page, asked, data)
    return VectorTile(data, recorded["provenance"]["entry_id"], len(found) - len(chosen))


def encoded(layer_id: str, address: TileAddress, features: Sequence[tuple[str, JsonObject]]) -> bytes:
    """Features, each a GeoJSON geometry and what is said of it, as the one layer of a tile; no byte where none of them
    can be drawn in it."""
    import mapbox_vector_tile  # noqa: PLC0415  needed for tiles alone

    drawn = [
        {"geometry": part, "properties": properties}
        for shape, (_, properties) in zip(_in_units([text for text, _ in features], address), features, strict=True)
        for part in _in_tile(shape)
    ]
    options = {"y_coord_down": True, "extents": _EXTENT}
    data: bytes = mapbox_vector_tile.encode([{"name": layer_id, "features": drawn}], default_options=options)
    return data if drawn else b""


def lies_in(layer: Layer, address: TileAddress) -> bool:
    """True if anything of the layer may be drawn in the tile or its margin."""
    return next(_found(layer, address.box), None) is not None


def _found(layer: Layer, box: Box) -> Iterator[Shape]:
    west, south, east, north = box
    for shape in layer.shapes:
        least_x, least_y, most_x, most_y = shape.bounds
        if least_x <= east and most_x >= west and least_y <= north and most_y >= south:
            yield shape


def _chosen(layer: Layer, found: Sequence[Shape], address: TileAddress) -> Sequence[Shape]:
    """The shapes that are drawn of those in the tile, in the layer's order."""
    pixel = 360 / math.ldexp(512, address.z)
    share = _room(layer, address.z) / len(layer.shapes)

    def pixels(shape: Shape) -> float:
        west, south, east, north = shape.bounds
        return max(east - west, north - south) / pixel

    kept = [shape for shape in found if shape.lot < share or pixels(shape) >= _SEEN_PIXELS]
    if len(kept) <= MOST:
        return kept
    order = [(-math.frexp(pixels(shape))[1], shape.lot, n) for n, shape in enumerate(kept)]
    return [kept[n] for n in sorted(n for _, _, n in heapq.nsmallest(MOST, order))]


def _room(layer: Layer, z: int) -> float:
    """How many features the tiles of a level have room for in the box of the layer, one tile at least."""
    west, south, east, north = layer.bounds
    tiles = math.ldexp((east - west) / 360 * (_down(south) - _down(north)), 2 * z)
    return MOST * max(1.0, tiles)


def _in_units(geometries: Sequence[str], address: TileAddress) -> Any:
    """An array of shapes in units of the tile, valid; their lines without what cannot be seen at its level."""
    import numpy as np  # noqa: PLC0415
    import shapely  # noqa: PLC0415  0.1 s to import

    drawn = shapely.make_valid(shapely.transform(shapely.from_geojson(geometries), address.units))
    if address.z == TOP_ZOOM:
        return drawn
    simpler = shapely.make_valid(shapely.simplify(drawn, _HALF_PIXEL, preserve_topology=True))
    still = shapely.get_dimensions(simpler) == shapely.get_dimensions(drawn)  # a small area becomes a line
    return np.where(still, simpler, drawn)


def _in_tile(drawn: Any) -> Iterator[Any]:
    """The shape on the grid of its tile, cut at the margin: of a collection its points, its lines and its areas. An
    area that is smaller than a unit is drawn as one."""
    import shapely  # noqa: PLC0415

    frame = shapely.box(-_BUFFER, -_BUFFER, _EXTENT + _BUFFER, _EXTENT + _BUFFER)
    last = _EXTENT + _BUFFER - 1  # the last unit within it
    for part in _alike(drawn):
        cut = shapely.intersection(part, frame, grid_size=1.0)
        kept = [each for each in _alike(cut) if shapely.get_dimensions(each) == shapely.get_dimensions(part)]
        yield from kept
        if not kept and part.area > 0 and part.intersects(frame):
            x, y = (min(math.floor(side), last) for side in part.intersection(frame).bounds[:2])
            yield shapely.box(x, y, x + 1, y + 1)


def _alike(drawn: Any) -> Sequence[Any]:
    """A shape, or of a collection one shape for each dimension that is in it."""
    import shapely  # noqa: PLC0415

    if drawn.is_empty:
        return ()
    if drawn.geom_type != "GeometryCollection":
        return (drawn,)
    single = [each for part in shapely.get_parts(drawn) for each in _singles(part)]
    made = (shapely.multipoints, shapely.multilinestrings, shapely.multipolygons)
    by_dimension = [[each for each in single if shapely.get_dimensions(each) == n] for n in range(len(made))]
    valid = [shapely.make_valid(make(same)) for make, same in zip(made, by_dimension, strict=True) if same]
    return [_of_its_dimension(each) for each in valid]


def _of_its_dimension(drawn: Any) -> Any:
    """A shape without the points and lines that making its areas valid may have left beside them."""
    import shapely  # noqa: PLC0415

    if drawn.geom_type != "GeometryCollection":
        return drawn
    highest = shapely.get_dimensions(drawn)
    single = [each for part in shapely.get_parts(drawn) for each in _singles(part)]
    return shapely.union_all([each for each in single if shapely.get_dimensions(each) == highest])


def _singles(drawn: Any) -> Iterator[Any]:
    import shapely  # noqa: PLC0415

    for part in shapely.get_parts(drawn):
        if part.geom_type in {"Point", "LineString", "Polygon"}:
            if not part.is_empty:
                yield part
        else:
            yield from _singles(part)


def _properties(item: AdmittedItem) -> JsonObject:
    told = feature_properties(item)
    return {"id": item.evidence.record_id} | {name: told[name] for name in _TOLD if told[name] is not None}


def _longitude(across: float) -> float:
    return across * 360 - 180


def _latitude(down: float) -> float:
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * down))))


def _down(latitude: float) -> float:
    """From 0 in the north of the map to 1 in its south."""
    inside = max(-_LAST_LATITUDE, min(_LAST_LATITUDE, latitude))
    return (1 - math.asinh(math.tan(math.radians(inside))) / math.pi) / 2
