"""A measure that tables record in two units, asked in either: a figure in the other unit answers nobody."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

FIGURES = {"Arn": {2010: 5200, 2011: 5400}, "Bost": {2010: 910, 2011: 980}, "Cull": {2010: 3100, 2011: 2950}}
OTHERS = {"Arn": {2010: 19100, 2011: 19840}, "Dorn": {2010: 11050, 2011: 12070}}
SHEETS = (("Wheat", "tonnes", "bushels"), ("Rain", "mm", "inches"), ("Milk", "litres", "gallons"))
ASKED = (
    "How many {unit} of {measure} were there in {place} in {year}?",
    "What was the {measure} of {place} in {unit} in {year}?",
    "{measure} {unit} {place} {year}",
)
CHANGED = "By how many {unit} did the {measure} of {place} change between 2010 and 2011?"


def _sheet(measure: str, unit: str, figures: dict[str, dict[int, int]]) -> str:
    rows = [f"{place},{year},{value}" for place, told in figures.items() for year, value in told.items()]
    return "\n".join([f"District,Year,{measure} ({unit})", *rows, ""])


@pytest.mark.parametrize(("measure", "unit", "other"), SHEETS)
async def test_a_figure_is_told_in_the_unit_that_is_asked_for(
    tmp_path: Path, measure: str, unit: str, other: str
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "figures.csv").write_text(_sheet(measure, unit, FIGURES))
    (files / "more-figures.csv").write_text(_sheet(measure, other, OTHERS))
    await ingest(tmp_path / "home", paths=[files], label="public")
    async with opened(tmp_path / "home") as system:
        places = sorted({*FIGURES, *OTHERS})
        for said, held, place in product((unit, other), (FIGURES, OTHERS), places):
            if (said == unit) is not (held is FIGURES):
                continue
            for form, year in product(ASKED, (2010, 2011)):
                question = form.format(unit=said, measure=measure.casefold(), place=place, year=year)
                body = await ask(system, question)
                if place not in held:
                    assert body["outcome"] == "ABSTAIN", (question, body["answer"])
                    assert "NO_OBSERVATION" in {each["code"] for each in body["limitations"]}, question
                else:
                    assert body["answer"].count(" [") == 1, (question, body["answer"])
                    assert f"{held[place][year]:,} {said}" in body["answer"], (question, body["answer"])
            question = CHANGED.format(unit=said, measure=measure.casefold(), place=place)
            body = await ask(system, question)
            if place in held:
                assert f"{held[place][2011] - held[place][2010]:+,} {said}" in body["answer"], (question, body)
            else:
                assert body["outcome"] == "ABSTAIN", (question, body["answer"])


async def test_what_is_computed_of_several_places_takes_no_figure_in_another_unit(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "figures.csv").write_text(_sheet("Wheat", "tonnes", FIGURES))
    (files / "more-figures.csv").write_text(_sheet("Wheat", "bushels", OTHERS))
    (files / "oats.csv").write_text(_sheet("Oats", "tonnes", FIGURES))
    await ingest(tmp_path / "home", paths=[files], label="public")
    async with opened(tmp_path / "home") as system:
        for question in (
            "What were the average bushels of wheat in Bost and Cull in 2010?",
            "How many more bushels of wheat did Cull have than Bost in 2010?",
            "How many bushels of wheat did Bost and Cull have together in 2010?",
        ):
            body = await ask(system, question)
            assert body["outcome"] == "ABSTAIN", (question, body["answer"])
            assert not any("would be answered" in each["message"] for each in body["limitations"]), question
        body = await ask(system, "How many tonnes of oats did Bost and Cull have together in 2010?")
        assert "4,010" in body["answer"], body["answer"]
