"""Vector tiles of any geometry: what is drawn is valid, lies in the tile and its margin, and misses nothing."""

from __future__ import annotations

from typing import Any

import mapbox_vector_tile
import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import mapping, shape

from api.http.map.tiles import TOP_ZOOM, TileAddress, encoded


def addresses() -> st.SearchStrategy[TileAddress]:
    def of(z: int) -> st.SearchStrategy[TileAddress]:
        return st.builds(TileAddress, st.just(z), st.integers(0, 2**z - 1), st.integers(0, 2**z - 1))

    return st.integers(0, TOP_ZOOM).flatmap(of)


def geometries() -> st.SearchStrategy[Any]:
    """Points, lines and areas, some of them not simple, and collections of all of them, in shares of a tile's box."""
    position = st.tuples(st.floats(-1, 2), st.floats(-1, 2))
    line = st.lists(position, min_size=2, max_size=6, unique=True)
    ring = st.lists(position, min_size=3, max_size=7, unique=True)
    single = st.one_of(
        position.map(shapely.Point),
        st.lists(position, min_size=1, max_size=4).map(shapely.MultiPoint),
        line.map(shapely.LineString),
        st.lists(line, min_size=1, max_size=3).map(shapely.MultiLineString),
        ring.map(shapely.Polygon),
        ring.map(lambda found: shapely.make_valid(shapely.Polygon(found))),
    )
    return st.one_of(single, st.lists(single, min_size=1, max_size=3).map(shapely.GeometryCollection))


def placed(geometry: Any, address: TileAddress) -> Any:
    west, south, east, north = address.box
    inside = shapely.transform(
        geometry, lambda at: np.column_stack((west + at[:, 0] * (east - west), south + at[:, 1] * (north - south)))
    )
    return shapely.transform(inside, lambda at: np.column_stack((at[:, 0].clip(-180, 180), at[:, 1].clip(-90, 90))))


def features(data: bytes) -> list[Any]:
    decoded = mapbox_vector_tile.decode(data, default_options={"y_coord_down": True})
    return [shape(each["geometry"]) for layer in decoded.values() for each in layer["features"]]


@given(address=addresses(), across=st.floats(0, 1), up=st.floats(0, 1))
def test_a_place_in_the_box_of_a_tile_is_in_its_units(address: TileAddress, across: float, up: float) -> None:
    west, south, east, north = address.box
    assert -180 <= west < east <= 180 and -90 < south < north < 90
    [[x, y]] = address.units(np.array([[west + across * (east - west), south + up * (north - south)]]))
    assert -65 <= x <= 4096 + 65 and -65 <= y <= 4096 + 65


@given(address=addresses(), given_shape=geometries(), size=st.sampled_from((1.0, 1e-2, 1e-4, 1e-6)))
def test_any_geometry_is_drawn_in_its_tile(address: TileAddress, given_shape: Any, size: float) -> None:
    geometry = placed(shapely.transform(given_shape, lambda at: at * size + (1 - size) / 3), address)
    drawn = features(encoded("x", address, [(shapely.to_geojson(geometry), {"id": "1"})]))
    for each in drawn:
        assert each.is_valid
        west, north, east, south = each.bounds
        assert -64 <= west <= east <= 4160 and -64 <= north <= south <= 4160
    west, south, east, north = address.box
    inner = shapely.box(west, south, east, north).buffer(-(east - west) / 200)
    if geometry.geom_type == "Polygon" and shapely.make_valid(geometry).intersection(inner).area > 0:
        assert drawn
    if geometry.geom_type == "Point" and geometry.within(inner):
        assert len(drawn) == 1


@pytest.mark.parametrize("side", [1e-9, 0.001, 1.0])
def test_an_area_is_drawn_however_small_it_is(side: float) -> None:
    square = {"type": "Polygon", "coordinates": [[(5, 5), (5 + side, 5), (5 + side, 5 + side), (5, 5 + side), (5, 5)]]}
    [drawn] = features(encoded("x", TileAddress(1, 1, 0), [(shapely.to_geojson(shape(square)), {})]))
    assert drawn.area >= 1 and mapping(drawn)["type"] == "Polygon"


@pytest.mark.parametrize("side", [0, 1])
def test_what_touches_the_last_unit_of_the_margin_is_drawn_within_it(side: int) -> None:
    address = TileAddress(1, 0, 0)
    west, south, east, north = address.box
    x, y = ((east, (south + north) / 2), ((west + east) / 2, south))[side]
    tiny = {"type": "Polygon", "coordinates": [[(x, y), (x + 1e-9, y), (x + 1e-9, y - 1e-9), (x, y - 1e-9), (x, y)]]}
    for drawn in features(encoded("x", address, [(shapely.to_geojson(shape(tiny)), {})])):
        assert max(drawn.bounds) <= 4160


@pytest.mark.parametrize(("z", "x", "y"), [(-1, 0, 0), (TOP_ZOOM + 1, 0, 0), (0, 1, 0), (2, 0, 4), (2, -1, 0)])
def test_an_address_that_no_level_has_cannot_be_made(z: int, x: int, y: int) -> None:
    with pytest.raises(ValueError, match="no tile"):
        TileAddress(z, x, y)
