"""The Skerrow Isles in plain Python: a fictional archipelago, another domain than the sample corpus."""

from __future__ import annotations

import csv
import json
from datetime import date
from functools import cache
from pathlib import Path

from shapely.geometry import shape

from tests.golden.questions.world import Event, Place, World, area_km2, years_of

FOLDER = Path(__file__).parent / "corpus"
MEASURES = {"rainfall": "parish", "sheep": "parish", "cargo": "harbour", "vessels": "harbour"}


@cache
def world() -> World:
    places: dict[str, Place] = {}
    for feature in _features("islands.geojson"):
        island, outline = feature["properties"], shape(feature["geometry"])
        id = f"island:{island['name']}"
        places[id] = Place(id, island["name"], "island", outline=outline, areas={"outline": area_km2(outline)})
    for feature in _features("parishes.geojson"):
        parish, outline = feature["properties"], shape(feature["geometry"])
        id, name = f"parish:{parish['name']}", parish["name"]
        names = (name, f"parish of {name}")
        inside = frozenset({f"island:{parish['island']}"})
        areas = {"outline": area_km2(outline)}
        places[id] = Place(id, f"{name} Parish", "parish", names, inside, outline=outline, areas=areas)
    for row in _rows("cargo.csv"):
        id, name = f"harbour:{row['harbour']}", row["harbour"]
        names = (f"{name} harbour", f"harbour of {name}")
        at = (float(row["lon"]), float(row["lat"]))
        places[id] = Place(id, name, "harbour", names, frozenset({f"island:{row['island']}"}), point=at)
    figures = {
        (f"{kind}:{row[kind]}", measure): years_of(row)
        for measure, kind in MEASURES.items()
        for row in _rows(f"{measure}.csv")
    }
    texts = {"chronicle.md": (FOLDER / "chronicle.md").read_text(encoding="utf-8")}
    return World(places, figures, (*_storms(), *_lines()), texts=texts)


def _storms() -> list[Event]:
    """One event a storm: its islands took part."""
    found: dict[str, Event] = {}
    for row in _rows("storms.tsv", "\t"):
        day, name, before = date.fromisoformat(row["day"]), row["storm"], found.get(row["storm"])
        struck = (*(before.who if before else ()), f"island:{row['island']}")
        lost = (before.figures if before else frozenset()) | {float(row["vessels_lost"])}
        found[name] = Event(f"storm:{name}", "storm", name, day.year, day, struck, figures=lost)
    return list(found.values())


def _lines() -> list[Event]:
    """One event a ferry line: its opening; the harbours at which it calls took part."""
    found: dict[str, Event] = {}
    for row in _rows("ferries.tsv", "\t"):
        day, name = date.fromisoformat(row["opened"]), row["line"]
        calls = (*(found[name].who if name in found else ()), f"harbour:{row['harbour']}")
        found[name] = Event(f"line:{name}", "line", name, day.year, day, calls)
    return list(found.values())


def _features(name: str) -> list[dict]:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))["features"]  # type: ignore[no-any-return]


def _rows(name: str, delimiter: str = ",") -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))
