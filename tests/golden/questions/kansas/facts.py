"""The sample corpus in plain Python: its tables, outlines, treaties and public texts."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from datetime import date, datetime
from functools import cache
from pathlib import Path

from shapely.geometry import shape

from tests.golden.questions.world import SQUARE_KM, Event, Place, World, area_km2, years_of

FOLDER = Path(__file__).parents[4] / "examples" / "kansas"
STATES = {"KS": "Kansas", "MO": "Missouri", "NE": "Nebraska", "OK": "Oklahoma", "CO": "Colorado"}
PUBLIC_TEXTS = ("dust-bowl-story.md", "buchanan-messages.txt")
MONTH_DAY_YEAR = re.compile(r"0*(\d{1,2})/0*(\d{1,2})/(\d{4})")


@cache
def world() -> World:
    """The public part of the corpus."""
    places: dict[str, Place] = {}
    figures: dict[tuple[str, str], dict[int, float]] = {}
    for row in _rows("county-population.csv"):
        id = _state("Kansas") if row["name"] == "Kansas" else f"county:{row['name']}"
        figures[id, "population"] = years_of(row)
    for state in STATES.values():
        places[_state(state)] = Place(_state(state), state, "state", names=(f"State of {state}",))
    for feature in json.loads((FOLDER / "counties.geojson").read_text(encoding="utf-8"))["features"]:
        place = _county(feature)
        places[place.id] = place
    for row in _rows("cities.csv"):
        place = _city(row, places)
        places[place.id] = place
        figures[place.id, "population"] = years_of(row, no_figure=("0",))
    events = _treaties(places)
    texts = {name: (FOLDER / name).read_text(encoding="utf-8") for name in PUBLIC_TEXTS}
    return World(places, figures, events, home=_state("Kansas"), texts=texts)


def _county(feature: dict) -> Place:
    facts, outline = feature["properties"], shape(feature["geometry"])
    name, land, water = facts["namelsad"], facts["aland"] / SQUARE_KM, facts["awater"] / SQUARE_KM
    areas = {"outline": area_km2(outline), "land": land, "land and water": land + water}
    short = facts["name"]
    names = (f"{name}, Kansas", f"{name}, KS", f"{short} Co.", short)
    return Place(f"county:{name}", name, "county", names, frozenset({_state("Kansas")}), outline=outline, areas=areas)


def _city(row: dict[str, str], places: dict[str, Place]) -> Place:
    state, name = STATES[row["ST"]], row["City"]
    county = f"county:{row['County_Name']} County".replace("Mcpherson", "McPherson")
    inside = {_state(state)} | ({county} if state == "Kansas" and county in places else set())
    names = (f"{name}, {state}", f"{name}, {row['ST']}")
    at = (float(row["LON"]), float(row["LAT"])) if row["LON"] and row["LAT"] else None
    return Place(f"city:{name}, {state}", name, "city", names, frozenset(inside), point=at)


def _treaties(places: dict[str, Place]) -> tuple[Event, ...]:
    """One event a row; adds the nations and the places of signing. Spellings of one nation are those that the manifest
    declares as one."""
    manifest = tomllib.loads((FOLDER / "manifest.toml").read_text(encoding="utf-8"))
    table = next(s for s in manifest["source"] if s["path"] == "treaties.tsv")["table"]
    same = next(d for d in table["derive"] if d["name"] == "people")["values"]
    variants: dict[str, set[str]] = {}
    events = []
    for number, row in enumerate(_rows("treaties.tsv", delimiter="\t")):
        people = same.get(row["nation"], row["nation"])
        variants.setdefault(people, set()).update({row["nation"], f"{people} Nation"})
        day = _day(row)
        name = row["citation"] or (f"{day:%B} {day.day}, {day.year}" if day else f"row {number}")
        where = _where(row["note"])
        who = f"nation:{people}"
        events.append(
            Event(f"treaty:{number}", "treaty", name, day and day.year, day, (who,), where, bool(row["signed_iso"]))
        )
        if where:
            spot = f"spot:{where}"
            places.setdefault(spot, Place(spot, where, "spot"))
    for people, names in variants.items():
        known = tuple(sorted(names - {"Kansas"} | ({"Kansas Nation"} if people == "Kansa" else set())))
        places[f"nation:{people}"] = Place(f"nation:{people}", people, "nation", known)
    return tuple(events)


def _day(row: dict[str, str]) -> date | None:
    if row["signed_iso"]:
        return date.fromisoformat(row["signed_iso"])
    written = MONTH_DAY_YEAR.fullmatch(row["signed"].strip())
    if not written:
        return None
    month, day, year = map(int, written.groups())
    try:
        return datetime(year, month, day).date()  # noqa: DTZ001  a day, and no moment
    except ValueError:
        return None


def _where(note: str) -> str | None:
    """The place of signing: what follows "at", "on", "near" and the like, without remarks behind a comma."""
    found = re.search(r"(?i)(?:^|[\s,])(?:at|on|in|near|upon|opposite) (?:the )?([A-Z][^,;*/]+)", note)
    return found[1].strip() if found else None


def _state(name: str) -> str:
    return f"state:{name}"


def _rows(name: str, delimiter: str = ",") -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))
