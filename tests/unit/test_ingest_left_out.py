"""A bad row, figure, feature or byte is left out and told; the rest is as it would be without it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import LoadError
from retrieval.ingest.formats.load import load
from retrieval.ingest.records.features import read_features
from retrieval.ingest.records.tables import read_table
from retrieval.ingest.report import LEFT_OUT, NOTE
from retrieval.ingest.values import EntitySpec, ObservationSpec, Owner, Parts, RelationSpec, SourceSpec, TableSpec
from tests.office_maker import xlsx_of
from tests.unit.test_ingest_pipeline import Home

OWNER = Owner("d@1", "d", "class")
SPEC = TableSpec(
    point=("lon", "lat"),
    entities=(
        EntitySpec("town", "town", "town:{name|slug}", "{name}"),
        EntitySpec("state", "state", "state:{state|slug}", "{state}"),
    ),
    relations=(RelationSpec("town", "located_in", "state"),),
    observation=ObservationSpec("town", "population", "people"),
)
HEADER = "name,state,lon,lat,1930"
GOOD_ROW = st.builds(
    lambda name, x, n: f"{name},Fairland,{x},{x},{n}",
    st.sampled_from(["Elm", "Fir", "Gorse", "Heath"]), st.integers(-80, 80), st.integers(0, 99_999),
)  # fmt: skip
BAD_ROW = st.sampled_from(
    ["Bad", "Bad,Badland", "Bad,Badland,1,1,5,6", "Bad,Badland,200,1,5", "Bad,Badland,x,1,5", "Bad,Badland,1,,5",
     "Bad,Badland,1,1,many", "Bad,Badland,nan,1,5", "B\N{REPLACEMENT CHARACTER}d,Badland,1,1,5"]
)  # fmt: skip


def table(lines: list[str]) -> Parts:
    text = "\n".join([HEADER, *lines]) + "\n"
    source = SourceSpec(Path("t.csv"), "d", "T", table=SPEC)
    return read_table(source, load("t.csv", text.encode(), "text/csv"), OWNER, {})


def said(parts: Parts) -> list[Any]:
    return [
        [(r.kind, r.text, r.statement, r.geometry, r.measurement) for r in parts.records],
        [(e.entity, e.names) for e in parts.entries],
        [(r.subject, r.object) for r in parts.relationships],
    ]


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(st.tuples(st.booleans(), GOOD_ROW, BAD_ROW), min_size=1, max_size=12))
def test_bad_rows_are_left_out_and_the_rest_is_as_without_them(lines: list[tuple[bool, str, str]]) -> None:
    rows = [good if is_good else bad for is_good, good, bad in lines]
    good = [row for row, (is_good, _, _) in zip(rows, lines, strict=True) if is_good]
    bad = [n for n, (is_good, _, _) in enumerate(lines) if not is_good]
    if len(bad) > len(good):
        with pytest.raises(LoadError, match=f"row {bad[0] + 1}: "):
            table(rows)
        return
    parts = table(rows)
    assert said(parts) == said(table(good))
    assert [told.partition(":")[0] for told in parts.left_out] == [f"row {n + 1}" for n in bad]
    assert [r.ordinal for r in parts.records] == list(range(len(parts.records)))
    assert {r.locator.row for r in parts.records} == set(range(len(rows))) - set(bad)
    stated = {record.record_id for record in parts.records}
    assert {edge.record_id for edge in parts.relationships} <= stated


SHAPES = {
    True: [None, {"type": "Point", "coordinates": [1, 2]}, {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}],
    False: [
        {"type": "Point", "coordinates": [200, 0]}, {"type": "Point", "coordinates": []}, {"type": "Blob"}, "POINT(0 0)",
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]},
    ],
}  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(kinds=st.lists(st.tuples(st.booleans(), st.integers(0, 99)), min_size=1, max_size=10))
def test_bad_features_are_left_out_and_the_rest_is_as_without_them(kinds: list[tuple[bool, int]]) -> None:
    def made(number: int, good: bool, pick: int) -> dict[str, Any]:
        shape = SHAPES[good][pick % len(SHAPES[good])]
        return {"type": "Feature", "id": f"f{number}", "properties": {"name": f"n{number}"}, "geometry": shape}

    def read(features: list[dict[str, Any]]) -> Parts:
        text = json.dumps({"type": "FeatureCollection", "features": features})
        return read_features(
            "m.geojson", load("m.geojson", text.encode(), "application/geo+json"), OWNER, TableSpec(), {}
        )

    features = [made(n, good, pick) for n, (good, pick) in enumerate(kinds)]
    kept = [feature for feature, (good, _) in zip(features, kinds, strict=True) if good]
    bad = [feature["id"] for feature, (good, _) in zip(features, kinds, strict=True) if not good]
    if len(bad) > len(kept):
        with pytest.raises(LoadError, match=f"feature {bad[0]}: "):
            read(features)
        return
    parts = read(features)
    assert said(parts) == said(read(kept))
    assert [told.partition(":")[0] for told in parts.left_out] == [f"feature {name}" for name in bad]


@pytest.mark.parametrize(
    ("data", "slips"),
    [(b"Words of Topeka. " * 20 + b"caf\xe9", 1), (b"\xff" + b"x" * 99, 1), (b"plain words", 0), ("é".encode(), 0)],
)
def test_few_bytes_that_are_not_utf8_are_told(data: bytes, slips: int) -> None:
    loaded = load("a.txt", data, "text/plain")
    assert loaded.text.count("\N{REPLACEMENT CHARACTER}") == slips
    assert [told.partition(" ")[0] for told in loaded.slips] == [str(slips)] * bool(slips)


@pytest.mark.parametrize(
    "data",
    [b"caf\xe9", b"\xff" * 5, b"\xff\xfea\x00b\x00", "Müßige Grüße für alle".encode("latin-1"), b"\xff" + b"x" * 98],
)
def test_another_encoding_is_refused(data: bytes) -> None:
    with pytest.raises(LoadError):
        load("a.txt", data, "text/plain")


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    opened = Home(tmp_path)
    yield opened
    await opened.store.aclose()


async def test_the_files_row_says_what_was_left_out(home: Home) -> None:
    home.write("a.csv", "name,1930\nElm,5\nFir\nGorse,7\n")
    (home.files / "b.md").write_bytes(b"# Words\n\n" + b"Many words about Topeka. " * 10 + b"caf\xe9.\n")
    home.write("c.md", "Whole words.\n")
    report = await home.run()
    told = {Path(f.path).name: (f.state, f.error_code, f.error_message) for f in report.files}
    assert told["a.csv"] == ("done", "LEFT_OUT", "1 left out: row 2: 1 cells where the header has 2")
    assert told["b.md"][:2] == ("done", "LEFT_OUT") and "not UTF-8" in str(told["b.md"][2])
    assert told["c.md"] == ("done", None, None)
    assert [Path(f.path).name for f in report.cut] == ["a.csv", "b.md"] and not report.failed
    assert await home.store.files("default") == report.files


async def test_a_title_above_a_table_is_a_note_and_no_failure(home: Home) -> None:
    rows = [["Population of the counties"], ["name", "1900"], ["Ness", 4535]]
    (home.files / "titled.xlsx").write_bytes(xlsx_of({"S": rows}))
    (home.files / "two.xlsx").write_bytes(xlsx_of({"S": rows, "T": [["a", "b"], ["x", "y"]]}))
    report = await home.run()
    told = {Path(row.path).name: row for row in report.files}
    assert (told["titled.xlsx"].state, told["titled.xlsx"].error_code) == ("done", NOTE)
    assert told["titled.xlsx"].error_message == "sheet 'S': 1 row above the header"
    assert told["two.xlsx"].error_code == LEFT_OUT and "1 row above" in (told["two.xlsx"].error_message or "")
    assert [Path(row.path).name for row in report.cut] == ["two.xlsx"] and not report.failed


async def test_a_figure_of_thousands_of_digits_costs_its_row(home: Home) -> None:
    home.write("a.csv", f"name,1900\nNess,4535\nRiley,{'9' * 5_000}\nMiami,21641\n")
    home.write("b.csv", f"name,note\nNess,{'9' * 5_000}\n")
    report = await home.run()
    told = {Path(row.path).name: row for row in report.files}
    assert (told["a.csv"].error_code, told["a.csv"].observations) == (LEFT_OUT, 2)
    assert "a figure of 5000 characters in column 1900" in (told["a.csv"].error_message or "")
    assert (told["b.csv"].state, told["b.csv"].error_code) == ("done", None)
