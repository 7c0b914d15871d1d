"""Kansas as of a date: what was on record, and what stood on the map, with gold computed from the data themselves.

The figures are the tables of counties, cities and treaties; the boundaries those of the Atlas of Historical County
Boundaries, which may not be shipped: it is read from the data folder, written into the folder of this run with one
span of years an edition, and asked. The gold comes from the files, not from the product's stores.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import shapely

from api.home.configuration import load
from api.measure.eval import routes
from api.measure.eval.asking import COLLECTION, answer_of, hybrid_words, open_patiently
from api.measure.eval.tables import Part, goal, share
from api.wiring import open_ingest

_MANIFEST = Path(__file__).with_name("kansas.toml")
ASKED = 25
CENSUSES = (1900, 1910, 1920, 1930, 1940, 1950)
RIGHT_GOAL = 0.9
ABSTAIN = "ABSTAIN"
_BORDER = 0.0005
"""Degrees: how near lines of one border lie in a file of this precision."""
_SHARED = 0.002
"""Degrees of common border; less is a corner."""
_COUNTY_FILE, _CITY_FILE = Path("county-population/population.csv"), Path("city-population/cities.csv")
_TREATY_FILE, _MAP_FILE = Path("treaties/treaties.tsv"), Path("historical-counties/counties.geojson")


@dataclass(frozen=True, slots=True)
class AsOf:
    """A question, its group, and the words that the right answer holds; none where the right thing is to abstain.
    `others` are words of its kind that must not be there."""

    group: str
    question: str
    words: tuple[str, ...]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edition:
    """A county as it stood in the middle of each year from `first` to `last`."""

    entity: str
    name: str
    first: int
    last: int
    shape: shapely.Geometry


def editions_of(features: Sequence[Mapping[str, Any]]) -> list[Edition]:
    """Editions that stood on a 1 July; unorganised territory is no county."""
    found = []
    for each in features:
        at = each["properties"]
        if "NCA" in at["name"] or "Terr" in at["name"] or "(" in at["name"]:
            continue
        first, last = date.fromisoformat(at["start"]), date.fromisoformat(at["end"])
        first_year = first.year + (first > date(first.year, 7, 1))
        last_year = last.year - (last < date(last.year, 7, 1))
        if first_year <= last_year:
            shape = shapely.make_valid(shapely.from_geojson(json.dumps(each["geometry"])))
            found.append(Edition(at["id"], at["name"].title(), first_year, last_year, shape))
    return found


def standing(editions: Sequence[Edition], year: int) -> list[Edition]:
    """The counties of a year, one edition each."""
    return [each for each in editions if each.first <= year <= each.last]


def neighbours(editions: Sequence[Edition], centre: Edition) -> list[str]:
    """Names of the counties that share a line, not only a corner, with one of them."""
    ring = centre.shape.boundary.buffer(_BORDER)
    common = {each.name: shapely.intersection(each.shape.boundary, ring).length for each in editions if each != centre}
    return sorted(name for name, length in common.items() if length > 2 * _BORDER + _SHARED)


def questions(folder: Path, editions: Sequence[Edition], *, seed: int = 7) -> list[AsOf]:
    """At most `ASKED` of each group, a function of the files."""
    chance = random.Random(seed)  # noqa: S311 - a sample, no secret
    with (folder / _COUNTY_FILE).open(encoding="utf-8", newline="") as rows:
        counties = [row for row in csv.DictReader(rows) if row["fips"] != "20000"]
    with (folder / _CITY_FILE).open(encoding="utf-8", newline="") as rows:
        cities = [row for row in csv.DictReader(rows) if row["ST"] == "KS"]
    treaties = _treaties(folder)
    makers: tuple[Callable[[], AsOf | None], ...] = (
        lambda: _figure(chance.choice(counties), chance.choice(CENSUSES)),
        lambda: _unknown_year(chance.choice(counties), chance.randrange(1901, 1950)),
        lambda: _change(chance.choice(counties), chance.sample(CENSUSES, 2)),
        lambda: _city(chance.choice(cities), chance.randrange(1860, 2011, 10)),
        lambda: _treaty(chance.choice(treaties), treaties),
        lambda: _count(editions, chance.randrange(1856, 1890)),
        lambda: _borders(editions, chance.randrange(1856, 1890), chance),
        lambda: _county_of(editions, chance.choice(cities), chance.randrange(1860, 1890)),
    )
    return [made for maker in makers for made in _some(maker)]


def _treaties(folder: Path) -> list[dict[str, str]]:
    with (folder / _TREATY_FILE).open(encoding="utf-8", newline="") as rows:
        return [row for row in csv.DictReader(rows, delimiter="\t") if row["signed_iso"]]


def _some(maker: Callable[[], AsOf | None]) -> Iterator[AsOf]:
    seen: set[str] = set()
    for _ in range(20 * ASKED):
        made = maker()
        if made is not None and made.question not in seen and len(seen) < ASKED:
            seen.add(made.question)
            yield made


def _figure(county: Mapping[str, str], year: int) -> AsOf | None:
    value = county[str(year)]
    asked = f"What was the population of {county['name']} in {year}?"
    return AsOf("figure of a county", asked, (f"{int(value):,}",)) if value else None


def _unknown_year(county: Mapping[str, str], year: int) -> AsOf | None:
    if year in CENSUSES:
        return None
    return AsOf("no figure for the year", f"What was the population of {county['name']} in {year}?", ())


def _change(county: Mapping[str, str], years: Sequence[int]) -> AsOf | None:
    first, last = sorted(years)
    if not (county[str(first)] and county[str(last)]):
        return None
    gap = abs(int(county[str(last)]) - int(county[str(first)]))
    asked = f"How did the population of {county['name']} change between {first} and {last}?"
    return AsOf("change", asked, (f"{gap:,}",)) if gap else None


def _city(city: Mapping[str, str], year: int) -> AsOf | None:
    """A figure of 0 is none."""
    value = int(city[str(year)] or 0)
    asked = f"What was the population of {city['City']}, Kansas, in {year}?"
    return AsOf("figure of a city, or none", asked, (f"{value:,}",) if value else ())


def _treaty(treaty: Mapping[str, str], treaties: Sequence[Mapping[str, str]]) -> AsOf | None:
    """The citation of the one treaty that a nation signed in a year."""
    nation, year = treaty["nation"], treaty["signed_iso"][:4]
    same = {t["citation"] for t in treaties if t["nation"] == nation and t["signed_iso"].startswith(year)}
    if len(same) > 1 or not treaty["citation"] or not nation.isalpha() or nation == "Kansas":
        return None
    return AsOf("treaty of a year", f"Which treaty did the {nation} sign in {year}?", (treaty["citation"],))


def _count(editions: Sequence[Edition], year: int) -> AsOf:
    n = len({each.entity for each in standing(editions, year)})
    return AsOf("number of counties", f"How many counties did Kansas have in {year}?", (f" {n} counties",))


def _borders(editions: Sequence[Edition], year: int, chance: random.Random) -> AsOf:
    there = standing(editions, year)
    centre = chance.choice(there)
    names = neighbours(there, centre)
    others = tuple(f"{e.name} County" for e in there if e.name not in (*names, centre.name))
    asked = f"Which counties bordered {centre.name} County in {year}?"
    return AsOf("neighbours", asked, tuple(f"{name} County" for name in names), others)


def _county_of(editions: Sequence[Edition], city: Mapping[str, str], year: int) -> AsOf | None:
    point = shapely.Point(float(city["LON"]), float(city["LAT"]))
    there = [each.name for each in standing(editions, year) if each.shape.contains(point)]
    if len(there) != 1:
        return None
    return AsOf("county of a city", f"In which county was {city['City']} in {year}?", (f"{there[0]} County",))


async def make_home(folder: Path, work: Path, editions: Sequence[Edition]) -> Path:
    """A home with the tables and the dated boundaries; made only if it is not there."""
    home, sources = work / "home", work / "sources"
    if (home / "done").exists():
        return home
    sources.mkdir(parents=True, exist_ok=True)
    for file in (_COUNTY_FILE, _CITY_FILE, _TREATY_FILE):
        (sources / file.name).write_bytes((folder / file).read_bytes())
    (sources / "boundaries.geojson").write_text(json.dumps(_dated(editions)), "utf-8")
    (sources / "manifest.toml").write_bytes(_MANIFEST.read_bytes())
    async with open_ingest(load({}, home=home)) as ingest:
        report = await ingest.run([sources], tenant="default", collection=COLLECTION, label="public")
    if report.failed:
        raise ValueError(f"not ingested: {report.failed[0]}")
    (home / "done").touch()
    return home


def _dated(editions: Sequence[Edition]) -> dict[str, Any]:
    features = []
    for number, each in enumerate(editions):
        at = {"edition": f"e{number}", "county": each.entity, "name": f"{each.name} County"}
        at |= {"years": f"{each.first}-{each.last}" if each.first < each.last else str(each.first)}
        features.append({"type": "Feature", "properties": at, "geometry": json.loads(shapely.to_geojson(each.shape))})
    return {"type": "FeatureCollection", "features": features}


def is_right(asked: AsOf, outcome: str, text: str) -> bool:
    """True if the answer is the gold: every word of it and none of the others; or an abstention where there is none."""
    if not asked.words:
        return outcome == ABSTAIN
    return outcome == "ANSWER" and all(w in text for w in asked.words) and not any(w in text for w in asked.others)


async def run(folder: Path, work: Path) -> Part:
    """Right answers by group, and how often the first result of hybrid search says it."""
    editions = editions_of(json.loads((folder / _MAP_FILE).read_text("utf-8"))["features"])
    asked = questions(folder, editions)
    home = await make_home(folder, work / "kansas", editions)
    right: dict[str, list[bool]] = {}
    first: dict[str, list[bool]] = {}
    async with open_patiently(home) as system:
        await answer_of(system, asked[0].question)  # so that no first question meets a deadline while all is opened
        for each in asked:
            outcome, text = await answer_of(system, each.question)
            right.setdefault(each.group, []).append(is_right(each, outcome, text))
            if each.words:
                said = await hybrid_words(system, each.question)
                first.setdefault(each.group, []).append(bool(said) and all(word in said[0] for word in each.words))
        router = await routes.tables(system, _treaties(folder))
    ways = {name: _row(values, first.get(name)) for name, values in right.items()}
    whole = [value for values in right.values() for value in values]
    ways["all"] = _row(whole, [value for values in first.values() for value in values])
    return {
        "name": "Kansas as of a date",
        "questions": len(asked),
        "ways": ways,
        "tables": router,
        "goals": {"right answers": goal(RIGHT_GOAL, ways["all"]["right"]["mean"])},
    }


def _row(right: Sequence[bool], first: Sequence[bool] | None) -> dict[str, Any]:
    row: dict[str, Any] = {"questions": len(right), "right": share(right)}
    return row | {"first_result_says_it": share(first)} if first else row
