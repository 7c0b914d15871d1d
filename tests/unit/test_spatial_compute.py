"""Named operations as pure functions: what they refuse, and what never depends on the order of their inputs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.algebra.wording import counted, kilometres, listed, plural
from retrieval.model import EntityRef, RecordKind
from retrieval.scope import digest
from retrieval.spatial import geometry
from retrieval.spatial.computing.compute import compute, recompute
from retrieval.spatial.facts import Fact, per_place
from tests.structured import NORTHEAST, NORTHWEST, POP, feature, observation, record

RANKING = {"measure": POP, "place_type": "county", "year": 1930, "order": "largest", "limit": 1}
FIGURE = observation("a#1", NORTHWEST, 1930, "1500")
SHAPE = feature("b#1", NORTHWEST, shapely.box(-97, 39, -96, 40))


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("", {}),
        ("drop_table", {}),
        ("change", {"measure": POP, "from_year": 1900, "to_year": 1930}),  # no figure of 1900
        ("change", {"measure": POP, "from_year": "1900", "to_year": 1930}),
        ("change", {"measure": POP, "from_year": True, "to_year": 1930}),
        ("superlative", {**RANKING, "limit": None}),
        ("superlative", {**RANKING, "order": None}),
        ("neighbours", {}),
        ("neighbours", {"place_id": "county:nowhere"}),
        ("neighbours", {"place_id": NORTHWEST.entity_id}),  # a figure has no shape
        ("distance", {"from_id": NORTHWEST.entity_id, "to_id": "county:nowhere"}),
        ("nearest", {"place_id": NORTHWEST.entity_id, "place_type": "county", "limit": 1}),
    ],
)
def test_what_cannot_be_computed_is_an_error(operation: str, parameters: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        recompute(operation, parameters, [FIGURE, replace(SHAPE, geometry=None, measurement=FIGURE.measurement)])


def test_a_record_without_figure_or_shape_is_no_input() -> None:
    with pytest.raises(ValueError, match="neither"):
        recompute("superlative", RANKING, [FIGURE, record("p#1", RecordKind.PASSAGE)])


@pytest.mark.parametrize(
    "changed",
    [
        replace(FIGURE, record_id="a#2"),
        observation("a#1", NORTHWEST, 1930, "1501"),
        observation("a#1", NORTHWEST, 1931, "1500"),
        observation("a#1", NORTHEAST, 1930, "1500"),
        observation("a#1", NORTHWEST, 1930, "1500", measure="rainfall"),
        replace(FIGURE, geometry=geometry.point(1.0, 2.0)),
    ],
)
def test_any_change_of_what_an_input_states_changes_the_digest(changed: object) -> None:
    one = recompute("superlative", RANKING, [FIGURE])
    other = recompute("superlative", RANKING, [changed])  # type: ignore[list-item]
    assert one.input_digest != other.input_digest
    assert one.record_id != other.record_id


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
FACTS = st.builds(
    Fact,
    record_id=TEXTS,
    source_id=TEXTS,
    place=st.builds(EntityRef, TEXTS, TEXTS, TEXTS),
    measure=st.none() | TEXTS,
    value=st.integers(0, 10**9).map(str),
    unit=st.none() | TEXTS,
    start=st.dates(),
    end=st.dates(),
    geometry=st.none() | st.binary(max_size=4),
)


@given(st.lists(FACTS, min_size=1, max_size=6, unique_by=lambda f: f.record_id), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_the_digest_is_rfc_8785_and_the_order_of_inputs_makes_no_difference(
    facts: list[Fact], chance: random.Random
) -> None:
    done = compute("superlative", RANKING, facts)
    assert done.input_digest == digest([f.canonical() for f in sorted(facts, key=lambda f: f.record_id)])
    shuffled = list(facts)
    chance.shuffle(shuffled)
    assert compute("superlative", RANKING, shuffled) == done
    kept, conflict = per_place(facts)
    assert (kept, conflict) == per_place(shuffled)
    assert len({f.place.entity_id for f in kept}) == len(kept) == len({f.place.entity_id for f in facts})


@given(st.integers(0, 10**7), st.integers(0, 10**7))
@settings(max_examples=50)
def test_a_change_states_the_difference(old: int, new: int) -> None:
    inputs = [observation("a#1", NORTHWEST, 1900, str(old)), observation("a#2", NORTHWEST, 1930, str(new))]
    done = recompute("change", {"measure": POP, "from_year": 1900, "to_year": 1930}, inputs)
    assert int(str(done.result["difference"])) == new - old
    assert f"{new - old:+,}" in done.statement
    assert (done.result["percent"] is None) == (old == 0)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (shapely.box(-97, 39, -96, 40), shapely.box(-96, 39, -95, 40), True),
        (shapely.box(-97, 39, -96, 40), shapely.box(-95.9996, 39, -95, 40), True),  # a sliver of 34 m
        (shapely.box(-97, 39, -96, 40), shapely.box(-95.999, 39, -95, 40), False),  # 86 m apart
        (shapely.box(-97, 39, -96, 40), shapely.box(-96, 38, -95, 39), False),  # a corner
        (shapely.box(-97, 39, -96, 40), shapely.box(-96, 39.999, -95, 41), False),  # 111 m of border
        (shapely.box(-97, 39, -96, 40), shapely.Point(-96, 39.5), False),
    ],
)
def test_a_border_is_a_line_and_not_a_corner(one: object, other: object, shared: bool) -> None:
    first, second = bytes(shapely.to_wkb(one)), bytes(shapely.to_wkb(other))
    assert geometry.share_border(first, second) is shared
    assert geometry.share_border(second, first) is shared


def test_distances_are_geodesic_and_start_at_the_border() -> None:
    quarter_meridian_m = 10_001_966  # WGS 84, from equator to pole
    assert geometry.gap_m(geometry.point(0, 0), geometry.point(0, 90)) == quarter_meridian_m
    square = bytes(shapely.to_wkb(shapely.box(-97, 38, -96, 39)))
    assert geometry.gap_m(square, geometry.point(-96.5, 38.5)) == 0
    assert abs(geometry.gap_m(square, geometry.point(-96.5, 40.0)) - 111_030) < 50


@pytest.mark.parametrize("wkb", [b"", b"\x00", b"\x01\x01\x00\x00\x00", bytes(shapely.to_wkb(shapely.Polygon()))])
def test_what_is_no_geometry_has_no_bounds(wkb: bytes) -> None:
    with pytest.raises(ValueError, match="geometry"):
        geometry.bounds(wkb)


@pytest.mark.parametrize("text", ["", "{}", "null", '{"type":"Point"}', "[1,2]"])
def test_what_is_no_geojson_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="GeoJSON"):
        geometry.from_geojson(text)


@given(st.floats(-179, 179), st.floats(-89, 89), st.integers(0, 2_000_000), st.floats(0, 360))
@settings(max_examples=100)
def test_a_box_around_a_point_holds_all_that_is_near(x: float, y: float, reach_m: int, bearing: float) -> None:
    from pyproj import Geod

    lon, lat, _ = Geod(ellps="WGS84").fwd(x, y, bearing, reach_m)
    west, south, east, north = geometry.box_around(geometry.point(x, y), reach_m)
    assert south <= lat <= north
    if abs(lon - x) < 180:  # not across the antimeridian
        assert west <= lon <= east


def test_words() -> None:
    assert (plural("county"), plural("city"), plural("state")) == ("counties", "cities", "states")
    assert (counted(1, "county"), counted(1200, "county")) == ("1 county", "1,200 counties")
    assert (listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])) == ("a", "a and b", "a, b and c")
    assert listed([str(i) for i in range(23)]).endswith("19 and 3 more")
    assert (kilometres(0), kilometres(12_349), kilometres(1_234_567)) == ("0.0 km", "12.3 km", "1,234.6 km")
