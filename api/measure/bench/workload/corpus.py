"""The scaled corpus: sentences of the sample texts, recombined by a seeded generator into passages that each tell of a
person, a town, a year and a nation, in several tenants, labels and groups.

The same seed gives the same bytes. A passage is made from its audience and its number alone, so that a small corpus
holds the first passages of a large one and both can be asked the same questions.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from api.measure.bench.workload.texts import TABLES, Texts

PASSAGE_WORDS = 120
PASSAGES_PER_FILE = 100
ASKER_ROLE, ASKER_GROUP, ASKER_TENANT = "contributor", "surveyors", "default"


@dataclass(frozen=True, slots=True)
class Audience:
    """One visibility class of the corpus, its share of the passages in thousandths, and whether the asker is in it."""

    tenant: str
    label: str
    group: str | None
    share_milli: int
    admitted: bool

    @property
    def name(self) -> str:
        """Stands in the source ids of its passages."""
        return "-".join(part for part in (self.tenant, self.label, self.group) if part)


AUDIENCES = (
    Audience("default", "public", None, 560, admitted=True),
    Audience("default", "internal", None, 140, admitted=True),
    Audience("default", "internal", ASKER_GROUP, 100, admitted=True),
    Audience("default", "internal", "archivists", 40, admitted=False),
    Audience("default", "confidential", None, 40, admitted=False),
    *(Audience(f"tenant{n}", "public", None, 30, admitted=False) for n in range(1, 5)),
)
"""Five tenants, three labels, two groups; the asker is a contributor among the surveyors of `default`."""

ADMITTED_SHARE_MILLI = sum(audience.share_milli for audience in AUDIENCES if audience.admitted)

_GIVEN = (
    "Abner", "Ada", "Albert", "Alice", "Amos", "Anna", "Asa", "Bertha", "Caleb", "Clara", "Cyrus", "Daniel",
    "Edith", "Elias", "Eliza", "Emma", "Enoch", "Esther", "Ezra", "Fanny", "Frank", "George", "Grace", "Hannah",
    "Henry", "Hiram", "Ida", "Isaac", "Jacob", "James", "Jane", "Joel", "John", "Julia", "Laura", "Levi", "Lewis",
    "Lucy", "Luther", "Mabel", "Martha", "Mary", "Minnie", "Moses", "Nancy", "Noah", "Nora", "Oscar", "Peter",
    "Phoebe", "Rachel", "Reuben", "Rose", "Ruth", "Samuel", "Sarah", "Silas", "Susan", "Thomas", "Walter",
)  # fmt: skip
_FAMILY = (
    "Abbott", "Adair", "Alden", "Ames", "Atwood", "Babcock", "Bagley", "Barlow", "Beecham", "Bixby", "Blaine",
    "Bowers", "Brandt", "Briggs", "Calloway", "Carver", "Chase", "Clough", "Colby", "Conway", "Corbin", "Crandall",
    "Cutler", "Dalton", "Dexter", "Doane", "Dunlap", "Eaton", "Eldridge", "Emery", "Farnham", "Finch", "Fiske",
    "Gage", "Garrett", "Gifford", "Goddard", "Hadley", "Hale", "Harlan", "Hewitt", "Holcomb", "Hoyt", "Hubbard",
    "Ingalls", "Jarvis", "Kellogg", "Kimball", "Lathrop", "Leland", "Lockwood", "Mather", "Merriam", "Nye",
    "Osgood", "Paxton", "Pomeroy", "Quigley", "Ransom", "Sawyer", "Thayer", "Upton", "Vaughn", "Wadsworth", "Yates",
)  # fmt: skip
_DEEDS = (
    "kept a ferry", "surveyed the section lines", "opened a blacksmith shop", "taught the first school", "bred horses",
    "printed a weekly newspaper", "built a stone mill", "drove a stage", "planted an orchard", "ran a trading post",
    "lost a crop to grasshoppers", "dug a well through limestone", "carried the mail", "quarried building stone",
    "raised winter wheat", "nursed the sick through cholera", "hauled freight", "sat on the first jury",
)  # fmt: skip
_YEAR = re.compile(r"\b1[5-9]\d\d\b")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage and what it tells of; `text` is one paragraph of about `PASSAGE_WORDS` words."""

    text: str
    person: str
    deed: str
    town: str
    county: str
    year: int


def passage(texts: Texts, audience: Audience, number: int, seed: int) -> Passage:
    """The passage of that number."""
    chance = random.Random(f"{seed}/{audience.name}/{number}")  # noqa: S311 - reproducible, not secret
    person = f"{chance.choice(_GIVEN)} {chance.choice(_FAMILY)}"
    (town, county), deed, year = chance.choice(texts.towns), chance.choice(_DEEDS), chance.randrange(1840, 1941)
    sentences = [f"In {year} {person} {deed} at {town} in {county}."]
    if chance.random() < 0.2:
        sentences.append(f"The {chance.choice(texts.nations)} signed a treaty near {chance.choice(texts.towns)[0]}.")
    words = sum(len(sentence.split()) for sentence in sentences)
    while words < PASSAGE_WORDS:
        moved = _YEAR.sub(lambda _: str(chance.randrange(1780, 1950)), chance.choice(texts.sentences))
        sentences.append(moved)
        words += len(moved.split())
    return Passage(" ".join(sentences), person, deed, town, county, year)


def counts(total: int) -> dict[Audience, int]:
    """How many passages each audience gets; they add up to `total`, the first takes what rounding leaves."""
    shares = {audience: total * audience.share_milli // 1000 for audience in AUDIENCES}
    shares[AUDIENCES[0]] += total - sum(shares.values())
    return shares


def admitted_passages(texts: Texts, total: int, seed: int) -> Iterator[Passage]:
    """The visible part of a corpus of that size for the asker, in order."""
    for audience, count in counts(total).items():
        if audience.admitted:
            yield from (passage(texts, audience, number, seed) for number in range(count))


def write_corpus(folder: Path, *, sample: Path, texts: Texts, total: int, seed: int) -> Mapping[str, Path]:
    """Writes `total` passages as Markdown and text files, and the sample tables for the asker's tenant. Returns the
    manifest of each tenant."""
    folder.mkdir(parents=True)
    manifests: dict[str, list[str]] = {}
    for audience, count in counts(total).items():
        blocks = manifests.setdefault(audience.tenant, [])
        for part, start in enumerate(range(0, count, PASSAGES_PER_FILE)):
            numbers = range(start, min(start + PASSAGES_PER_FILE, count))
            blocks.append(_file(folder, audience, part, [passage(texts, audience, n, seed) for n in numbers]))
    manifests[ASKER_TENANT] += _tables(sample, folder)
    paths = {}
    for tenant, blocks in manifests.items():
        paths[tenant] = folder / f"{tenant}.toml"
        paths[tenant].write_text("\n".join(['[[collection]]\nname = "kansas"\ntitle = "Kansas"\n', *blocks]), "utf-8")
    return paths


def _file(folder: Path, audience: Audience, part: int, passages: list[Passage]) -> str:
    """One file and its block of the manifest. Markdown gives every passage a heading, text a paragraph."""
    markdown = part % 2 == 0
    name = f"{audience.name}-{part:05d}.{'md' if markdown else 'txt'}"
    parts = (f"## {p.town}, {p.year}\n\n{p.text}" if markdown else p.text for p in passages)
    (folder / name).write_text("\n\n".join(parts) + "\n", "utf-8")
    return _block(
        path=name,
        source_id=name.replace(".", "-").lower(),
        title=f"{audience.name} {part}",
        license="Public domain",
        collection="kansas",
        label=audience.label,
        groups=[audience.group] if audience.group else [],
    )


def _tables(sample: Path, folder: Path) -> list[str]:
    """The table sources of the sample manifest, as they stand there, and their files."""
    _, *blocks = (sample / "manifest.toml").read_text("utf-8").split("[[source]]\n")
    kept = [f"[[source]]\n{block}" for block in blocks]
    kept = [block for block in kept if tomllib.loads(block)["source"][0]["path"] in TABLES]
    for name in TABLES:
        shutil.copy2(sample / name, folder / name)
    return kept


def _block(**values: str | list[str]) -> str:
    # A JSON string or array of strings is also a TOML one.
    return "[[source]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
