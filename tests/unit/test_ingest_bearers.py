"""Places of one name in one table with positions: they are told apart, or nobody says where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.reading import FileTask, ReadFile, read_file
from retrieval.ingest.records.bearers import bearers
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.values import Owner, SourceSpec
from retrieval.media_types import CSV, JSON
from retrieval.model import RecordKind

HEAD = "village,lat,lon,Population 2021\n"
OTHERS = "Birk,50.02,10.29,1204\nCole End,50.25,10.15,870\n"
TWO = HEAD + "Ash Cross,50.05,10.10,410\nAsh Cross,50.20,10.30,96\n" + OTHERS
IDS = ["village:ash-cross-50.050n-10.100e", "village:ash-cross-50.200n-10.300e", "village:birk", "village:cole-end"]


def read(text: str, kind: str = CSV, kinds: dict[str, str] | None = None) -> ReadFile:
    source = SourceSpec(Path("t.csv"), "t", "Figures", kinds=kinds or {})
    return read_file(FileTask(source, Owner("t@1", "t", "c"), kind, {}, ChunkSize(), text.encode()))


def ids(found: ReadFile) -> list[str]:
    return sorted(entry.entity.entity_id for entry in found.parts.entries)


def places(found: ReadFile) -> dict[str, set[tuple[float, float] | None]]:
    made: dict[str, set[tuple[float, float] | None]] = {}
    for record in found.parts.records:
        if record.kind is RecordKind.FEATURE:
            shape = shapely.from_wkb(record.geometry) if record.geometry else None
            made.setdefault(record.entities[0].entity_id, set()).add((shape.x, shape.y) if shape else None)
    return made


def test_two_places_of_one_name_are_two() -> None:
    found = read(TWO)
    assert ids(found) == IDS
    assert [entry.names for entry in found.parts.entries] == [("Ash Cross",), ("Ash Cross",), ("Birk",), ("Cole End",)]
    assert places(found) == {
        IDS[0]: {(10.1, 50.05)}, IDS[1]: {(10.3, 50.2)}, IDS[2]: {(10.29, 50.02)}, IDS[3]: {(10.15, 50.25)}
    }  # fmt: skip
    told = [(r.measurement.place.entity_id, r.measurement.value) for r in found.parts.records if r.measurement]
    assert told[:2] == [(IDS[0], "410"), (IDS[1], "96")]
    assert found.parts.notes == ("1 name of several places, told apart by their positions (Ash Cross)",)
    assert found.parts.left_out == ()


def test_the_same_in_json_and_in_any_order() -> None:
    rows = '[{"village":"Ash Cross","lat":50.05,"lon":10.1},{"village":"Birk","lat":50.02,"lon":10.29},'
    rows += '{"village":"Ash Cross","lat":50.2,"lon":10.3}]'
    assert ids(read(rows, JSON)) == IDS[:3]
    lines = TWO.splitlines(keepends=True)
    assert ids(read("".join((lines[0], *reversed(lines[1:]))))) == IDS


@pytest.mark.parametrize(
    "position", ["50.0501,10.1001", "50.05,10.10", "50.055,10.105", "50.0500,10.1000", ",", "n/a,n/a"]
)
def test_what_is_nearly_there_is_the_same_place(position: str) -> None:
    found = read(f"{HEAD}Ash Cross,50.05,10.10,410\nAsh Cross,{position},96\n{OTHERS}")
    assert ids(found) == ["village:ash-cross", *IDS[2:]]
    assert found.parts.notes == ()


def test_a_row_that_does_not_say_which_is_text() -> None:
    found = read(f"{TWO}Ash Cross,,,7\n")
    assert ids(found) == IDS
    last = [record for record in found.parts.records if record.locator.row == 4]
    assert [(r.kind, r.entities) for r in last] == [(RecordKind.PASSAGE, ())]
    assert (
        found.parts.notes[1]
        == "1 row without a position under the name of several places, taken as text (row 5: Ash Cross)"
    )


def test_kinds_tell_apart_first() -> None:
    found = read("name,kind,lat,lon\nMarl,town,50,10\nMarl,district,51,11\nZell,town,50.5,10\nZell,district,52,11\n")
    assert ids(found) == ["district:marl", "district:zell", "town:marl", "town:zell"]


def test_a_kind_that_another_file_tells_is_theirs_too() -> None:
    rows = "name,lat,lon\nAsh Cross,50.05,10.10\nAsh Cross,50.20,10.30\nBirk,50.02,10.29\n"
    assert ids(read(rows, kinds={"ash-cross": "village", "birk": "village"})) == IDS[:3]


YEARS = "station,year,lat,lon,rain\n"


def test_what_is_elsewhere_at_another_time_is_one_thing_whose_place_is_not_known() -> None:
    found = read(f"{YEARS}Peel,2018,50,10,1\nPeel,2019,50.1,10,2\nOxley,2018,51,10,3\nOxley,2019,51,10,4\n")
    assert places(found) == {"station:peel": {None}, "station:oxley": {(10.0, 51.0)}}
    assert found.parts.notes == ("1 name at several positions at different times, none of which is taken (Peel)",)
    assert len([r for r in found.parts.records if r.measurement]) == 4


def test_two_at_one_time_are_two() -> None:
    found = read(
        f"{YEARS}Peel,2018,50,10,1\nPeel,2018,50.1,10,2\nPeel,2019,50,10,3\nPeel,2019,50.1,10,4\nOxley,2018,51,10,3\n"
    )
    assert ids(found) == ["station:oxley", "station:peel-50.000n-10.000e", "station:peel-50.100n-10.000e"]
    told = [(r.measurement.place.entity_id[-13:], r.measurement.value) for r in found.parts.records if r.measurement]
    assert told[:4] == [
        ("0.000n-10.000e"[1:], "1"),
        ("0.100n-10.000e"[1:], "2"),
        ("0.000n-10.000e"[1:], "3"),
        ("0.100n-10.000e"[1:], "4"),
    ]


def test_tracks_are_no_places() -> None:
    track = "".join(f"Argo,{n},{n}\nBrig,{-n},{n}\n" for n in range(5))
    assert places(read(f"name,lat,lon\n{track}")) == {"place:argo": {None}, "place:brig": {None}}
    dated = read(
        "name,date,lat,lon\nArgo,2020-05-01,1,1\nArgo,2020-05-02,2,2\nBrig,2020-05-01,3,3\nCog,2020-05-01,4,4\n"
    )
    assert places(dated)["place:argo"] == {None} and places(dated)["place:cog"] == {(4.0, 4.0)}


def test_a_great_many_under_one_name_take_no_time() -> None:
    rows = [("town:x", f"{n % 180}.{n % 97}", f"{n % 89}.{n % 83}", "") for n in range(20_000)]
    assert bearers([*rows, *((f"town:{n}", "1", "1", "") for n in range(30_000))]).moved == {"town:x"}


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["0", "0.001", "9", "-9", "179.999", "-179.999", "x", ""]),
                  st.sampled_from(["0", "0.001", "45", "-89.9", "", "nan"]), st.sampled_from(["", "1"])), max_size=12)
)  # fmt: skip
def test_every_row_of_a_name_is_of_a_place_near_it(rows: list[tuple[str, str, str, str]]) -> None:
    found = bearers(rows)
    assert not found.moved & set(found.shared)
    for name, places in found.shared.items():
        assert len(places) > 1
        assert len({found.which(name, str(x), str(y)) for x, y in places}) == len(places)
        assert found.which(name, "", "") is None
    for name, x, y, _ in rows:
        assert name in found.shared or found.which(name, x, y) == name
