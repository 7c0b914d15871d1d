"""War of the Rebellion (DeLozier et al. 2016): do names in the records lead to the right place on the map?

No gazetteer comes with the set. The one used here is what the data allow: the places of one half of its documents, and
the city and county tables where they are there. The other half is asked. Names are found by the gazetteer of the
product (`retrieval.gazetteer`).
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from api.measure.eval.tables import Part, share
from retrieval.gazetteer import Gazetteer
from retrieval.index import GazetteerEntry, surface_key
from retrieval.model import EntityRef

FILE = "toponym_train.jsonl"
NEAR_KM = 161.0
_EARTH_KM = 6371.0088
_SAME_KM = 25.0
_CELL = 1
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Toponym:
    """A name in a text, at its characters, and where it lies: latitude and longitude in degrees."""

    name: str
    start: int
    end: int
    at: Point


@dataclass(frozen=True, slots=True)
class Letter:
    """One document."""

    text: str
    toponyms: tuple[Toponym, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """A gazetteer and where its entities lie; the entities of a name stand in the order of how often it means them."""

    gazetteer: Gazetteer
    at: Mapping[str, Point]


def read(folder: Path) -> list[Letter]:
    """All documents, in the order of the file. Raises OSError, ValueError, KeyError for other files."""
    found = []
    for line in (folder / FILE).read_text("utf-8").splitlines():
        each = json.loads(line)
        placed = [t for t in each["toponyms"] if t["lat"] is not None and t["lon"] is not None]
        names = [Toponym(t["term"], t["start"], t["end"], (t["lat"], t["lon"])) for t in placed]
        found.append(Letter(each["text"], tuple(names)))
    return found


def distance_km(a: Point, b: Point) -> float:
    """Along the great circle (haversine)."""
    (lat1, lon1), (lat2, lon2) = (tuple(map(math.radians, p)) for p in (a, b))
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * _EARTH_KM * math.asin(math.sqrt(min(1.0, h)))


def places_of(letters: Sequence[Letter], named: Sequence[tuple[str, Point]] = ()) -> Places:
    """The places that the documents name, one for all mentions of a name within 25 km of each other, and those of
    tables."""
    counts: Counter[tuple[str, Point]] = Counter()
    seen: dict[str, list[Point]] = {}
    spelled: dict[str, str] = {}
    for name, at in [*((t.name, t.at) for letter in letters for t in letter.toponyms), *named]:
        key = surface_key(name)
        held = next((p for p in seen.setdefault(key, []) if distance_km(p, at) <= _SAME_KM), None)
        if held is None:
            seen[key].append(at)
        counts[key, held or at] += 1
        spelled.setdefault(key, name)
    entries, where = [], {}
    for number, ((key, at), _) in enumerate(sorted(counts.items(), key=lambda each: (-each[1], each[0])), start=1):
        entity = EntityRef(f"place:{number:06d}", spelled[key], "place")
        entries.append(GazetteerEntry(entity, (spelled[key],), "public", f"d{number}"))
        where[entity.entity_id] = at
    return Places(Gazetteer(entries), where)


def linked(letter: Letter, places: Places, *, together: bool) -> list[float | None]:
    """Kilometres from each toponym to where it is put; None where nothing is found. A name is put where it most often
    is; `together`: of its places the one nearest to those of the document's other names."""
    mentions = {(m.start_char, m.end_char): m for m in places.gazetteer.find(letter.text)}
    starts = {start: m for (start, _), m in mentions.items()}
    options = [
        [places.at[c.entity_id] for c in starts[t.start].candidates] if t.start in starts else []
        for t in letter.toponyms
    ]
    sure = [points[0] for points in options if len(points) == _CELL]
    return [
        None if not points else distance_km(t.at, _nearest(points, sure) if together else points[0])
        for t, points in zip(letter.toponyms, options, strict=True)
    ]


def _nearest(points: Sequence[Point], others: Sequence[Point]) -> Point:
    if len(points) == 1 or not others:
        return points[0]
    return min(points, key=lambda p: median(distance_km(p, other) for other in others))


async def run(folder: Path, work: Path) -> Part:
    """Accuracy within 161 km over all toponyms of the asked half, and over those that were found; median kilometres."""
    del work
    letters = read(folder)
    known, asked = letters[::2], letters[1::2]
    tables = list(_tables(folder.parent / "kansas"))
    half, alone = places_of(known, tables), places_of([], tables)
    ways = {}
    if tables:
        ways["tables of cities and counties alone"] = _row(asked, alone, together=False)
    ways["most frequent place of the name"] = _row(asked, half, together=False)
    ways["nearest to the document's other places"] = _row(asked, half, together=True)
    return {
        "name": "War of the Rebellion",
        "questions": sum(len(letter.toponyms) for letter in asked),
        "notes": [f"{len(half.gazetteer)} places of {len(known)} documents; {len(asked)} other documents asked."],
        "ways": ways,
        "goals": {},
    }


def _row(asked: Sequence[Letter], places: Places, *, together: bool) -> dict[str, object]:
    gaps = [gap for letter in asked for gap in linked(letter, places, together=together)]
    found = [gap for gap in gaps if gap is not None]
    row: dict[str, object] = {
        "found": share([gap is not None for gap in gaps]),
        "within_161_km_of_all": share([gap is not None and gap <= NEAR_KM for gap in gaps]),
    }
    if found:
        row |= {
            "within_161_km_of_found": share([gap <= NEAR_KM for gap in found]),
            "median_km_of_found": round(median(found), 1),
        }
    return row


def _tables(folder: Path) -> Iterator[tuple[str, Point]]:
    """Names and points of the city and county tables, where they are."""
    for path, name, lat, lon in (
        (folder / "city-population" / "cities.csv", "City", "LAT", "LON"),
        (folder / "county-population" / "centroids.csv", "NAMELSAD", "INTPTLAT", "INTPTLON"),
    ):
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as rows:
                yield from ((row[name], (float(row[lat]), float(row[lon]))) for row in csv.DictReader(rows) if row[lat])
