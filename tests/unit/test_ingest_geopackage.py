"""GeoPackages: the features of a layer where they lie on the earth, and a coded error for everything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import Point, Polygon

from retrieval.errors import LoadError
from retrieval.ingest.formats.load import load, media_type_of
from retrieval.ingest.records.features import read_features
from retrieval.ingest.values import LoadedFile, Owner, TableSpec
from retrieval.media_types import GEOPACKAGE
from tests.geopackage_maker import blob_of, geopackage_of

TOPEKA = Point(-95.69, 39.05)
OWNER = Owner("d@1", "d", "c")
DEGREES = st.tuples(st.floats(-179, 179), st.floats(-85, 85))
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
VALUES = st.one_of(st.none(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), NAMES)


def read(data: bytes) -> tuple[LoadedFile, list[Any]]:
    loaded = load("a.gpkg", data, GEOPACKAGE)
    return loaded, json.loads(loaded.text)["features"]


@given(rows=st.lists(st.tuples(st.dictionaries(st.sampled_from(["name", "count", "é"]), VALUES), DEGREES), min_size=1))
@settings(max_examples=40)
def test_every_feature_keeps_its_properties_and_its_place(
    rows: list[tuple[dict[str, Any], tuple[float, float]]],
) -> None:
    names = {name for properties, _ in rows for name in properties}
    _, found = read(geopackage_of({"towns": [(properties, Point(at)) for properties, at in rows]}))
    assert [each["id"] for each in found] == list(range(1, len(rows) + 1))
    assert [each["properties"] for each in found] == [{n: properties.get(n) for n in names} for properties, _ in rows]
    assert [tuple(each["geometry"]["coordinates"]) for each in found] == [at for _, at in rows]


@pytest.mark.parametrize(("epsg", "within_m"), [(3857, 0.01), (32614, 0.01), (4269, 3.0), (2193, None)])
def test_coordinates_of_another_system_are_moved_to_longitude_and_latitude(epsg: int, within_m: float | None) -> None:
    from pyproj import Geod, Transformer

    at = (174.76, -36.85) if epsg == 2193 else (-98.2, 38.5)
    moved = Transformer.from_crs("EPSG:4326", f"EPSG:{epsg}", always_xy=True).transform(*at)
    _, [found] = read(geopackage_of({"towns": [({"name": "a"}, Point(moved))]}, epsg=epsg))
    away = Geod(ellps="WGS84").inv(*at, *found["geometry"]["coordinates"])[2]
    assert away < (within_m or 3.0)


def test_envelopes_heights_and_features_without_a_place() -> None:
    square = Polygon([(0, 0), (1, 0), (1, 1), (0, 0)])
    rows = [({"n": 1}, blob_of(square, envelope=1)), ({"n": 2}, blob_of(Point(1, 2, 3))), ({"n": 3}, None)]
    _, found = read(geopackage_of({"a": rows}))
    assert shapely.from_geojson(json.dumps(found[0]["geometry"])).equals(square)
    assert found[1]["geometry"]["coordinates"] == [1.0, 2.0]
    assert found[2]["geometry"] is None


def test_what_is_not_read_is_told() -> None:
    bad = [({"n": 2}, b"nothing"), ({"n": 3}, b"GP\x00\x1e" + bytes(60)), ({"n": 4}, b"GP\x00\x01" + bytes(30))]
    empty = ({"n": 5}, b"GP\x00\x11" + bytes(20))
    loaded, found = read(geopackage_of({"b": [({"n": 1, "raw": b"\x00"}, TOPEKA), *bad, empty], "c": [({}, TOPEKA)]}))
    assert [each["properties"]["n"] for each in found] == [1]
    assert "raw" not in found[0]["properties"]
    assert [told.split(":")[0] for told in loaded.slips[:4]] == ["feature 2", "feature 3", "feature 4", "feature 5"]
    assert loaded.slips[4:] == ("layer 'c'; the first is read",)


def test_records_are_those_of_the_same_features_as_geojson() -> None:
    loaded, _ = read(geopackage_of({"towns": [({"name": "Topeka"}, TOPEKA), ({"name": "Selby"}, Point(1, 2))]}))
    made = read_features("a.gpkg", loaded, OWNER, TableSpec(), {})
    same = load("a.geojson", loaded.text.encode(), "application/geo+json")
    assert made == read_features("a.gpkg", same, OWNER, TableSpec(), {})
    assert len(made.records) == 2


def test_a_file_with_a_write_ahead_log_is_read() -> None:
    data = bytearray(geopackage_of({"towns": [({"name": "Topeka"}, TOPEKA)]}))
    data[18:20] = b"\x02\x02"
    assert len(read(bytes(data))[1]) == 1


ONE = {"towns": [({"name": "Topeka"}, TOPEKA)]}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
BAD = {
    "no database": (b"hello", "not a readable GeoPackage"),
    "no geopackage": (geopackage_of({}, more="DROP TABLE gpkg_contents"), "not a readable GeoPackage"),
    "no layer": (geopackage_of({}), "no layer of features"),
    "rasters alone": (geopackage_of(ONE, more="UPDATE gpkg_contents SET data_type = 'tiles'"), "no layer"),
    "a layer that is not there": (geopackage_of(ONE, more="DROP TABLE towns"), "no layer"),
    "a view": (
        geopackage_of(ONE, more="DROP TABLE towns; CREATE VIEW towns AS SELECT 1 AS fid, 2 AS geom"),
        "no layer",
    ),
    "a view that does not end": (
        geopackage_of(
            ONE,
            more="DROP TABLE gpkg_contents; CREATE VIEW gpkg_contents AS "
            f"{ENDLESS} SELECT 'x' AS table_name, 'features' AS data_type, i AS srs_id FROM n",
        ),
        "not a readable GeoPackage",
    ),
    "no column of geometries": (geopackage_of(ONE, more="ALTER TABLE towns RENAME geom TO g"), "no geometry"),
    "unknown coordinates": (geopackage_of(ONE, epsg=999999), "EPSG:999999, which is not known"),
    "truncated": (geopackage_of(ONE)[:5000], "not a readable GeoPackage"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_such_file_is_refused_by_name(name: str) -> None:
    data, message = BAD[name]
    with pytest.raises(LoadError, match=rf"a\.gpkg: .*{message}"):
        load("a.gpkg", data, GEOPACKAGE)


@given(data=st.data())
@settings(max_examples=60)
def test_a_damaged_file_is_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray(geopackage_of(ONE))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert load("a.gpkg", bytes(whole), GEOPACKAGE).text
    except LoadError as exc:
        assert exc.code == "VALIDATION_FAILED"


def test_its_kind_by_its_ending() -> None:
    assert media_type_of(Path("a.GPKG"), None) == GEOPACKAGE
