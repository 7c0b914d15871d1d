"""Kinds of places as files without a manifest tell them: by kind, by name of the file, by header, by each other."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from shapely.geometry import Point

from retrieval.algebra.wording import plural
from retrieval.ingest.reading import FileTask, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.records.kinds import KNOWN, kind_column, kind_of_file, kind_of_header
from retrieval.ingest.values import Owner, SourceSpec
from retrieval.media_types import CSV, GEOJSON, GEOPACKAGE, JSON
from tests.geopackage_maker import geopackage_of
from tests.unit.test_ingest_pipeline import Home, T

NAMES = ("Marl", "Quern", "Tamber", "Zell")
Row = dict[str, Any]


def geojson(rows: Sequence[Row]) -> bytes:
    features = [
        {"type": "Feature", "properties": row, "geometry": {"type": "Point", "coordinates": [10 + n, 50]}}
        for n, row in enumerate(rows)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def geopackage(rows: Sequence[Row]) -> bytes:
    return geopackage_of({"layer": [(row, Point(10 + n, 50)) for n, row in enumerate(rows)]})


def csv(rows: Sequence[Row]) -> bytes:
    lines = [",".join((*rows[0], "year", "people"))]
    lines += [",".join((*(str(each) for each in row.values()), "2020", str(100 + n))) for n, row in enumerate(rows)]
    return "\n".join(lines).encode()


def points(rows: Sequence[Row]) -> bytes:
    return json.dumps([{**row, "lat": 50, "lon": 10 + n} for n, row in enumerate(rows)]).encode()


FORMATS = {
    "geojson": (geojson, GEOJSON),
    "gpkg": (geopackage, GEOPACKAGE),
    "csv": (csv, CSV),
    "json": (points, JSON),
}
KINDS = ("district", "town", "county", "city", "parish", "lake", "harbour", "weather_station")


def ids(data: bytes, media_type: str, stem: str = "data", kinds: dict[str, str] | None = None) -> list[str]:
    source = SourceSpec(Path(f"{stem}.x"), "s", stem, kinds=kinds or {})
    found = read_file(FileTask(source, Owner("s@1", "s", "c"), media_type, {}, ChunkSize(), data))
    for record in found.parts.records:
        for entity in record.entities:
            assert entity.entity_id.partition(":")[0] == entity.type
        assert record.measurement is None or record.measurement.place in record.entities
    return [entry.entity.entity_id for entry in found.parts.entries]


def told(kind: str, names: Sequence[str] = NAMES) -> list[str]:
    return [f"{kind}:{name.lower()}" for name in names]


@pytest.mark.parametrize(
    "header", ["kind", "Type", "CATEGORY", "place_type", "feature class", "fclass", "admin level name"]
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMATS)
def test_a_column_of_kinds_tells_them(form: str, kind: str, header: str) -> None:
    made, media_type = FORMATS[form]
    words = kind.replace("_", " ")
    for said in (words, words.title(), plural(words).upper()):
        rows = [{"name": name, header: said} for name in NAMES]
        assert ids(made(rows), media_type) == told(kind), said


@pytest.mark.parametrize(
    "stem", ["{}", "{}_boundaries", "us-{}-2020", "{}.simplified", "Kansas {}", "{} population", "{}_by_area"]
)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if "_" not in kind])
@pytest.mark.parametrize("form", FORMATS)
def test_the_name_of_the_file_tells_the_kind(form: str, kind: str, stem: str) -> None:
    made, media_type = FORMATS[form]
    rows = [{"name": name} for name in NAMES]
    for word in (kind, plural(kind), plural(kind).title()):
        assert ids(made(rows), media_type, stem.format(word)) == told(kind), word


@pytest.mark.parametrize(
    ("header", "kind"), [("county", "county"), ("Town Name", "town"), ("city_name", "city"), ("STATE_NAME", "state")]
)
@pytest.mark.parametrize("form", FORMATS)
def test_the_header_of_the_name_tells_the_kind(form: str, header: str, kind: str) -> None:
    made, media_type = FORMATS[form]
    assert ids(made([{header: name} for name in NAMES]), media_type) == told(kind)


@pytest.mark.parametrize("header", ["district", "Municipality", "parish name", "Country Name", "station", "lake"])
def test_so_does_that_of_a_table(header: str) -> None:
    kind = header.lower().removesuffix(" name")
    assert ids(csv([{header: name} for name in NAMES]), CSV, "figures") == told(kind)
    assert ids(csv([{header: name, "kind": "town"} for name in NAMES]), CSV, "lakes") == told(kind)


@pytest.mark.parametrize("form", FORMATS)
def test_a_town_and_a_district_of_one_name_are_two(form: str) -> None:
    made, media_type = FORMATS[form]
    rows = [{"name": name, "kind": kind} for kind, name in itertools.product(("district", "town"), ("Marl", "Tamber"))]
    assert ids(made(rows), media_type) == [*told("district", ("Marl", "Tamber")), *told("town", ("Marl", "Tamber"))]


def test_what_has_no_kind_among_those_that_have_one_is_a_place() -> None:
    rows: list[Row] = [{"name": name, "kind": "town"} for name in NAMES]
    rows[1]["kind"] = None
    assert ids(geojson(rows), GEOJSON) == ["town:marl", "place:quern", "town:tamber", "town:zell"]


NO_KINDS = {
    "Feature": ["Feature"] * 4,
    "geometry": ["Polygon", "Polygon", "MultiPolygon", "Polygon"],
    "boundary": ["administrative"] * 4,
    "urban and rural": ["urban", "rural", "urban", "rural"],
    "free text": ["A quiet town on the river, known for its mill.", "", "A town that was burnt in 1704.", ""],
    "all different": ["town", "city", "village", "hamlet"],
    "letters": ["A", "B", "A", "B"],
    "numbers": ["1", "2", "1", "2"],
    "materials": ["brick", "timber", "brick", "timber"],
    "some": ["town", "brick", "town", "brick"],
    "nothing": ["", "", "", ""],
}


@pytest.mark.parametrize("header", ["type", "kind", "category", "class"])
@pytest.mark.parametrize("name", NO_KINDS)
def test_what_is_no_kind_of_place_tells_none(name: str, header: str) -> None:
    rows = [{"name": each, header: said} for each, said in zip(NAMES, NO_KINDS[name], strict=True)]
    assert ids(geojson(rows), GEOJSON) == told("place")
    assert ids(geojson(rows), GEOJSON, "towns") == told("town")


def test_numbers_and_objects_are_no_kinds() -> None:
    for said in (4, True, {"a": "town"}, ["town"]):
        assert ids(geojson([{"name": name, "kind": said} for name in NAMES]), GEOJSON) == told("place")


def test_a_column_that_says_kind_of_place_may_use_any_short_word() -> None:
    told_by = {"place_type": ["steading", "steading", "shieling", "steading"]}
    assert kind_column(told_by, apart="name") == "place_type"
    assert kind_column({"type": told_by["place_type"]}, apart="name") is None


@pytest.mark.parametrize(
    "stem",
    [
        "data",
        "figures",
        "persons",
        "mayors_of_towns",
        "district_managers",
        "townsend",
        "schooling",
        "2020",
        "",
        "map",
        "lists_by_county",
    ],
)
def test_a_file_that_is_not_called_by_a_kind_of_place_tells_none(stem: str) -> None:
    assert kind_of_file(stem) is None
    assert ids(csv([{"name": each} for each in ("Ann Lee", "Bo Kay")]), CSV, stem) == ["place:ann-lee", "place:bo-kay"]


@pytest.mark.parametrize(
    "header", ["name", "place", "area", "location", "entity", "geography", "county seat", "town hall", "state bird"]
)
def test_a_header_that_says_no_kind_tells_none(header: str) -> None:
    assert kind_of_header(header) is None


def test_every_known_kind_is_read_from_its_plural() -> None:
    for kind in KNOWN:
        assert kind_of_file(plural(kind)) == kind_of_header(f"{kind}_name") == kind


# -------------------------------------------------------------------------------------------- files that tell each other


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    opened = Home(tmp_path)
    yield opened
    await opened.store.aclose()


def shapes(names: Sequence[str] = NAMES) -> str:
    return geojson([{"name": name} for name in names]).decode()


def figures(names: Sequence[str] = NAMES) -> str:
    return csv([{"name": name} for name in names]).decode()


async def places(home: Home, source: str) -> list[str]:
    return [
        each.entity.entity_id for each in await home.store.places(T) if each.document_id.startswith(f"files.{source}@")
    ]


@pytest.mark.parametrize("order", [("data.csv", "districts.geojson"), ("zz.csv", "districts.geojson")])
async def test_figures_whose_kind_only_the_map_tells_are_of_the_same_places(home: Home, order: tuple[str, str]) -> None:
    home.write(order[0], figures())
    home.write(order[1], shapes())
    first = await home.run()
    assert await places(home, order[0]) == await places(home, order[1]) == told("district")
    again = await home.run()
    assert [file.state for file in again.files] == ["skipped", "skipped"]
    assert again.manifest_hash == first.manifest_hash


async def test_a_map_that_comes_later_tells_what_was_there(home: Home) -> None:
    home.write("data.csv", figures())
    await home.run()
    assert await places(home, "data.csv") == told("place")
    home.write("districts.geojson", shapes())
    later = await home.run()
    assert await places(home, "data.csv") == told("district")
    assert later.superseded and (await home.run()).superseded == ()


async def test_a_stored_map_tells_what_comes_later(home: Home) -> None:
    home.write("districts.geojson", shapes())
    await home.run()
    home.write("data.csv", figures())
    await home.run()
    assert await places(home, "data.csv") == told("district")


async def test_a_column_is_of_the_kind_that_all_of_it_can_be(home: Home) -> None:
    home.write("data.csv", figures())
    home.write("districts.geojson", shapes())
    home.write("towns.geojson", shapes(NAMES[:2]))
    await home.run()
    assert await places(home, "data.csv") == told("district")


async def test_names_that_may_be_of_two_kinds_stay_places(home: Home) -> None:
    home.write("data.csv", figures())
    home.write("districts.geojson", shapes())
    home.write("towns.geojson", shapes())
    await home.run()
    assert await places(home, "data.csv") == told("place")
    (home.files / "towns.geojson").unlink()
    await home.ingest.remove(["files.towns.geojson"], tenant=T)
    home.write("more.csv", figures())
    await home.run()
    assert await places(home, "data.csv") == told("district")


async def test_nothing_is_told_across_access_classes(home: Home) -> None:
    home.write("districts.geojson", shapes())
    await home.run(label="restricted")
    (home.files / "districts.geojson").unlink()
    home.write("data.csv", figures())
    await home.run()
    assert await places(home, "data.csv") == told("place")


async def test_what_does_not_fit_the_group_is_read_again(home: Home) -> None:
    home.ingest._group_records = 3
    home.write("a.csv", figures())
    home.write("b.csv", figures(("Nowhere",)))
    home.write("c.csv", figures(("Elsewhere", "Beyond")))
    home.write("districts.geojson", shapes())
    report = await home.run()
    assert [file.state for file in report.files] == ["done"] * 4
    assert await places(home, "a.csv") == told("district")
    assert await places(home, "b.csv") == ["place:nowhere"]
    assert await places(home, "c.csv") == ["place:elsewhere", "place:beyond"]
