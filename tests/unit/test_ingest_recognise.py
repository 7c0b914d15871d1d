"""Tables that no manifest describes, as their makers publish them: what is recognised, and what is not said."""

from __future__ import annotations

from pathlib import Path

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import LoadError
from retrieval.ingest.reading import FileTask, ReadFile, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.records.recognise import figure_of
from retrieval.ingest.values import Owner, SourceSpec
from retrieval.media_types import CSV, TSV
from retrieval.model import RecordKind

Figure = tuple[str, str, str, str, str]
"""Place, measure, value, unit, year."""


def read(data: str | bytes, title: str = "Population", kind: str = CSV) -> ReadFile:
    raw = data.encode() if isinstance(data, str) else data
    return read_file(
        FileTask(SourceSpec(Path("t.csv"), "t", title), Owner("t@1", "t", "c"), kind, {}, ChunkSize(), raw)
    )


def figures(found: ReadFile) -> list[Figure]:
    made = [record.measurement for record in found.parts.records if record.measurement]
    return [(m.place.name, m.measure, m.value, m.unit, m.time.start.isoformat()[:4]) for m in made]


TABLES: dict[str, tuple[str, list[Figure]]] = {
    "years": ("county,1900,1910\nNess,4535,5883\n", [("Ness", "population", "4535", "", "1900"), ("Ness", "population", "5883", "", "1910")]),
    "years of a data frame": (",1900.0,1910.0\nNess,4535.0,5883.0\n", [("Ness", "population", "4535.0", "", "1900"), ("Ness", "population", "5883.0", "", "1910")]),
    "a data bank": (
        '"Data Source","World Development Indicators",\n\n"Last Updated Date","2024-05-30",\n\n'
        '"Country Name","Country Code","Indicator Name","Indicator Code","1960","1961",\n"Aruba","ABW","Population, total","SP.POP.TOTL","54608","55811",\n'
        '"Aruba","ABW","Forest area (sq. km)","AG.LND","","4.2",\n',
        [("Aruba", "population", "54608", "total", "1960"), ("Aruba", "population", "55811", "total", "1961"), ("Aruba", "forest area", "4.2", "sq. km", "1961")],
    ),
    "years in brackets": ("Country Name,1990 [YR1990],2000 [YR2000]\nChad,..,8.3\n", [("Chad", "population", "8.3", "", "2000")]),
    "years behind a letter": ("Area,Item,Unit,Y1961,Y1962\nChad,Wheat,t,10,11\n", [("Chad", "wheat", "10", "t", "1961"), ("Chad", "wheat", "11", "t", "1962")]),
    "measures with a year": ("Town,Population 1900,pop_1910,Area (km2) 1910\nElm,17,25,3.5\n", [("Elm", "population", "17", "", "1900"), ("Elm", "pop", "25", "", "1910"), ("Elm", "area", "3.5", "km2", "1910")]),
    "a column of years": (
        "Entity,Code,Year,Life expectancy (years)\nChad,TCD,1950,36.1\nChad,TCD,1951,36.4\n",
        [("Chad", "life expectancy", "36.1", "years", "1950"), ("Chad", "life expectancy", "36.4", "years", "1951")],
    ),
    "several measures": ("state,year,area_km2,Yield [t/ha],note\nOhio,1990,100,3.1,x\nOhio,1991,,3.2,y\n", [
        ("Ohio", "area", "100", "km2", "1990"), ("Ohio", "yield", "3.1", "t/ha", "1990"), ("Ohio", "yield", "3.2", "t/ha", "1991")]),
    "measures in a column": ("station,year,variable,value,unit\nDodge,1990,rain,512,mm\nDodge,1990,Snow,4,cm\n", [("Dodge", "rain", "512", "mm", "1990"), ("Dodge", "snow", "4", "cm", "1990")]),
    "values of the table": ("county,year,value\nNess,1900,4535\n", [("Ness", "population", "4535", "", "1900")]),
    "semicolons and decimal commas": ("Stadt;1900;1910\nKöln;372.529;516.527\nBonn;50,7;87,98\n", [("Köln", "population", "372529", "", "1900"), ("Köln", "population", "516527", "", "1910"), ("Bonn", "population", "50.7", "", "1900"), ("Bonn", "population", "87.98", "", "1910")]),
    "bars": ("county|1900\nNess|4,535\n", [("Ness", "population", "4535", "", "1900")]),
    "a delimiter that is named": ("sep=;\r\ncounty;1900\r\nNess;4535\r\n", [("Ness", "population", "4535", "", "1900")]),
    "titles and footnotes": ("Population of counties, 1900 to 1910\n\ncounty,1900,1910\nNess,4535,5883\nRiley,1,2\n\"Source: the census, counted in June.\"\n", [
        ("Ness", "population", "4535", "", "1900"), ("Ness", "population", "5883", "", "1910"), ("Riley", "population", "1", "", "1900"), ("Riley", "population", "2", "", "1910")]),
    "columns without a name or twice": ("county,1900,,1900\nNess,1,,2\n", [("Ness", "population", "1", "", "1900")]),
    "spaces as separators": ("county,1900,1910\nNess,4 535,85\u202f200\n", [("Ness", "population", "4535", "", "1900"), ("Ness", "population", "85200", "", "1910")]),
    "percent and money": ("county,year,share,income\nNess,1990,12.5%,\"$1,200\"\n", [("Ness", "share", "12.5", "%", "1990"), ("Ness", "income", "1200", "$", "1990")]),
    "a minus of printers": ("station,1900\nDodge,\u22124.5\n", [("Dodge", "population", "-4.5", "", "1900")]),
    "codes are no figures": ("county,fips,year,population,zip\nNess,20135,1900,4535,67560\n", [("Ness", "population", "4535", "", "1900")]),
    "numbers with a leading nought are codes": ("county,year,block,population\nNess,1900,007,4535\nRiley,1900,012,1\n", [("Ness", "population", "4535", "", "1900"), ("Riley", "population", "1", "", "1900")]),
    "no figure is told as none": ("county,1900,1910\nNess,n/a,-\nRiley,..,12*\n", []),
    "no year, no figure": ("county,population\nNess,4535\n", []),
    "no name, no figure": ("1900,1910\n4535,5883\n", []),
    "a year that is not one": ("county,year,population\nNess,early,4535\nRiley,1900,1\nOsage,1901,2\n", []),
    "treaties of a year": ("nation,Treaty of 1854,Article 3 of 1855\nOsage,signed,none\n", []),
    "two years in a header": ("county,1900-1910\nNess,4535\n", []),
    "words with numbers": ("county,COVID19 2020\nNess,4535\n", []),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_the_figures_of_a_table_are_those_that_it_states(name: str) -> None:
    text, expected = TABLES[name]
    assert figures(read(text)) == expected


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_they_are_the_same_in_another_encoding_and_with_other_ends_of_lines(name: str, encoding: str) -> None:
    text, expected = TABLES[name]
    assert figures(read(text.replace("\r\n", "\n").replace("\n", "\r\n").encode(encoding))) == expected


@pytest.mark.parametrize("name", TABLES)
def test_every_row_is_the_slice_of_its_text(name: str) -> None:
    found = read(TABLES[name][0])
    for record in found.parts.records:
        at = record.locator
        assert found.text[at.start_char : at.end_char] == record.text
        assert found.text.encode()[at.start_byte : at.end_byte] == record.text.encode()


def test_sentences_say_measure_unit_and_year() -> None:
    said = [
        record.statement
        for table in (
            "county,1900\nNess,4535\n",
            "state,year,Yield [t/ha],households\nOhio,1990,3.1,1200\n",
            "county,year,share (%),income\nNess,1990,12.5,$1200\n",
        )
        for record in read(table).parts.records
        if record.measurement
    ]
    assert said == [
        "Ness had a population of 4,535 in 1900.", "The yield of Ohio was 3.1 t/ha in 1990.", "The households of Ohio were 1,200 in 1990.",
        "The share of Ness was 12.5% in 1990.", "The income of Ness was $1,200 in 1990.",
    ]  # fmt: skip


BLANKS = (
    *("n/a", "N/A", "n.a.", "NA", "TBC", "tbd", "TBA", "-", "--", "\u2014", "\u2013", "..", "...", "\u2026", "unknown", "Unknown", "?"),
    *("not available", "no data", "null", "NaN", "not recorded", "n/k", "missing", "*", "N / A", "not known", ":", "(n/a)"),
)  # fmt: skip


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("others", [2, 3, 30])
def test_a_word_for_no_figure_is_an_empty_cell(blank: str, others: int) -> None:
    rows = [f"P{n},1900,{n + 1}.5" for n in range(others)]
    for at in range(others + 1):
        made = figures(read("\n".join(["station,year,rain (mm)", *rows[:at], f"Dodge,1900,{blank}", *rows[at:]])))
        assert made == [(f"P{n}", "rain", f"{n + 1}.5", "mm", "1900") for n in range(others)]


def test_many_of_them_are_too() -> None:
    made = figures(read("station,year,rain\nA,1990,n/a\nB,1990,TBC\nC,1990,1\nD,1990,-\nE,1990,2\nF,1990,unknown\n"))
    assert made == [("C", "rain", "1", "", "1990"), ("E", "rain", "2", "", "1990")]


@pytest.mark.parametrize(
    "cells",
    [
        ("n/a", "5"), ("n/a", "n/a", "n/a"), ("n/a", "5", "6", "high"), ("5", "6", "closed"), ("5", "6", "n/a of it"), ("TBC", "x", "5", "6"),
        ("n/a", "007", "008"), ("5", "6", "naples"), ("unknown", "1-2", "5", "6"),
    ],
)  # fmt: skip
def test_a_column_of_anything_else_stays_words(cells: tuple[str, ...]) -> None:
    assert figures(read("station,year,rain\n" + "".join(f"S{n},1990,{cell}\n" for n, cell in enumerate(cells)))) == []


def test_a_year_or_a_place_that_is_not_known_is_an_empty_cell() -> None:
    assert figures(read("county,year,people\nNess,1900,1\nRiley,unknown,2\nOsage,1900,3\n")) == [
        ("Ness", "people", "1", "", "1900"),
        ("Osage", "people", "3", "", "1900"),
    ]
    found = read("name,lat,lon\nTopeka,39.05,-95.69\nWichita,37.69,-97.34\nNowhere,n/a,n/a\n")
    assert [bool(r.geometry) for r in found.parts.records if r.kind is RecordKind.FEATURE] == [True, True, False]
    assert found.parts.left_out == ()


# -------------------------------------------------------------------------------------------------------------- places


@pytest.mark.parametrize(
    "header",
    [
        "lat,lon",
        "Latitude,Longitude",
        "LAT,LNG",
        "latitude (deg),longitude (deg)",
        "decimal_latitude,decimal_longitude",
        "lat_dd,long_dd",
    ],
)
def test_latitude_and_longitude_are_a_place(header: str) -> None:
    found = read(f"name,{header}\nTopeka,39.05,-95.69\nWichita,37.69,-97.34\nNowhere,,\n")
    shapes = [
        record.geometry and shapely.from_wkb(record.geometry)
        for record in found.parts.records
        if record.kind is RecordKind.FEATURE
    ]
    assert [(shape.x, shape.y) if shape else None for shape in shapes] == [(-95.69, 39.05), (-97.34, 37.69), None]
    assert {entry.entity.name for entry in found.parts.entries} == {"Topeka", "Wichita", "Nowhere"}


def test_a_place_off_the_world_is_told_and_the_others_are_taken_in() -> None:
    rows = "".join(f"p{n},{n},{n}\n" for n in range(20))
    found = read(f"name,lat,lon\n{rows}bad,95,10\nedge,90.0000001,10\n")
    assert [each.partition(":")[0] for each in found.parts.left_out] == ["row 21"]
    assert found.parts.notes == ("1 geometry reached beyond the world by rounding (row 22)",)


@pytest.mark.parametrize("header", ["lat,note", "lateral,longing", "platform,belong", "lat,lon"])
def test_what_is_no_place_stays_words(header: str) -> None:
    found = read(f"name,{header}\nTopeka,north,west\nWichita,south,east\n")
    assert not [record for record in found.parts.records if record.kind is RecordKind.FEATURE]


# ----------------------------------------------------------------------------------------------------------- encodings


def test_windows_1252_is_known_by_its_letters_and_told() -> None:
    found = read("ville,1900\nMontréal,267730\nQuébec – ville,68840\n".encode("cp1252"))
    assert [place for place, *_ in figures(found)] == ["Montréal", "Québec – ville"]
    assert found.parts.notes == ("read as Windows-1252",)


@pytest.mark.parametrize(
    "data",
    [b"name,note\nA,\x81\x8d\n", b"name,note\n" + bytes(range(128, 256)) * 2, "name,é\nA,".encode() + b"\xff\xfe\xfd"],
)
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(LoadError, match="UTF-8"):
        read(data)


def test_a_slip_among_utf_8_is_a_slip() -> None:
    rows = "".join(f"Café {n},{n}\n" for n in range(50)).encode()
    found = read(b"name,1900\n" + rows + b"Caf\xe9 x,7\n")
    assert any("not UTF-8" in each for each in found.parts.left_out)


def test_half_a_character_of_utf_16_is_refused() -> None:
    with pytest.raises(LoadError, match="not UTF-16 at byte"):
        read("county,1900\nNess,1\n".encode("utf-16")[:-1])


# ------------------------------------------------------------------------------------------------------------- figures


@given(st.integers(-(10**12), 10**12), st.integers(0, 999))
@settings(max_examples=100)
def test_a_figure_is_the_same_in_every_way_of_writing_it(whole: int, rest: int) -> None:
    plain = f"{whole}.{rest:03}1"
    english = f"{whole:,}.{rest:03}1"
    assert figure_of(plain) == figure_of(english) == (plain, "")
    continental = english.replace(",", " ").replace(".", ",").replace(" ", ".")
    assert figure_of(continental, comma=True) == figure_of(f"{whole},{rest:03}1", comma=True) == (plain, "")
    assert figure_of(f"{plain} %") == figure_of(f"{plain}%") == (plain, "%")


@pytest.mark.parametrize(
    "cell", ["", "1e5", "inf", "nan", "12*", "1,23", "1 2", "٣٤", "0x10", "1.2.3", "--1", "%", "$", "1-2", "½", "12 km"]
)
def test_what_is_no_figure_is_none(cell: str) -> None:
    assert figure_of(cell) is None


@given(st.text(st.sampled_from('ab19,;|"\n\t %$'), max_size=60), st.sampled_from([CSV, TSV]))
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_table_or_a_coded_error(text: str, kind: str) -> None:
    try:
        read(text, kind=kind)
    except LoadError as exc:
        assert "its parser failed" not in str(exc)
