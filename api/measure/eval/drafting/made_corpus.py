"""A corpus of tables about a country that does not exist, for measuring on other measures, units, kinds of place and
wordings than those of the sample corpus. A function of its seed."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

_HEADS = ("Bal", "Cor", "Dren", "Esk", "Fal", "Gor", "Hul", "Ister", "Jor", "Kel", "Lom", "Mar", "Nor", "Ost", "Pel")
_TAILS = ("mark", "holm", "vik", "stead", "ford", "lund", "minster", "wick", "dal", "berg")

_SOURCES = (
    ("harvest.csv", "Wheat harvest of the districts of Velden", "district", "wheat_harvest", "tonnes",
     "{place} harvested {value|number} tonnes of wheat in {year}.", (1951, 1961, 1971, 1981, 1991), (1_200, 98_000), 0),
    ("rainfall.csv", "Annual rainfall at the stations of Velden", "station", "rainfall", "millimetres",
     "Annual rainfall at {place} in {year}: {value|number} millimetres.", (1998, 2003, 2008, 2013), (310, 1_900), 1),
    ("schools.csv", "Schools in the parishes of Velden", "parish", "schools", "schools",
     "In {year} there were {value|number} schools in {place}.", (1880, 1900, 1920, 1940), (4, 260), 0),
    ("revenue.csv", "Customs revenue of the ports of Velden", "port", "customs_revenue", "crowns",
     "The customs revenue of {place} amounted to {value|number} crowns in {year}.", (1823, 1833, 1843, 1853),
     (21_000, 4_800_000), 0),
)  # fmt: skip
_ENTRY = """
[[source]]
path = "{file}"
source_id = "{stem}"
title = "{title}"
license = "CC0-1.0"
collection = "velden"
label = "public"

[source.table]
statement = "{{name}} is a {kind} of Velden."

[[source.table.entity]]
role = "place"
type = "{kind}"
id = "{kind}:{{code}}"
name = "{{name}}"

[source.table.observation]
place = "place"
measure = "{measure}"
unit = "{unit}"
statement = "{statement}"
"""


def write_corpus(folder: Path, *, rows: int = 24, seed: int = 11) -> Path:
    """Writes tables and manifest, and gives the manifest's path."""
    draw = random.Random(seed)  # noqa: S311  made-up figures, no secrets
    folder.mkdir(parents=True, exist_ok=True)
    names = [head + tail for head in _HEADS for tail in _TAILS]
    draw.shuffle(names)
    manifest = '[[collection]]\nname = "velden"\ntitle = "Velden in figures"\n'
    for file, title, kind, measure, unit, statement, years, (low, high), decimals in _SOURCES:
        out = io.StringIO()
        table = csv.writer(out)
        table.writerow(["code", "name", *years])
        for n in range(rows):
            level = draw.uniform(low, high)
            cells = [f"{max(low, min(high, level * draw.uniform(0.6, 1.6))):.{decimals}f}" for _ in years]
            table.writerow([f"{n:03d}", names.pop(), *cells])
        (folder / file).write_text(out.getvalue(), "utf-8")
        manifest += _ENTRY.format(
            file=file, stem=file.removesuffix(".csv"), title=title, kind=kind, measure=measure, unit=unit,
            statement=statement,
        )  # fmt: skip
    (folder / "manifest.toml").write_text(manifest, "utf-8")
    return folder / "manifest.toml"
