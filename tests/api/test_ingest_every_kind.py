"""The whole way for every kind that is taken in by a parser of its own: `exhibit ingest`, then `exhibit ask` gives a cited
answer from it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyogrio.raw
import pytest
import shapely

from tests.command_line import command_line
from tests.kinds_maker import epub_of, ods_of, odt_heading, odt_of, odt_paragraph, pptx_of
from tests.unit.test_ingest_kinds import letter
from tests.unit.test_ingest_layers import geoparquet, parquet

QUESTIONS = {
    "crossings.pptx": ("When was the Wamego bridge opened?", "1911"),
    "mills.odt": ("When was the Fairland mill built?", "1884"),
    "population.ods": ("What was the population of Ness in 1900?", "4,535"),
    "schools.epub": ("When was the Elm school founded?", "1872"),
    "ferry.eml": ("When was the Gorse ferry closed?", "1932"),
    "library.mbox": ("When was the Heath library opened?", "1955"),
    "hills.shp": ("What is the elevation of Birch Hill?", "420"),
    "springs.fgb": ("What is the elevation of Alder Spring?", "420"),
    "wells.parquet": ("How far is Juniper Well from Larch Well?", "km"),
    "rainfall.parquet": ("What was the rainfall of Dodge City in 1951?", "812"),
    "yields.json": ("What was the wheat yield of Sumner in 1931?", "18"),
    "herds.ndjson": ("How many cattle did Chase have in 1890?", "41,000"),
}


def layer(path: Path, driver: str, names: list[str]) -> None:
    shapes = shapely.to_wkb(np.array([shapely.Point(-95.7, 39.0), shapely.Point(-97, 38)]))
    columns = [np.array(names, dtype=object), np.array([420, 510])]
    pyogrio.raw.write(
        path, shapes, columns, ["name", "elevation"], geometry_type="Point", crs="EPSG:4326", driver=driver
    )


def write_all(folder: Path) -> None:
    made = {
        "crossings.pptx": pptx_of(("Crossings", ["The Wamego bridge was opened in 1911."], [], "")),
        "mills.odt": odt_of(odt_heading("Mills", 1) + odt_paragraph("The Fairland mill was built in 1884.")),
        "population.ods": ods_of({"S": [["county", "1900", "1910"], ["Ness", 4535, 5883], ["Riley", 13828, 15783]]}),
        "schools.epub": epub_of({"a.xhtml": "<h1>Schools</h1><p>The Elm school was founded in 1872.</p>"}),
        "ferry.eml": letter("The ferry", "The Gorse ferry was closed in 1932.").as_bytes(),
        "library.mbox": b"From a@example.org Wed May  3 12:00:00 1911\n"
        + letter("The library", "The Heath library was opened in 1955.").as_bytes(),
        "wells.parquet": geoparquet([("Juniper Well", shapely.to_wkb(shapely.Point(-95.2, 38.7))), ("Larch Well", shapely.to_wkb(shapely.Point(-96.2, 38.1)))]),
        "rainfall.parquet": parquet(pa.table({"station": ["Dodge City", "Hays"], "year": [1951, 1951], "rainfall (mm)": [812, 900]})),
        "yields.json": json.dumps([{"county": "Sumner", "year": 1931, "wheat yield (bushels)": 18}]).encode(),
        "herds.ndjson": b'{"county": "Chase", "year": 1890, "cattle": 41000}\n',
    }  # fmt: skip
    for name, data in made.items():
        (folder / name).write_bytes(data)
    layer(folder / "hills.shp", "ESRI Shapefile", ["Birch Hill", "Cedar Hill"])
    layer(folder / "springs.fgb", "FlatGeobuf", ["Alder Spring", "Maple Spring"])


def test_each_kind_is_taken_in_explained_and_answers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    write_all(files)
    cli = command_line(capsys, monkeypatch, "--json", "--home", tmp_path / "home")
    code, out, _ = cli("ingest", files, "--label", "public", "--explain")
    explained = {Path(each["path"]).name: each for each in json.loads(out)["files"]}
    assert (code, explained.keys()) == (0, QUESTIONS.keys())
    code, out, _ = cli("ingest", files, "--label", "public")
    rows = {Path(each["path"]).name: each for each in json.loads(out)["files"]}
    assert (code, rows.keys()) == (0, QUESTIONS.keys())
    for name, row in rows.items():
        made = {kind: explained[name][kind]["count"] for kind in ("passages", "observations", "features")}
        assert made == {kind: row[kind] for kind in made}, name
    for name, (question, expected) in QUESTIONS.items():
        code, out, err = cli("ask", question)
        answer = json.loads(out)
        assert code == 0, (name, err)
        assert expected in answer["answer"], name
        assert {each["source_id"] for each in answer["citations"].values()} == {f"files.{name}"}, name


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not on this machine")
def test_the_text_of_a_picture_answers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tests.unit.test_ingest_picture import picture_of

    (tmp_path / "sign.png").write_bytes(picture_of("The Wamego bridge was opened in 1911."))
    cli = command_line(capsys, monkeypatch, "--json", "--home", tmp_path / "home")
    code, out, _ = cli("ingest", tmp_path / "sign.png", "--label", "public")
    (row,) = json.loads(out)["files"]
    assert (code, row["error_code"]) == (0, "NOTE")
    assert "Tesseract" in row["error_message"]
    _, out, _ = cli("ask", "When was the Wamego bridge opened?")
    assert "1911" in json.loads(out)["answer"]
