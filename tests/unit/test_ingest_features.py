"""GeoJSON: the exact slice of the properties, geometry that is one, and the feature named where it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import LoadError
from retrieval.ingest.records.features import placed_geometry, placed_point, read_features, split_features
from retrieval.ingest.values import EntitySpec, LoadedFile, Owner, Parts, RelationSpec, TableSpec

OWNER = Owner("geo@1", "geo", "class")
SPEC = TableSpec(
    feature_id="geoid",
    statement="{name} is a county.",
    entities=(
        EntitySpec("county", "county", "county:{geoid}", "{name}"),
        EntitySpec("state", "state", "state:{st}", "{st}"),
    ),
    relations=(RelationSpec("county", "located_in", "state"),),
)
SQUARE = {"type": "Polygon", "coordinates": [[[-96, 38], [-95, 38], [-95, 39], [-96, 39], [-96, 38]]]}
BOW_TIE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}


def collection(*features: Any) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features)}


def feature(geoid: str, geometry: Any = SQUARE, **more: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": {"geoid": geoid, "name": f"County {geoid}", **more}, "geometry": geometry}


def read(text: str, spec: TableSpec = SPEC) -> Parts:
    return read_features("geo.json", LoadedFile(text, "application/geo+json", "sha256:0"), OWNER, spec, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=4), max_size=5),
    st.sampled_from([None, 1, 3]),
    st.booleans(),
)
@settings(max_examples=100)
def test_properties_are_found_where_they_stand(
    found: list[dict[str, Any]], indent: int | None, ascii_only: bool
) -> None:
    features = [{"geometry": None, "properties": p, "type": "Feature", "more": {"properties": [1]}} for p in found]
    text = " " + json.dumps({"name": {"features": []}, **collection(*features)}, indent=indent, ensure_ascii=ascii_only)
    split = list(split_features("a", text))
    assert [f.properties for f in split] == found
    assert [json.loads(text[f.start_char : f.end_char]) for f in split] == found


def test_a_feature_speaks() -> None:
    text = json.dumps(collection(feature("20177", st="KS", note="é🌾"), feature("20045", None)), ensure_ascii=False)
    first, second = read(text).records
    assert json.loads(first.text)["geoid"] == first.locator.feature == "20177"
    assert first.text.encode() == text.encode()[first.locator.start_byte : first.locator.end_byte]
    assert second.text.encode() == text.encode()[second.locator.start_byte : second.locator.end_byte]
    assert first.statement == "County 20177 is a county."
    assert first.geometry is not None and shapely.from_wkb(first.geometry).area == 1
    assert second.geometry is None
    (edge,) = read(text).relationships
    assert (edge.subject.entity_id, edge.predicate, edge.object.entity_id) == ("county:20177", "located_in", "state:KS")


GOOD = json.dumps(collection(feature("1"), feature("2")))
INVALID = {
    "truncated": (GOOD[:-30], "feature 1: not valid JSON|not valid JSON"),
    "no json": ("Kansas", "not valid JSON"),
    "a list": ("[1]", "not valid JSON"),
    "one feature": (json.dumps(feature("1")), "not a GeoJSON FeatureCollection"),
    "features are no list": (json.dumps({"type": "FeatureCollection", "features": 3}), "not valid JSON"),
    "no feature": (json.dumps(collection()), "the file holds no feature"),
    "no object": (json.dumps(collection(7)), "feature 0: not valid JSON"),
    "no properties": (
        json.dumps(collection({"type": "Feature", "geometry": None})),
        "feature 0: not a Feature with properties",
    ),
    "properties null": (
        json.dumps(collection({"type": "Feature", "properties": None})),
        "feature 0: its properties are not an object",
    ),
    "id twice": (json.dumps(collection(feature("1"), feature("1"))), "feature 1: the id '1' occurs twice"),
    "bow tie": (json.dumps(collection(feature("2", BOW_TIE))), "feature 2: the geometry is not valid"),
    "open ring": (
        json.dumps(collection(feature("1", {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0]]]}))),
        "feature 1: the geometry",
    ),
    "no such type": (
        json.dumps(collection(feature("1", {"type": "Blob", "coordinates": []}))),
        "feature 1: the geometry",
    ),
    "text as geometry": (json.dumps(collection(feature("1", "POINT(0 0)"))), "feature 1: the geometry"),
    "empty": (
        json.dumps(collection(feature("1", {"type": "Point", "coordinates": []}))),
        "feature 1: the geometry is empty",
    ),
    "off the earth": (
        json.dumps(collection(feature("1", {"type": "Point", "coordinates": [200, 0]}))),
        "feature 1: the geometry lies outside",
    ),
    "not a number": (GOOD.replace("-96", "NaN"), "not valid JSON"),
    "too deep": ('{"a":' * 100_000, "not valid JSON"),
}


@pytest.mark.parametrize("name", INVALID)
def test_what_is_no_geojson_names_the_feature(name: str) -> None:
    text, message = INVALID[name]
    with pytest.raises(LoadError, match=message):
        read(text)


@given(st.integers(0, len(GOOD)), st.sampled_from(['"', "{", "]", ",", "x", ""]))
@settings(max_examples=100)
def test_a_broken_file_is_an_error_or_still_geojson(position: int, insert: str) -> None:
    text = GOOD[:position] + insert + GOOD[position + 1 :]
    try:
        read(text)
    except LoadError as exc:
        assert str(exc).startswith("geo.json: ")


@pytest.mark.parametrize(
    ("x", "y"), [("181", "0"), ("0", "-90.5"), ("nan", "0"), ("inf", "1"), ("east", "1"), ("1", "")]
)
def test_points_that_are_nowhere(x: str, y: str) -> None:
    with pytest.raises(LoadError, match="row 3: "):
        placed_point("row 3", x, y)
    assert placed_point("row 3", "", "").wkb is None


def unspecified(*properties: dict[str, Any]) -> Parts:
    features = [{"type": "Feature", "properties": each, "geometry": SQUARE} for each in properties]
    loaded = LoadedFile(json.dumps(collection(*features)), "application/geo+json", "sha256:0")
    return read_features("geo.json", loaded, OWNER, None, {})


@pytest.mark.parametrize(
    ("column", "kind"),
    [("name", "place"), ("NAME", "place"), ("county", "county"), ("City_Name", "city"), ("town name", "town")],
)
def test_without_a_spec_features_are_the_places_that_their_names_tell_apart(column: str, kind: str) -> None:
    parts = unspecified({column: "Port Alder", "note": "harbour"}, {column: "Selby", "note": "harbour"})
    assert [r.entities[0].name for r in parts.records] == ["Port Alder", "Selby"]
    assert [r.entities[0].entity_id for r in parts.records] == [f"{kind}:port-alder", f"{kind}:selby"]
    assert {name for entry in parts.entries for name in entry.names} >= {"Port Alder", "Selby"}


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("district", "district"), ("DISTRICT", "district"), ("region", "region"), ("parish", "parish"),
        ("district_name", "district"), ("DistrictName", "district"), ("name of district", "district"), ("ward", "ward"),
    ],
)  # fmt: skip
def test_areas_are_named_by_their_kind(column: str, kind: str) -> None:
    rows = {column: "Port Alder", "note": "harbour"}, {column: "Selby", "note": "harbour"}
    assert [r.entities[0].entity_id for r in unspecified(*rows).records] == [f"{kind}:port-alder", f"{kind}:selby"]
    named = [{**row, "name": name} for row, name in zip(rows, ("North", "South"), strict=True)]
    assert [r.entities[0].name for r in unspecified(*named).records] == ["North", "South"]
    assert not any(r.entities for r in unspecified(rows[0], rows[0]).records)


def test_points_and_a_single_area_are_not_the_kind_that_they_lie_in() -> None:
    point = {"type": "Point", "coordinates": [1, 1]}
    for geometry, count in ((point, 2), (SQUARE, 1)):
        made = [
            {
                "type": "Feature",
                "properties": {"title": f"Museum {n}", "district": f"District {n}"},
                "geometry": geometry,
            }
            for n in range(count)
        ]
        loaded = LoadedFile(json.dumps(collection(*made)), "application/geo+json", "sha256:0")
        assert not any(r.entities for r in read_features("geo.json", loaded, OWNER, None, {}).records)


def test_the_first_name_that_tells_all_apart_is_taken() -> None:
    rows = [{"state_name": "Kansas", "name": "Ness"}, {"state_name": "Kansas", "name": "Riley"}]
    assert [r.entities[0].name for r in unspecified(*rows).records] == ["Ness", "Riley"]


@pytest.mark.parametrize(
    "rows",
    [
        [{"name": "Selby"}, {"name": "Selby"}],
        [{"name": "Selby"}, {"name": "SELBY!"}],
        [{"name": "Selby"}, {"name": ""}],
        [{"name": "Selby"}, {"name": None}],
        [{"name": "Selby"}, {"name": 7}],
        [{"name": "Selby"}, {"kind": "harbour"}],
        [{"title": "Selby"}, {"title": "Ness"}],
        [{"name": "塞"}, {"name": "比"}],
    ],
)
def test_names_that_do_not_tell_features_apart_name_none(rows: list[dict[str, Any]]) -> None:
    assert [r.entities for r in unspecified(*rows).records] == [(), ()]


def test_a_spec_that_names_nothing_is_kept() -> None:
    text = json.dumps(collection({"type": "Feature", "properties": {"name": "Selby"}, "geometry": SQUARE}))
    assert read(text, TableSpec()).records[0].entities == ()


@pytest.mark.parametrize("coordinates", [[180.0000000001, 0], [-180.00000000000003, 90.0000001], [0, -90.0000009]])
def test_what_misses_the_world_by_rounding_ends_at_its_edge_and_is_told(coordinates: list[float]) -> None:
    shape = {"type": "LineString", "coordinates": [[1, 2], coordinates]}
    parts = read(json.dumps(collection({"type": "Feature", "properties": {}, "geometry": shape})))
    west, south, east, north = shapely.from_wkb(parts.records[0].geometry).bounds
    assert -180 <= west <= east <= 180 and -90 <= south <= north <= 90
    assert parts.notes == ("1 geometry reached beyond the world by rounding (feature 0)",)


@pytest.mark.parametrize("coordinates", [[180.0001, 0], [0, 90.00001], [1e308, 0], [-181, 0], [0, -91]])
def test_what_misses_the_world_by_more_is_refused(coordinates: list[float]) -> None:
    for made in (
        lambda: placed_geometry("f", {"type": "Point", "coordinates": coordinates}),
        lambda: placed_point("f", *map(str, coordinates)),
    ):
        with pytest.raises(LoadError, match="lies outside the world"):
            made()
