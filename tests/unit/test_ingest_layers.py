"""Shapefiles, FlatGeobuf and GeoParquet: features in WGS 84; Parquet and JSON: tables; a coded error for everything
else."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio.raw
import pyproj
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import LoadError
from retrieval.ingest.formats.load import load, read_bytes
from retrieval.ingest.reading import FileTask, ReadFile, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.values import Owner, SourceSpec
from retrieval.media_types import FLATGEOBUF, JSON, NDJSON, PARQUET, SHAPEFILE
from retrieval.model import RecordKind
from tests.office_maker import packed
from tests.unit.test_ingest_pipeline import Home

TOPEKA, WICHITA = shapely.Point(-95.69, 39.05), shapely.Point(-97.34, 37.69)
DRIVERS = {SHAPEFILE: "ESRI Shapefile", FLATGEOBUF: "FlatGeobuf"}
ENDINGS = {SHAPEFILE: "shp", FLATGEOBUF: "fgb", PARQUET: "parquet", JSON: "json", NDJSON: "ndjson"}


def moved(shape: Any, system: str) -> Any:
    transform = pyproj.Transformer.from_crs("EPSG:4326", system, always_xy=True).transform
    return shapely.transform(shape, lambda each: np.column_stack(transform(each[:, 0], each[:, 1])))


def layer(
    folder: Path, kind: str, shapes: Sequence[Any], columns: Mapping[str, Sequence[Any]], system: str | None = "EPSG:4326", **more: Any
) -> Path:  # fmt: skip
    """A layer, written by GDAL."""
    path = folder / f"towns.{ENDINGS[kind]}"
    data = [
        np.array(values, dtype=object if isinstance(values[0], str | type(None)) else None)
        for values in columns.values()
    ]
    pyogrio.raw.write(
        path, shapely.to_wkb(np.array(shapes, dtype=object)), data, list(columns), geometry_type="Unknown" if kind == FLATGEOBUF else "Point",
        crs=system, driver=DRIVERS[kind], **more,
    )  # fmt: skip
    return path


def geoparquet(rows: Sequence[tuple[str, bytes | None]], system: object = None, **column: Any) -> bytes:
    """A GeoParquet file of names and geometries in WKB."""
    told = {"encoding": "WKB", "geometry_types": [], **({"crs": system} if system else {}), **column}
    geo = {"version": "1.0.0", "primary_column": "shape", "columns": {"shape": told}}
    table = pa.table({"name": [name for name, _ in rows], "shape": pa.array([shape for _, shape in rows], pa.binary())})
    return parquet(table.replace_schema_metadata({"geo": json.dumps(geo)}))


def parquet(table: pa.Table) -> bytes:
    made = io.BytesIO()
    pq.write_table(table, made)
    return made.getvalue()


def read(data: bytes, kind: str) -> ReadFile:
    source = SourceSpec(Path(f"towns.{ENDINGS[kind]}"), "towns", "Towns")
    return read_file(FileTask(source, Owner("towns@1", "towns", "c"), kind, {}, ChunkSize(), data))


def points(found: ReadFile) -> list[tuple[float, ...]]:
    shapes = [shapely.from_wkb(record.geometry) for record in found.parts.records]
    return [tuple(round(each, 4) for each in (shape.x, shape.y)) for shape in shapes]


# ------------------------------------------------------------------------------------------------------------ features


@pytest.mark.parametrize("system", ["EPSG:4326", "EPSG:3857", "EPSG:26914", "EPSG:2154"])
@pytest.mark.parametrize("kind", DRIVERS)
def test_a_layer_is_moved_to_longitude_and_latitude(kind: str, system: str, tmp_path: Path) -> None:
    shapes = [moved(each, system) for each in (TOPEKA, WICHITA)]
    path = layer(tmp_path, kind, shapes, {"name": ["Topeka", "Wichita"], "people": [126_000, 397_000]}, system)
    found = read(read_bytes(path), kind)
    assert sorted(points(found)) == [(-97.34, 37.69), (-95.69, 39.05)]
    assert sorted(record.statement or "" for record in found.parts.records) == [
        "name: Topeka; people: 126000.",
        "name: Wichita; people: 397000.",
    ]
    assert {entry.entity.name for entry in found.parts.entries} == {"Topeka", "Wichita"}


@pytest.mark.parametrize("encoding", ["UTF-8", "CP1252", "CP437", "ISO-8859-2"])
def test_the_words_of_a_shapefile_are_in_the_encoding_that_it_names(encoding: str, tmp_path: Path) -> None:
    path = layer(tmp_path, SHAPEFILE, [TOPEKA], {"name": ["Élan"]}, encoding=encoding)
    assert (tmp_path / "towns.cpg").exists()
    assert "Élan" in read(read_bytes(path), SHAPEFILE).text


def test_a_shapefile_in_a_folder_and_in_a_zip_file_are_the_same(tmp_path: Path) -> None:
    path = layer(tmp_path, SHAPEFILE, [TOPEKA], {"name": ["Topeka"]}, "EPSG:3857")
    zipped = packed({f"data/{each.name}": each.read_bytes() for each in tmp_path.iterdir()})
    assert read(zipped, SHAPEFILE) == read(read_bytes(path), SHAPEFILE)
    assert read_bytes(path) == read_bytes(path)


def test_further_layers_of_a_zip_file_are_told(tmp_path: Path) -> None:
    layer(tmp_path, SHAPEFILE, [TOPEKA], {"name": ["Topeka"]})
    files = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    files |= {name.replace("towns", "roads"): data for name, data in files.items()}
    assert read(packed(files), SHAPEFILE).parts.left_out == ("layer 'towns'; the first is read",)


def test_without_a_system_of_coordinates_they_are_degrees_and_it_is_told(tmp_path: Path) -> None:
    path = layer(tmp_path, SHAPEFILE, [TOPEKA], {"name": ["Topeka"]})
    path.with_suffix(".prj").unlink()
    found = read(read_bytes(path), SHAPEFILE)
    assert points(found) == [(-95.69, 39.05)]
    assert found.parts.notes == ("it names no system of coordinates; they were taken as longitude and latitude",)


@pytest.mark.parametrize("missing", ["shx", "dbf"])
def test_a_shapefile_without_one_of_its_files_is_refused_by_name(missing: str, tmp_path: Path) -> None:
    path = layer(tmp_path, SHAPEFILE, [TOPEKA], {"name": ["Topeka"]})
    path.with_suffix(f".{missing}").unlink()
    with pytest.raises(LoadError, match=rf"^towns\.shp: the Shapefile 'towns' lacks its \.{missing}"):
        read(read_bytes(path), SHAPEFILE)


def test_numbers_that_are_missing_are_not_told_and_the_others_stay_whole(tmp_path: Path) -> None:
    schema = {"name": ["a", "b"], "people": np.array([1.5, np.nan])}
    found = read(read_bytes(layer(tmp_path, FLATGEOBUF, [TOPEKA, WICHITA], schema)), FLATGEOBUF)
    assert sorted(record.statement or "" for record in found.parts.records) == ["name: a; people: 1.5.", "name: b."]


@pytest.mark.parametrize("system", [None, "EPSG:3857", "EPSG:26914"])
def test_geoparquet_is_a_layer_too(system: str | None) -> None:
    rows = [
        (name, shapely.to_wkb(moved(each, system) if system else each))
        for name, each in (("Topeka", TOPEKA), ("Wichita", WICHITA))
    ]
    told = pyproj.CRS(system).to_json_dict() if system else None
    found = read(geoparquet([*rows, ("Nowhere", None)], told), PARQUET)
    assert points(ReadFile(found.text, (), type(found.parts)(found.parts.records[:2]))) == [
        (-95.69, 39.05),
        (-97.34, 37.69),
    ]
    assert found.parts.records[2].geometry is None


def test_a_bad_feature_is_told_and_the_others_are_taken_in() -> None:
    found = read(
        geoparquet(
            [("Topeka", shapely.to_wkb(TOPEKA)), ("Bad", b"\x01\x01\x00"), ("Wichita", shapely.to_wkb(WICHITA))]
        ),
        PARQUET,
    )
    assert [each.partition(" (")[0] for each in found.parts.left_out] == ["feature 1: the geometry cannot be read"]
    assert len(found.parts.records) == 2


@pytest.mark.parametrize("change", [{"encoding": "point"}, {"encoding": None}, {"crs": {"type": "Nonsense"}}])
def test_geoparquet_that_cannot_be_placed_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(LoadError, match=r"geometries are read as WKB|which is not known"):
        read(geoparquet([("Topeka", shapely.to_wkb(TOPEKA))], **change), PARQUET)


async def test_the_files_of_a_shapefile_are_one_source_and_a_change_of_any_is_seen(home: Home) -> None:
    layer(home.files, SHAPEFILE, [TOPEKA], {"name": ["Topeka"]})
    first = await home.run()
    assert [Path(row.path).name for row in first.files] == ["towns.shp"]
    assert (await home.run()).files[0].state == "skipped"
    other = home.files / "other"
    other.mkdir()
    layer(other, SHAPEFILE, [TOPEKA], {"name": ["Wichita"]})
    (other / "towns.dbf").rename(home.files / "towns.dbf")
    for each in other.iterdir():
        each.unlink()
    again = await home.run()
    assert (again.files[0].state, again.superseded) == ("done", (first.files[0].document_id,))


async def test_a_dbf_alone_has_its_own_row(home: Home) -> None:
    layer(home.files, SHAPEFILE, [TOPEKA], {"name": ["Topeka"]})
    (home.files / "towns.shp").unlink()
    report = await home.run()
    assert {row.state for row in report.files} == {"failed"}
    assert len(report.files) == len(list(home.files.iterdir()))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    opened = Home(tmp_path)
    yield opened
    await opened.store.aclose()


# -------------------------------------------------------------------------------------------------------------- tables


def in_rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_the_columns_of_parquet_are_those_of_the_table() -> None:
    table = pa.table({
        "county": ["Ness", "Riley"], "1900": [4535, None], "opened": [date(1911, 5, 3), None], "share": [0.5, 2.0],
        "open": [True, False], "tags": [["a", "b"], []], "group": [{"x": 1}, None], "raw": pa.array([b"x", b"y"], pa.binary()),
    })  # fmt: skip
    loaded = load("a.parquet", parquet(table), PARQUET)
    assert in_rows(loaded.text) == [
        ["county", "1900", "opened", "share", "open", "tags", "group"],
        ["Ness", "4535", "1911-05-03", "0.5", "TRUE", "a; b", '{"x": 1}'],
        ["Riley", "", "", "2", "FALSE", "", ""],
    ]
    found = read(parquet(table), PARQUET)
    assert [r.measurement.value for r in found.parts.records if r.kind is RecordKind.OBSERVATION and r.measurement] == [
        "4535"
    ]


VALUES = st.one_of(
    st.integers(-(10**9), 10**9),
    st.booleans(),
    st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1),
)
OBJECTS = st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, min_size=1), min_size=1, max_size=6)


@given(OBJECTS)
@settings(max_examples=60)
def test_objects_are_the_same_table_as_a_list_as_lines_and_inside_an_object(objects: list[dict[str, Any]]) -> None:
    texts = [
        load("a.json", json.dumps(objects).encode(), JSON).text,
        load("a.json", json.dumps({"total": 1, "rows": objects}).encode(), JSON).text,
        load("a.ndjson", "\n".join(map(json.dumps, objects)).encode(), NDJSON).text,
    ]
    assert len(set(texts)) == 1
    header, *rows = in_rows(texts[0])
    assert set(header) == {name for each in objects for name in each}
    assert len(rows) == len(objects)
    for row, each in zip(rows, objects, strict=True):
        told = {name: cell for name, cell in zip(header, row, strict=True) if cell}
        assert told == {name: json.dumps(v).upper() if isinstance(v, bool) else str(v) for name, v in each.items()}


def test_objects_inside_are_columns_and_lists_are_cells() -> None:
    data = json.dumps(
        [{"name": "Topeka", "at": {"x": 1, "y": {"z": 2}}, "tags": ["a", "b"], "more": [{"k": 1}], "none": None}]
    )
    assert in_rows(load("a.json", data.encode(), JSON).text) == [
        ["name", "at.x", "at.y.z", "tags", "more", "none"], ["Topeka", "1", "2", "a; b", '[{"k": 1}]', ""],
    ]  # fmt: skip


def test_what_is_no_table_is_a_line_for_each_value() -> None:
    data = json.dumps({"bridge": {"opened": 1911, "names": ["Old", "New"]}, "parts": [{"n": 1}, 2], "none": None})
    assert load("a.json", data.encode(), JSON).text.split("\n\n") == [
        "bridge.opened: 1911",
        "bridge.names: Old; New",
        "parts 1.n: 1",
        "parts 2: 2",
    ]


def test_features_in_json_are_features_in_whatever_way_they_are_written() -> None:
    feature = {
        "type": "Feature",
        "properties": {"name": "Topeka"},
        "geometry": {"type": "Point", "coordinates": [-95.69, 39.05]},
    }
    collection = {"type": "FeatureCollection", "features": [feature]}
    for data, kind in ((collection, JSON), (feature, JSON), (feature, NDJSON)):
        assert points(read(json.dumps(data).encode(), kind)) == [(-95.69, 39.05)]


def test_lines_that_are_no_objects_are_told() -> None:
    loaded = load("a.ndjson", b'{"a": 1}\nx\n{"a": 2}\n\n[3]\n{"a": 3}\n', NDJSON)
    assert [each.partition(":")[0] for each in loaded.slips] == ["line 2", "line 5"]
    with pytest.raises(LoadError, match="line 1: not valid JSON"):
        load("a.ndjson", b'x\n{"a": 2}\ny', NDJSON)


# ------------------------------------------------------------------------------------------------------------- hostile

BAD = {
    "plain": b"hello there", "binary": bytes(range(256)) * 20, "zip": packed({"a.txt": "Kansas"}), "empty zip": packed({}),
    "magic": b"fgb\x03fgb\x00" + b"\xff" * 200, "parquet": b"PAR1" + b"\x00" * 40 + b"PAR1", "deep": b"[" * 200_000,
    "shp in name": packed({"a.shp": b"\x00\x00\x27\x0a" + b"\xff" * 96, "a.shx": b"", "a.dbf": b""}),
    "vrt": packed({"a.shp": "<OGRVRTDataSource/>", "a.shx": "", "a.dbf": ""}),
}  # fmt: skip


@pytest.mark.parametrize("kind", ENDINGS)
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_such_file_is_refused_by_name(name: str, kind: str) -> None:
    with pytest.raises(
        LoadError,
        match=rf"^towns\.{ENDINGS[kind]}: .*(not a readable|not valid JSON|not UTF-8|nests too deep|without a Shapefile)",
    ):
        read(BAD[name], kind)


@pytest.mark.filterwarnings(
    "ignore:CRS .* is deprecated:RuntimeWarning"
)  # a damaged number may be that of an old system
@given(kind=st.sampled_from([SHAPEFILE, FLATGEOBUF, PARQUET]), data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_file_is_read_or_refused(kind: str, data: st.DataObject) -> None:
    whole = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(1, len(whole)))
    for damaged in (bytes(whole), bytes(whole[:cut])):
        try:
            read(damaged, kind)
        except LoadError as exc:
            assert exc.code == "VALIDATION_FAILED"
            assert "its parser failed" not in str(exc)


def test_a_column_that_is_named_otherwise_in_one_place_is_read_or_refused() -> None:
    """A Parquet file names each column in its schema, its chunks and Arrow's schema."""
    whole, refused = WHOLE[PARQUET], 0
    for place in [found.start() for found in re.finditer(b"shape|name", whole)]:
        try:
            read(whole[:place] + b"S" + whole[place + 1 :], PARQUET)
        except LoadError as exc:
            assert "its parser failed" not in str(exc)
            refused += 1
    assert refused


def _whole() -> dict[str, bytes]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = {
            kind: read_bytes(layer(Path(folder), kind, [TOPEKA, WICHITA], {"name": ["a", "b"]})) for kind in DRIVERS
        }
    return {**made, PARQUET: geoparquet([("Topeka", shapely.to_wkb(TOPEKA))])}


WHOLE = _whole()
