"""Rows of totals and averages in tables that no manifest describes are text, and no places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.algebra.wording import plural
from retrieval.ingest.records.kinds import KNOWN
from retrieval.ingest.records.totals import is_total, totals_among
from retrieval.model import RecordKind
from tests.unit.test_ingest_recognise import figures, read

KINDS = ("county", "district", "town", "parish", "station", "city", "depot", "ward", "country", "lake")
BARE = (
    *("Total", "Totals", "Grand total", "Grand Totals", "Sum", "Overall", "Overall total", "All", "Subtotal", "Sub-total"),
    *("Average", "Averages", "Mean", "Median", "Overall average", "Combined", "National average", "Combined total"),
    *("Sum total", "All combined", "Weighted mean", "Total population", "Total for county"),
)  # fmt: skip
OF_KINDS = (
    *("All {kinds}", "All the {kinds}", "All of the {kinds}", "All 6 {kinds}", "All six {kinds}", "{kinds} total"),
    *("Total, all {kinds}", "Total of all {kinds}", "Total for {kinds}", "Total {kinds}", "Sum of {kinds}", "{kind} totals"),
    *("Whole {kind}", "The whole {kind}", "Entire {kind}", "{kind} total", "Average of all {kinds}", "{kind} average"),
    *("Average {kind}", "Mean of the {kinds}", "All {kinds} combined", "Total - all {kinds}", "Total ({kinds})", "{kinds} mean"),
    *("Total {kind}", "Total per {kind}", "Average per {kind}", "{kind} as a whole"),
    *("Total for the {kind}", "Whole of the {kind}", "All of the {kind}"),
)  # fmt: skip
DRESS = (
    *("{}", "{}:", "*{}*", "**{}**", "- {} -", "({})", "{} (1)", "{}*", "{} [a]", " {} ", "{}\u00b9", "{} \u2020", "{} (3)"),
    *("\u2014 {}", "{}.", "= {}"),
)  # fmt: skip
REAL = (
    *("All Saints", "All Hallows", "All Souls", "Summit", "Sumner", "Total Wine", "Overall Forks"),
    *("Overall Creek", "Allen", "Meanwood", "Mean Valley", "Averages Farm", "Totalview", "Total Wine & More", "Sum Lake"),
    *("Wholeton", "Entire Ranch", "Combined Locks", "Medianville", "Allstadt", "All Stretton", "All Cannings", "Grand Forks"),
    *("Grand Island", "Grand", "Total Elm Street", "Alltown", "Median Creek", "Average Hill", "Overall Mountain", "Sub Station"),
    *("National City", "Means", "County Meath", "All Bright", "All Saints District", "Town of All", "World", "Six", "The Whole Hog"),
    *("Summerfield", "Summa", "\u00c9total", "Tota", "Totala", "Mean Moor Station", "District 6", "6", "", "-", "Lake Mean", "Sumatra"),
)  # fmt: skip


@given(
    label=st.sampled_from(BARE),
    dress=st.sampled_from(DRESS),
    style=st.sampled_from([str, str.upper, str.lower, str.title]),
)
def test_a_total_by_its_own_label(label: str, dress: str, style: type[str]) -> None:
    assert is_total(dress.format(style(label)), ())


@given(
    label=st.sampled_from(OF_KINDS),
    kind=st.sampled_from(KINDS),
    dress=st.sampled_from(DRESS),
    style=st.sampled_from([str, str.upper, str.lower, str.title]),
)
def test_a_total_of_the_kind_that_the_table_is_of(label: str, kind: str, dress: str, style: type[str]) -> None:
    said = dress.format(style(label.format(kind=kind, kinds=plural(kind))))
    assert is_total(said, (kind,))


@pytest.mark.parametrize("kind", sorted(KNOWN))
def test_all_of_any_known_kind_are_a_total(kind: str) -> None:
    for label in ("All {}", "Total {}", "{} total", "Sum of all {}", "Average of {}"):
        assert is_total(label.format(plural(kind)), ()), label
    for label in ("Whole {}", "{} total", "Entire {}"):
        assert is_total(label.format(kind), ()), label


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_only_looks_like_one_is_none(name: str, kind: str) -> None:
    assert not is_total(name, (kind,))
    assert totals_among([name, "Arden", "Brinmoor", "Total"], (kind,)) == {"Total"}


@given(st.text(max_size=40))
def test_any_label_is_one_or_not(label: str) -> None:
    assert is_total(label, ("county",)) in (True, False)


def test_the_name_of_another_row_before_it_is_a_total_of_its_parts() -> None:
    names = ["East", "Arden", "East total", "Kelby Total", "Totals, East", "Average for East"]
    assert totals_among(names, ()) == {"East total", "Totals, East", "Average for East"}


def test_a_table_of_nothing_but_totals_names_its_place_so() -> None:
    assert totals_among(["Total", "Total"], ()) == frozenset()
    assert totals_among(["Total", "All districts", ""], ()) == frozenset()
    assert figures(read("county,1900\nTotal,5\n")) == [("Total", "population", "5", "", "1900")]


TABLE = "{head},1900,1910\n{first}Ness,10,20\nRiley,30,40\nOsage,5,\n{last}"
WANTED = [(name, "population", value, "", year) for name, value, year in (
    ("Ness", "10", "1900"), ("Ness", "20", "1910"), ("Riley", "30", "1900"), ("Riley", "40", "1910"), ("Osage", "5", "1900"))]  # fmt: skip


@pytest.mark.parametrize("head", ["district", "County", "Depot", "place", "Weather station"])
@pytest.mark.parametrize("label", [*BARE, "All {}s", "Total all {}s", "Whole county", "All districts", "All places"])
def test_a_row_of_totals_makes_no_place_and_no_figure_wherever_it_stands(head: str, label: str) -> None:
    row = f'"{label.format(head.lower())}",45,60\n'
    row = row.replace("countys", "counties")
    for first, last, number in ((row, "", 0), ("", row, 3)):
        found = read(TABLE.format(head=head, first=first, last=last))
        assert figures(found) == WANTED, row
        assert {entry.entity.name for entry in found.parts.entries} == {"Ness", "Riley", "Osage"}
        assert [
            e.name for r in found.parts.records for e in r.entities if e.name not in ("Ness", "Riley", "Osage")
        ] == []
        told = [record for record in found.parts.records if record.locator.row == number]
        assert [(each.kind, each.entities) for each in told] == [(RecordKind.PASSAGE, ())]
        assert (
            told[0].statement
            == f"{head}: {label.format(head.lower()).replace('countys', 'counties')}; 1900: 45; 1910: 60."
        )
        assert len(found.parts.notes) == 1 and f"row {number + 1}:" in found.parts.notes[0]
        assert found.parts.left_out == ()


def test_several_are_told_in_one_note() -> None:
    found = read("county,1900\nNess,1\nRiley,2\nTotal,3\nAverage,1.5\n")
    assert found.parts.notes == ("2 rows of totals or averages, which are no places (row 3: Total)",)
    one = read("county,1900\nNess,1\nRiley,2\nTotal,3\n")
    assert one.parts.notes == ("1 row of totals or averages, which is no place (row 3: Total)",)


def test_a_total_is_no_place_on_the_map() -> None:
    found = read("name,lat,lon\nNess,39,-99\nRiley,39.3,-96\nTotal,39.1,-97\n")
    assert [r.entities[0].name for r in found.parts.records if r.kind is RecordKind.FEATURE] == ["Ness", "Riley"]
    assert [entry.entity.name for entry in found.parts.entries] == ["Ness", "Riley"]


def test_totals_of_each_year_are_left_out_too() -> None:
    rows = "".join(
        f"{name},{year},{n}\n" for year in (1900, 1910) for n, name in enumerate(("Ness", "Riley", "Total"), 1)
    )
    assert {place for place, *_ in figures(read(f"county,year,people\n{rows}"))} == {"Ness", "Riley"}


def test_a_total_of_things_without_a_time_has_no_figure() -> None:
    found = read("item,price\nA,1\nB,2\nTotal,3\n")
    told = [record.attribute for record in found.parts.records if record.attribute is not None]
    assert [(each.place.name, each.value) for each in told] == [("A", "1"), ("B", "2")]
    assert found.parts.notes == ("1 row of totals or averages, left out of the figures (row 3: Total)",)


PARTS = ("North", "East", "South", "West", "Central")
COUNTS = st.lists(st.integers(1, 9_000), min_size=5, max_size=5)


def wide(rows: Mapping[str, Sequence[object]]) -> str:
    return "region,Population 2011,Population 2021\n" + "".join(f"{name},{a},{b}\n" for name, (a, b) in rows.items())


def long(rows: Mapping[str, Sequence[object]]) -> str:
    lines = [
        f"{name},{year},{cell}\n" for name, row in rows.items() for year, cell in zip((2011, 2021), row, strict=True)
    ]
    return "region,year,Population\n" + "".join(lines)


def on_a_map(rows: Mapping[str, Sequence[object]]) -> str:
    lines = (f"{name},{40 + n},{10 + n},{a},{b}\n" for n, (name, (a, b)) in enumerate(rows.items()))
    return "region,lat,lon,people,homes\n" + "".join(lines)


def places(table: str) -> set[str]:
    return {entry.entity.name for entry in read(table).parts.entries}


@pytest.mark.parametrize("write", [wide, long, on_a_map])
@pytest.mark.parametrize("label", ["World", "England", "The Isles"])
@settings(max_examples=20)
@given(old=COUNTS, new=COUNTS, at=st.integers(0, 5))
def test_what_is_the_sum_of_all_others_each_time_is_a_total(
    write: type[str], label: str, old: Sequence[int], new: Sequence[int], at: int
) -> None:
    rows: dict[str, Sequence[object]] = dict(zip(PARTS, zip(old, new, strict=True), strict=True))
    whole = (label, (sum(old), sum(new)))
    assert places(write(dict([*[*rows.items()][:at], whole, *[*rows.items()][at:]]))) == set(PARTS)
    for other in ((sum(old) + 1, sum(new)), (sum(old), sum(new) - 1), (sum(old) + 1, sum(new) + 1), ("", sum(new))):
        assert places(write({**rows, label: other})) == {*PARTS, label}, other
    few = dict([*rows.items()][:3])
    sums = [sum(int(str(row[n])) for row in few.values()) for n in (0, 1)]
    assert places(write({**few, label: sums})) == {*few, label}


def test_a_sum_has_decimals_and_no_figure_of_what_cannot_be_added() -> None:
    table = "region,Area (km2) 2020,Output 2020,Income 2020\nA,1.5,-2,10\nB,0.25,7,12\nC,3,9,9\nD,0.25,1,14\n{}\n"
    assert places(table.format("World,5,15,")) == {"A", "B", "C", "D"}
    for row in ("World,5,15,45.1", "World,5.01,15,", "World,5,,", "World,n/a,15,"):
        assert places(table.format(row)) == {"A", "B", "C", "D", "World"}, row


def test_columns_of_nothing_and_a_name_that_stands_twice_tell_no_sum() -> None:
    assert places("region,1900,1910\nA,0,0\nB,0,0\nC,0,0\nD,0,0\nE,0,0\n") == set("ABCDE")
    assert places("region,1900,1910\nA,5,6\nB,0,0\nC,0,0\nD,0,0\nE,5,6\n") == set("ABCDE")
    twice = "region,lat,lon,1900,1910\n" + "".join(f"{n},{at},{at},1,2\n" for at, n in enumerate("ABCDEF"))
    assert places(twice + "World,30,30,3,6\nWorld,50,50,3,6\n") >= {"World"}


def test_a_labelled_total_and_a_sum_are_both_none_of_the_places() -> None:
    rows = "A,1,2\nB,2,3\nC,3,4\nD,4,5\nE,6,7\n"
    assert places(f"region,1900,1910\n{rows}Total,16,21\nWorld,16,21\n") == set("ABCDE")
