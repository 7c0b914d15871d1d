"""Tables without years: which of their columns say something of a thing, and what is not said because it is not
certain."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.algebra.wording import CALENDAR_YEAR, plural
from retrieval.english.collectives import PERSONS
from retrieval.ingest.quarantine.quarantine import read_back, written
from retrieval.ingest.reading import FileTask, ReadFile, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.records.undated import kind_of_stem, singular
from retrieval.ingest.values import Owner, SourceSpec
from retrieval.media_types import CSV
from retrieval.model import RecordKind
from retrieval.registry.sql import rows
from retrieval.spatial.facts import Fact

LIGHTS = "Lighthouse,Height (m),Keeper,Built\nFastnet,54,Jim,1904\nSmalls,41,Owen,1861\nTuskar,,Dan,1815\n"


def read(data: str, stem: str = "lights", title: str = "Lights") -> ReadFile:
    spec = SourceSpec(Path(f"{stem}.csv"), "t", title)
    return read_file(FileTask(spec, Owner("t@1", "t", "c"), CSV, {}, ChunkSize(), data.encode()))


def told(data: str, stem: str = "lights", title: str = "Lights") -> list[tuple[str, str, str, str]]:
    made = [record.attribute for record in read(data, stem, title).parts.records if record.attribute]
    return [(each.place.name, each.measure, each.value, each.unit) for each in made]


def test_a_row_says_its_figures_of_its_thing() -> None:
    found = read(LIGHTS)
    assert told(LIGHTS) == [
        ("Fastnet", "height", "54", "m"),
        ("Fastnet", "year built", "1904", CALENDAR_YEAR),
        ("Smalls", "height", "41", "m"),
        ("Smalls", "year built", "1861", CALENDAR_YEAR),
        ("Tuskar", "year built", "1815", CALENDAR_YEAR),
    ]
    cells = [record for record in found.parts.records if record.attribute]
    assert cells[0].statement == "The height of Fastnet is 54 m." and cells[0].locator.column == "Height (m)"
    assert all(each.kind is RecordKind.OBSERVATION and each.time is None and not each.measurement for each in cells)
    assert {each.entity.entity_id for each in found.parts.entries} == {f"listed:lighthouse:{n}" for n in NAMES}
    passages = [record for record in found.parts.records if record.kind is RecordKind.PASSAGE]
    assert [record.entities for record in passages] == [()] * 3  # a text says what it said before


NAMES = ("fastnet", "smalls", "tuskar")


def test_a_figure_comes_back_from_its_row_without_a_time() -> None:
    record = next(record for record in read(LIGHTS).parts.records if record.attribute)
    row = rows.record_row(record)
    again = rows.record_value(row, record.source_id)
    assert again == replace(record, source_id=again.source_id)
    fact = Fact.of(again)
    assert fact is not None and (fact.value, fact.start, fact.end) == ("54", None, None)
    half = (*row[:25], "1900-01-01", *row[26:])
    damaged = rows.record_value(half, record.source_id)
    assert damaged.attribute is None and damaged.measurement is None


def test_the_process_that_reads_files_may_say_it() -> None:
    found = read(LIGHTS)
    assert read_back(written(found), Owner("t@1", "t", "c")) == found


UNCERTAIN = {
    "a name twice": LIGHTS + "Smalls,12,Ann,1900\n",
    "a name twice in another spelling": LIGHTS + "SMALLS,12,Ann,1900\n",
    "a row without a name": LIGHTS + ",12,Ann,1900\n",
    "a year above the table": "Heights in 2019\n\n" + LIGHTS,
    "a column of months": LIGHTS.replace("Keeper", "Month"),
    "a column of dates": LIGHTS.replace("Keeper", "Date"),
    "one row": "\n".join(LIGHTS.splitlines()[:2]) + "\n",
    "a ragged row": LIGHTS + "Hook,12,Ann,1900,more,and more\n",
}


@pytest.mark.parametrize("table", UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_table_that_may_be_of_another_make_says_nothing(table: str) -> None:
    assert told(table) == []


@pytest.mark.parametrize(("stem", "title"), [("lights_2019", "Lights"), ("lights", "Lights in 2019")])
def test_a_year_in_the_name_of_a_table_may_be_that_of_its_figures(stem: str, title: str) -> None:
    assert told(LIGHTS, stem, title) == []


COLUMNS = {
    "Height (m)": ("30", "41", "52", "63"),
    "Share": ("1 %", "2 %", "3 %", ""),
    "Price": ("$1,200", "n/a", "$800", "$12"),
    "Moons": ("0", "0", "1", "95"),
}
NO_COLUMNS = {
    "Height": ("30", "41", "about 52", "63"),
    "Length": ("320 m", "1.2 km", "540 m", "12 m"),
    "Price": ("$1,200", "€900", "$800", "$12"),
    "Rank": ("1", "2", "3", "4"),
    "Postcode": ("3012", "3013", "3014", "3015"),
    "Phone": ("5550123", "5550124", "5550125", "5550126"),
    "Sum": ("10", "20", "30", "60"),
    "Salary": ("1700", "1800", "1900", "1950"),
    "Founded": ("1700", "May 1800", "1900", "1950"),
    "Note": ("a", "b", "c", "d"),
    "Range 2": ("1", "2", "3", "5"),
    "Weight": ("", "", "", "4"),
}


@pytest.mark.parametrize("column", [*COLUMNS, *(f"no {each}" for each in NO_COLUMNS)])
def test_a_column_is_of_figures_if_every_cell_is_one(column: str) -> None:
    cells = COLUMNS.get(column) or NO_COLUMNS[column.removeprefix("no ")]
    header = column.removeprefix("no ")
    table = f"Tower,{header}\n" + "".join(f'T{at} Tower,"{cell}"\n' for at, cell in enumerate(cells))
    held = [cell for cell in cells if cell not in ("", "n/a")]
    assert len(told(table)) == (len(held) if column in COLUMNS else 0)


WORDS = st.text("bcdfghkprstw", min_size=3, max_size=8)  # without a vowel, none says that it is a total


@settings(max_examples=80, deadline=None)
@given(
    names=st.lists(WORDS, min_size=2, max_size=9, unique=True),
    figures=st.lists(st.integers(1, 999), min_size=9, max_size=9),
    twice=st.booleans(),
)
def test_each_figure_is_that_of_its_row(names: list[str], figures: list[int], twice: bool) -> None:
    cells = dict(zip(names, figures, strict=False))
    lines = [f"{name.title()},{value}" for name, value in cells.items()] + ([f"{names[0]},7"] if twice else [])
    found = told("Tower,Height (m)\n" + "\n".join(lines) + "\n")
    summed = len(cells) > 3 and any(2 * value == sum(cells.values()) for value in cells.values())
    expected = [] if twice or summed else [(n.title(), "height", str(v), "m") for n, v in cells.items()]
    assert found == expected


@pytest.mark.parametrize("noun", ["bridge", "city", "class", "lighthouse", "box", "employee", "dish", "day"])
def test_a_kind_is_told_by_a_file_in_the_plural(noun: str) -> None:
    assert singular(plural(noun)) == noun and kind_of_stem(plural(noun)) == noun
    alone = noun if noun in PERSONS else None
    assert kind_of_stem(noun) == alone and kind_of_stem(f"{plural(noun)}_and_more") is None


PEOPLE = ("name,role,hours\n", "name,salary,desk\n", "Name,Job title,Department\n", "name,position,date of birth\n")
OTHERS = ("name,role,memory\n", "name,department,hours\n", "name,date of birth,breed\n", "name,position,points\n")
ONE_OF = {
    **dict.fromkeys(product(("staff", "personnel", "workforce", "staff_list"), (*PEOPLE, *OTHERS)), "staff_member"),
    **dict.fromkeys(product(("crew",), (*PEOPLE, *OTHERS)), "crew_member"),
    **dict.fromkeys(product(("people", "person"), (*PEOPLE, *OTHERS)), "person"),
    **dict.fromkeys(product(("children", "child"), (*PEOPLE, *OTHERS)), "child"),
    **dict.fromkeys(product(("team",), PEOPLE), "team_member"),
    **dict.fromkeys(product(("team",), OTHERS), "row"),  # of teams, it may be
    **dict.fromkeys(product(("data",), PEOPLE), "person"),
    **dict.fromkeys(product(("data", "fleet"), OTHERS), "row"),
    **dict.fromkeys(product(("cattle",), (*PEOPLE, *OTHERS)), "head_of_cattle"),
    **dict.fromkeys(product(("sheep",), OTHERS), "sheep"),
    **dict.fromkeys(product(("stock", "inventory"), OTHERS[:1]), None),
    **dict.fromkeys(product(("servers", "bridges"), PEOPLE), None),  # the file says what they are
}


@pytest.mark.parametrize(("stem", "header"), ONE_OF, ids=str)
def test_a_kind_is_told_by_a_noun_for_many_or_by_columns_of_people(stem: str, header: str) -> None:
    rows = f"{header.strip()},size\nAnn Lee,a,b,3\nBob Fox,a,d,5\nCy Nye,c,d,9\n"
    kinds = {record.attribute.place.type for record in read(rows, stem, "T").parts.records if record.attribute}
    assert kinds == {
        ONE_OF[stem, header] or {"stock": "stock_item", "inventory": "inventory_item"}.get(stem, stem[:-1])
    }


def test_a_file_that_is_called_after_its_figures_is_of_what_its_columns_say() -> None:
    table = "Name,Salary,Desk\nAnn Lee,300,4\nBob Fox,500,6\n"
    kinds = {record.attribute.place.type for record in read(table, "salaries", "T").parts.records if record.attribute}
    assert kinds == {"person"}


CLASSED = ("role", "Position", "job title", "occupation", "species", "type", "Kind of tree", "rank", "voice")
PLAIN = ("colour", "status", "shade", "finish", "mood")


@pytest.mark.parametrize("header", [*CLASSED, *PLAIN])
def test_cells_that_say_what_each_thing_is_are_nouns(header: str) -> None:
    rows = f"name,{header},size\nA One,oak,3\nB Two,elm,4\nC Three,oak,9\n"
    groups = [
        each for each in read(rows, "things", "T").parts.entries if "oak" in each.names or each.entity.name == "oak"
    ]
    assert [each.entity.entity_id.split(":")[1] for each in groups] == ["of" if header in CLASSED else "is"]
    assert all("oaks" in each.names for each in groups) is (header in CLASSED)


@pytest.mark.parametrize("header", ["start", "Since", "start year", "member since", "Joined", "Hired"])
def test_a_column_says_when_somebody_started(header: str) -> None:
    made = told(f"name,{header}\nAnn Lee,2019\nBob Fox,2021\n", "staff", "T")
    assert [(value, unit) for _, _, value, unit in made] == [("2019", CALENDAR_YEAR), ("2021", CALENDAR_YEAR)]
    assert {measure for _, measure, _, _ in made} <= {"start year", "year joined", "year hired"}
