"""The building blocks of the scaled corpus: sentences, places, nations and tables of the sample corpus."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

TEXTS = ("buchanan-messages.txt", "cody-life.txt", "kansas-narratives.txt", "dust-bowl-story.md")
TABLES = ("county-population.csv", "counties.geojson", "cities.csv", "treaties.tsv")
CENSUS_YEARS = (1900, 1910, 1920, 1930, 1940, 1950)

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[A-Z])")
_PLAIN = re.compile(r"[A-Z][A-Za-z0-9 ,;:'()\-]{40,260}[.!?]")


@dataclass(frozen=True, slots=True)
class Texts:
    """Words to build with. `sentences` stand in the order of the texts; `towns` are (town, county); every nation of
    `nations` has a treaty."""

    sentences: tuple[str, ...]
    towns: tuple[tuple[str, str], ...]
    counties: tuple[str, ...]
    nations: tuple[str, ...]


def read_texts(corpus: Path) -> Texts:
    """The building material in the folder of the sample corpus."""
    found = (sentence for name in TEXTS for sentence in _sentences((corpus / name).read_text("utf-8")))
    return Texts(
        sentences=tuple(dict.fromkeys(found)),
        towns=_towns(corpus / "cities.csv"),
        counties=tuple(row["name"] for row in _rows(corpus / "county-population.csv") if row["fips"] != "20000"),
        nations=tuple(dict.fromkeys(row["nation"] for row in _rows(corpus / "treaties.tsv", "\t"))),
    )


def _sentences(text: str) -> list[str]:
    """Whole sentences of plain words: no headings, tables or markup, which would change how a passage is cut."""
    flowing = (re.sub(r"\s+", " ", paragraph).strip() for paragraph in re.split(r"\n\s*\n", text))
    return [s for paragraph in flowing for s in _SENTENCE_END.split(paragraph) if _PLAIN.fullmatch(s)]


def _towns(path: Path) -> tuple[tuple[str, str], ...]:
    rows = (row for row in _rows(path) if row["ST"] == "KS" and row["County_Name"])
    return tuple((row["City"], f"{row['County_Name'].title()} County") for row in rows)


def _rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))
