"""`exhibit eval`: gold that is computed, scores that are told, and parts that are not there."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import shapely
from typer.testing import CliRunner

from ai.text.question_kind import LEADING, QuestionKind, kind_of
from api.cli.eval import app
from api.errors import NoSuchThing
from api.measure.eval import geoquestions, kansas, wotr
from api.measure.eval.calibrated import curve_of, error_of
from api.measure.eval.reliability import Curve, ReliabilityBin, diagram
from api.measure.eval.run import PARTS, all_met, evaluate, markdown
from api.measure.eval.tables import goal, markdown_of
from api.problems import EXIT_FAILED, EXIT_NOT_FOUND, EXIT_OK, problem_of
from retrieval.model import ChannelName
from retrieval.ranking.calibration import COSINE

QUESTIONS = {
    "1": {"Question": "What is the population of Oxford?", "Query": "", "Category": "A"},
    "2": {"Question": "Is Bedford east of Essex?", "Query": "", "Category": "B"},
    "3": {"Question": "Who wrote the anthem?", "Query": "", "Category": "C"},
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "geoquestions").mkdir(parents=True)
    (folder / "geoquestions" / geoquestions.FILE).write_text(json.dumps(QUESTIONS), "utf-8")
    return folder


async def test_parts_without_data_are_named_and_nothing_else_stops(data: Path, tmp_path: Path) -> None:
    report = await evaluate(data, tmp_path / "work", (), lambda _: None)
    missing = {part["part"] for part in report["parts"] if "missing" in part}
    assert missing == set(PARTS) - {"geoquestions"}
    assert "Not run: there is no wotr/toponym_train.jsonl." in markdown(report)
    assert not all_met(report)


def test_exit_codes(data: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    report = tmp_path / "report"
    done = run(app, [str(data), "--only", "geoquestions", "--report", str(report), "--work", str(tmp_path / "w")])
    assert done.exit_code == EXIT_OK, done.output
    assert json.loads((report / "eval.json").read_text("utf-8"))["parts"][0]["questions"] == len(QUESTIONS)
    assert (report / "eval.md").read_text("utf-8").startswith("## GeoQuestions1089")
    assert run(app, [str(data), "--only", "geoquestions", "--check"]).exit_code == EXIT_FAILED  # 1 of 2 is no 0.9


@pytest.mark.parametrize("only", [["wotr"], ["nothing-of-that-name"], ["geoquestions", "kansas"]])
async def test_a_named_part_without_data_is_not_found(data: Path, tmp_path: Path, only: list[str]) -> None:
    with pytest.raises(NoSuchThing) as refused:
        await evaluate(data, tmp_path, tuple(only), lambda _: None)
    assert problem_of(refused.value).exit == EXIT_NOT_FOUND


async def test_the_test_half_of_the_routing_was_not_in_sight(data: Path, tmp_path: Path) -> None:
    part = await geoquestions.run(data / "geoquestions", tmp_path)
    assert part["ways"]["odd numbers (misses not looked at)"]["kind"]["mean"] == 0.5
    assert part["ways"]["even numbers (misses looked at)"]["kind"]["mean"] == 1.0
    assert not part["goals"]["agreement of kinds"]["met"]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Where is Lecompton located?", QuestionKind.ATTRIBUTE),
        ("What was the population of Shawnee County in 1930?", QuestionKind.ATTRIBUTE),
        ("Which counties border Shawnee County?", QuestionKind.RELATION),
        ("Which towns are within 50 km of Topeka?", QuestionKind.RELATION),
        ("Is Topeka north of Wichita?", QuestionKind.RELATION),
        ("How many counties are there in Kansas?", QuestionKind.AGGREGATE),
        ("What was the average population of counties in Kansas?", QuestionKind.AGGREGATE),
        ("What was the largest county in Kansas in 1930?", QuestionKind.SUPERLATIVE),
        ("Which city had the most inhabitants in 1890?", QuestionKind.SUPERLATIVE),
        ("Who won the battle of Black Jack?", QuestionKind.TEXT),
        ("When was Black Sunday?", QuestionKind.TEXT),
        ("", QuestionKind.TEXT),
    ],
)
def test_kinds(question: str, kind: QuestionKind) -> None:
    assert kind_of(question) is kind


def test_every_kind_leads_somewhere_and_the_key_is_whole() -> None:
    assert set(LEADING) == set(QuestionKind)
    assert LEADING[QuestionKind.TEXT][0] is ChannelName.FULLTEXT
    assert set(geoquestions.KEY) == set("ABCDEFGHI")


# ---------------------------------------------------------------- places


def letter(text: str, **places: wotr.Point) -> wotr.Letter:
    names = [wotr.Toponym(n, text.index(n), text.index(n) + len(n), at) for n, at in places.items()]
    return wotr.Letter(text, tuple(names))


def test_distance_is_along_the_great_circle() -> None:
    assert wotr.distance_km((0.0, 0.0), (0.0, 90.0)) == pytest.approx(10007.557, abs=0.01)
    assert wotr.distance_km((39.0, -95.0), (39.0, -95.0)) == 0.0


def test_a_name_is_put_where_it_most_often_is_or_where_the_others_are() -> None:
    east, west, near = (38.0, -77.0), (38.5, -98.0), (38.4, -98.2)
    known = [letter("At Salem.", Salem=east), letter("Salem again.", Salem=east), letter("To Salem.", Salem=west)]
    known += [letter("At Larned.", Larned=near)]
    places = wotr.places_of(known)
    asked = letter("From Larned to Salem and Nowhere.", Larned=near, Salem=west, Nowhere=(0.0, 0.0))
    alone = wotr.linked(asked, places, together=False)
    assert alone[0] == 0.0
    assert alone[1] is not None
    assert alone[1] > wotr.NEAR_KM
    assert alone[2] is None
    assert wotr.linked(asked, places, together=True)[:2] == [0.0, 0.0]


# ---------------------------------------------------------------- as of a date


def feature(name: str, start: str, end: str, west: float, east: float) -> dict[str, object]:
    at = {"id": f"kss_{name.lower()}", "name": name, "start": start, "end": end}
    return {"properties": at, "geometry": json.loads(shapely.to_geojson(shapely.box(west, 38.0, east, 39.0)))}


MAP = [
    feature("ALDER", "1855-08-25", "1869-12-31", -97.0, -96.0),
    feature("ALDER", "1870-01-01", "2000-12-31", -97.0, -96.5),
    feature("BIRCH", "1855-08-25", "1900-12-31", -96.0, -95.0),
    feature("CEDAR", "1870-01-01", "2000-12-31", -96.5, -96.0),
    feature("BRIEF", "1860-08-01", "1861-06-30", -99.0, -98.0),
    feature("KS NCA 1", "1855-08-25", "1900-12-31", -102.0, -99.0),
]


def test_editions_stand_from_the_middle_of_a_year_to_the_middle_of_a_year() -> None:
    editions = kansas.editions_of(MAP)
    assert [(e.name, e.first, e.last) for e in editions] == [
        ("Alder", 1856, 1869),
        ("Alder", 1870, 2000),
        ("Birch", 1856, 1900),
        ("Cedar", 1870, 2000),
    ]


@pytest.mark.parametrize(("year", "names"), [(1860, ["Birch"]), (1880, ["Cedar"])])
def test_gold_borders_are_lines_of_the_year(year: int, names: list[str]) -> None:
    there = kansas.standing(kansas.editions_of(MAP), year)
    assert kansas.neighbours(there, next(e for e in there if e.name == "Alder")) == names


def test_a_corner_is_no_border() -> None:
    one, other = (kansas.Edition(n, n, 1, 2, shapely.box(x, x, x + 1, x + 1)) for n, x in (("a", 0), ("b", 1)))
    assert kansas.neighbours([one, other], one) == []


@pytest.mark.parametrize(
    ("outcome", "text", "right"),
    [("ANSWER", "It was 1,500.", True), ("ANSWER", "It was 1,50.", False), ("ABSTAIN", "1,500", False)],
)
def test_right_is_every_word_and_none_of_the_others(outcome: str, text: str, right: bool) -> None:
    assert kansas.is_right(kansas.AsOf("g", "?", ("1,500",), ("2,000",)), outcome, text) is right
    assert not kansas.is_right(kansas.AsOf("g", "?", ("1,500",), ("2,000",)), "ANSWER", "1,500 and 2,000")
    assert kansas.is_right(kansas.AsOf("g", "?", ()), outcome, text) is (outcome == "ABSTAIN")


async def test_a_small_kansas_is_asked_and_right(tmp_path: Path) -> None:
    folder = tmp_path / "kansas"
    tables: dict[Path, list[list[str]]] = {
        Path("county-population/population.csv"): [
            ["fips", "name", *map(str, kansas.CENSUSES)],
            ["20000", "Kansas", *["9000"] * 6],
            ["20001", "Alder County", "1000", "1100", "1200", "1300", "1400", "1500"],
        ],
        Path("city-population/cities.csv"): [
            ["ST", "City", *map(str, range(1860, 2011, 10)), "LAT", "LON"],
            ["KS", "Elm", *["0"] * 8, *map(str, range(2000, 2800, 100)), "38.5", "-96.25"],
        ],
    }
    for path, rows in tables.items():
        (folder / path).parent.mkdir(parents=True)
        with (folder / path).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    (folder / "treaties").mkdir()
    treaty = ["Kansa\t7 Stat. 244\t06/03/1825\t1825-06-03\t\t\tat St. Louis"]
    columns = "nation\tcitation\tsigned\tsigned_iso\tadvice_consent\tproclaimed\tnote"
    (folder / "treaties" / "treaties.tsv").write_text("\n".join([columns, *treaty]) + "\n", "utf-8")
    (folder / "historical-counties").mkdir()
    collection = {"type": "FeatureCollection", "features": [{"type": "Feature", **each} for each in MAP]}
    (folder / "historical-counties" / "counties.geojson").write_text(json.dumps(collection), "utf-8")
    part = await kansas.run(folder, tmp_path / "work")
    assert {name: way["right"]["mean"] for name, way in part["ways"].items()} == dict.fromkeys(part["ways"], 1.0)
    assert {"figure of a county", "no figure for the year", "neighbours", "county of a city"} <= set(part["ways"])


# ---------------------------------------------------------------- figures


def test_a_perfect_score_has_no_error_and_a_proud_one_has() -> None:
    honest = [(500, n % 2 == 0) for n in range(40)]
    proud = [(900, n % 2 == 0) for n in range(40)]
    assert error_of(curve_of(honest, COSINE)) == 0.0
    assert error_of(curve_of(proud, COSINE)) == pytest.approx(0.4)
    assert curve_of([(100, True)] * 3, COSINE) == []
    assert error_of([]) == 0.0


def test_the_diagram_is_xml_with_a_mark_for_every_bin_and_the_threshold() -> None:
    drawn = diagram([Curve("bm25 <a>", (ReliabilityBin(0.1, 0.0, 5), ReliabilityBin(0.9, 1.0, 50)))], 0.65)
    root = ElementTree.fromstring(drawn)
    circles = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(circles) == 3
    assert "default threshold 0.65" in drawn
    assert "bm25 &lt;a&gt;" in drawn


def test_a_part_is_told_with_its_goals_and_tables() -> None:
    part = {
        "name": "X",
        "questions": 2,
        "ways": {"a": {"recall_5": {"mean": 0.5, "low": 0.1, "high": 0.9}, "n": 2}, "b": {"recall_5": None}},
        "tables": [{"title": "T", "columns": ["c"], "rows": [[0.25]]}],
        "goals": {"recall": goal(0.6, 0.5), "n": goal(1, 2)},
    }
    told = markdown_of(part)
    assert "| a | 0.500 (0.100 to 0.900) | 2 |" in told
    assert "| 0.250 |" in told
    assert "Goal recall >= 0.600: 0.500, missed by 0.100." in told
    assert "Goal n >= 1.000: 2.000, met." in told
