"""Tables that no manifest describes, asked: totals count as nothing, and places of one name are told apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from retrieval.ingest.report import NOTE
from tests.harness import ask, ingest, opened

CENSUS = (
    "District,Population 2001,Population 2011,Median income 2021 (EUR)\nArden,100,110,10\nBrinmoor,80,70,12\nCaldwick,450,480,14\n"
    "{},630,660,\n"
)  # fmt: skip
OTHER = "County,Population 1930\nNess,1000\nRiley,3000\nOsage,500\n"
QUESTIONS = {
    "Which district had the largest population in 2011?": "Caldwick had the largest population in 2011",
    "Which district had the second largest population in 2011?": "Arden",
    "What was the average population of the districts in 2011?": "220",
    "What was the total population of all districts in 2011?": "660",
    "What was the total population of all counties in 1930?": "4,500",
}


@pytest.mark.parametrize("label", ["Total", "All districts", "Grand total", "Average"])
async def test_answers_count_no_totals(tmp_path: Path, label: str) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "district-census.csv").write_text(CENSUS.format(label))
    (files / "county-population.csv").write_text(OTHER)
    report = await ingest(tmp_path / "home", paths=[files], label="public")
    assert [file.error_code for file in report.files if file.error_code] == [NOTE]
    assert any(f"row 4: {label}" in (file.error_message or "") for file in report.files)
    async with opened(tmp_path / "home") as system:
        for question, said in QUESTIONS.items():
            body = await ask(system, question)
            assert body["outcome"] == "ANSWER" and said in body["answer"], (question, body["answer"])
            assert label not in body["answer"], (question, body["answer"])


REGIONS = (
    "Region,Population 2011,Population 2021\nNorth,100,110\nEast,80,70\nSouth,450,480\nWest,200,220\nCentral,30,{}\n"
    "England,860,920\n"
)


async def test_a_row_that_is_the_sum_of_the_others_counts_as_nothing(tmp_path: Path) -> None:
    for last, most, total in ((40, "South", "920"), (41, "England", "1,841")):  # a sum, and nearly one
        files = tmp_path / str(last)
        files.mkdir()
        (files / "regions.csv").write_text(REGIONS.format(last))
        await ingest(tmp_path / f"home{last}", paths=[files], label="public")
        async with opened(tmp_path / f"home{last}") as system:
            for question, said in {
                "Which region had the largest population in 2021?": f"{most} had the largest population in 2021",
                "What was the total population of all regions in 2021?": total,
                "What was the total population in 2021?": total,
                "What was the total population?": total,
            }.items():
                body = await ask(system, question)
                assert body["outcome"] == "ANSWER" and said in body["answer"], (question, body["answer"])


UNITS = (
    "Station,Year,Tmin (°C),Rainfall (mm),Cloud (%),Rent ($),Population (thousands),Visitors\n"
    "Oxley Top,2020,-50,612.4,40,1200,640,5\nOxley Top,2021,-48,700,44,1300,650,6\n"
    "Peel Weir,2020,-8,500,60,900,200,7\nPeel Weir,2021,-9,480,50,950,210,9\n"
)
MEASURES = {
    "Tmin": "{} °C",
    "rainfall": "{} mm",
    "cloud": "{}%",
    "rent": "${}",
    "population": "{} thousands",
    "visitors": "{}",
}
FORMS = {
    "Which station had the largest {} in 2021?": 1,
    "What was the average {} of the stations in 2021?": 1,
    "How did the {} of Oxley Top change between 2020 and 2021?": 2,
    "Which of Oxley Top and Peel Weir had a larger {} in 2021?": 2,
    "In which year was the {} of Peel Weir highest?": 1,
    "How many stations had a {} of at least {} in 2021?": 1,
    "Which stations had a {} of more than {} in 2021?": 3,
}


@pytest.mark.parametrize("measure", MEASURES)
async def test_computed_answers_tell_the_unit_of_the_column(tmp_path: Path, measure: str) -> None:
    (tmp_path / "stations.csv").write_text(UNITS)
    await ingest(tmp_path / "home", paths=[tmp_path / "stations.csv"], label="public")
    unit = re.compile(re.escape(MEASURES[measure].format("§")).replace("§", r"-?[\d,]+(?:\.\d+)?"))
    bound = "50.5 thousand people" if measure == "population" else "-50.5" if measure == "Tmin" else "0.5"
    async with opened(tmp_path / "home") as system:
        for form, least in FORMS.items():
            question = form.format(measure, bound)
            body = await ask(system, question)
            assert body["outcome"] == "ANSWER", (question, body["answer"])
            assert len(unit.findall(body["answer"])) >= least, (question, body["answer"])


HEAD = "village,lat,lon,Population 2021\n"
OTHERS = "Birk,50.02,10.29,1204\nCole End,50.25,10.15,870\n"
TWO = HEAD + "Ash Cross,50.05,10.10,410\nAsh Cross,50.20,10.30,96\n" + OTHERS


def box(name: str, west: float, south: float, east: float, north: float) -> str:
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return f'{{"type":"Feature","properties":{{"name":"{name}","kind":"district"}},"geometry":{{"type":"Polygon","coordinates":[{ring}]}}}}'


MAP = ",".join(
    (box("Arden", 10, 50, 10.2, 50.1), box("Brinmoor", 10.2, 50, 10.4, 50.1), box("Dunmere", 10.2, 50.1, 10.4, 50.3))
)


async def test_answers_tell_them_apart(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "villages.csv").write_text(TWO)
    (files / "districts.geojson").write_text(f'{{"type":"FeatureCollection","features":[{MAP}]}}')
    report = await ingest(tmp_path / "home", paths=[files], label="public")
    assert [file.error_code for file in report.files if file.error_code] == [NOTE]
    async with opened(tmp_path / "home") as system:
        for question, said in {
            "How many villages are there?": "4 villages",
            "Which villages lie in Arden?": "1 village lies in Arden: Ash Cross",
            "Which villages lie in Dunmere?": "1 village lies in Dunmere: Ash Cross",
            "Which village had the smallest population in 2021?": "Ash Cross",
            "What was the average population of the villages in 2021?": "645",
            "What was the population of Ash Cross in 2021?": "96",
        }.items():
            body = await ask(system, question)
            assert body["outcome"] == "ANSWER" and said in body["answer"], (question, body["answer"])
        for question in (
            "How far is Ash Cross from Birk?",
            "Which village is nearest to Ash Cross?",
            "Is Ash Cross in Arden?",
            "Is Ash Cross in Dunmere?",
            "In which district does Ash Cross lie?",
            "Which villages are within 20 km of Ash Cross?",
        ):
            body = await ask(system, question)
            assert body["outcome"] == "ABSTAIN", (question, body["answer"])


INCHES = "Station,Year,Rainfall ({}),Snow (cm)\nMarl Head,2020,{},40\nMarl Head,2021,{},30\nKelby,2021,{},20\n"
ACROSS = {
    "Which station had the largest rainfall in 2021?": False,
    "What was the average rainfall of the stations in 2021?": False,
    "What was the total rainfall in 2021?": False,
    "Which of Marl Head and Oxley Top had a larger rainfall in 2021?": False,
    "Which stations had a rainfall of more than 20 in 2021?": False,
    "Which stations had a rainfall of more than 500 mm in 2021?": False,
    "How did the rainfall of Marl Head change between 2020 and 2021?": True,
    "What was the rainfall of Oxley Top in 2021?": True,
    "Which station had the largest snow in 2021?": True,
}


@pytest.mark.parametrize(("unit", "figures"), [("in", ("20", "25", "30")), ("mm", ("500", "620", "750"))])
async def test_figures_in_several_units_are_not_held_against_each_other(
    tmp_path: Path, unit: str, figures: tuple[str, ...]
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "stations.csv").write_text("Station,Year,Rainfall (mm)\nOxley Top,2020,612\nOxley Top,2021,700\n")
    (files / "others.csv").write_text(INCHES.format(unit, *figures))
    await ingest(tmp_path / "home", paths=[files], label="public")
    async with opened(tmp_path / "home") as system:
        for question, answered in ACROSS.items():
            body = await ask(system, question)
            told = body["outcome"] == "ANSWER"
            assert told is (answered or unit == "mm"), (question, body["answer"])


CLIMATE = (
    "Station,Year,{}min (°C),{}max (°C),Area (km²)\nOxley Top,2021,-48,33,12.5\nPeel Weir,2021,-9,28,3\n"
    "Tarn Bridge,2021,-2,36,7\n"
)
TOLD = {
    "What was the minimum temperature of Peel Weir in 2021?": ["-9 °C"],
    "What was the lowest temperature at Oxley Top in 2021?": ["-48 °C"],
    "What was the maximum temperature of Peel Weir in 2021?": ["28 °C"],
    "What was the highest temperature at Tarn Bridge in 2021?": ["36 °C"],
    "Which station had the lowest temperature in 2021?": ["Oxley Top", "-48 °C"],
    "Which station had the highest temperature in 2021?": ["Tarn Bridge", "36 °C"],
    "Which station had the highest minimum temperature in 2021?": ["Tarn Bridge", "-2 °C"],
    "What was the average maximum temperature of the stations in 2021?": ["32.3 °C"],
    "How many stations had a minimum temperature below -5 °C in 2021?": ["2 stations"],
    "What was the area of Oxley Top in 2021?": ["12.5 km²"],
    "Which station had the largest area in 2021?": ["Oxley Top", "12.5 km²"],
    "How many stations had an area of more than 500 hectares in 2021?": ["2 stations"],
    "What was the average temperature of the stations in 2021?": [],
    "What was the mean temperature of Peel Weir in 2021?": [],
}


@pytest.mark.parametrize("lead", ["T", "t_", ""])
async def test_everyday_words_ask_for_columns_of_extremes_and_of_area(tmp_path: Path, lead: str) -> None:
    (tmp_path / "stations.csv").write_text(CLIMATE.format(lead, lead))
    await ingest(tmp_path / "home", paths=[tmp_path / "stations.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        for question, said in TOLD.items():
            body = await ask(system, question)
            assert (body["outcome"] == "ANSWER") is bool(said), (question, body["answer"])
            assert all(each in body["answer"] for each in said), (question, body["answer"])
            assert len([name for name in ("Oxley", "Peel", "Tarn") if name in body["answer"]]) <= 2, body["answer"]
