"""Groups of things in tables without years, asked against plain Python: what is so, what is not, and what has or has
not; of a thing whose cell is empty neither is said."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from api import wiring
from tests.harness import ask, ingest, opened

NAMES = ("Ardnish", "Bellmore", "Corvane", "Dunlarg", "Eskwith", "Farrowby", "Glenmarle", "Hollin Point", "Isel Head")
CITIES = ("Brine", "Selk", "Tolmen")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing, with a column of words, one of yes and no, and a measure."""

    one: str
    many: str
    column: str
    words: tuple[str, ...]
    asserted: str
    measure: str
    most: str


KINDS = (
    Kind("boat", "boats", "Hull", ("oak", "steel", "larch"), "Insured", "Length (m)", "longest"),
    Kind("kettle", "kettles", "Colour", ("red", "green", "white"), "Tested", "Weight (kg)", "heaviest"),
    Kind("engine", "engines", "Fuel", ("diesel", "petrol", "gas"), "Restored", "Length (m)", "longest"),
    Kind("cheese", "cheeses", "Rind", ("waxed", "washed", "natural"), "Organic", "Price (EUR)", "cheapest"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A thing of a table."""

    word: str
    asserted: bool
    city: str
    figure: int


def made(kind: Kind, seed: int) -> dict[str, Row]:
    chance = random.Random(seed)
    figures = chance.sample(range(11, 400), len(NAMES))
    rows = {
        name: Row(chance.choice(kind.words), chance.random() < 0.5, chance.choice(CITIES), figure)
        for name, figure in zip(NAMES, figures, strict=True)
    }
    for name, word, city in zip(NAMES, (*kind.words, *kind.words), (*CITIES, *CITIES), strict=False):
        rows[name] = Row(word, name < "C", city, rows[name].figure)
    rows[NAMES[-1]] = Row(kind.words[0], True, "", rows[NAMES[-1]].figure)  # nobody knows where
    return rows


def csv(kind: Kind, rows: dict[str, Row]) -> str:
    lines = [f"{n},{r.word},{'yes' if r.asserted else 'no'},{r.city},{r.figure}" for n, r in rows.items()]
    return "\n".join((f"{kind.one.title()},{kind.column},{kind.asserted},City,{kind.measure}", *lines, ""))


def asked(kind: Kind, rows: dict[str, Row]) -> Iterator[tuple[str, set[str], int | None]]:
    """Questions with the things that the answer names, or how many it counts."""
    word, other = kind.words[:2]
    so, asserted, many = kind.asserted.lower(), {n for n, r in rows.items() if r.asserted}, kind.many
    are = {n for n, r in rows.items() if r.word == word}
    brine, known = ({n for n, r in rows.items() if r.city == "Brine"}, {n for n, r in rows.items() if r.city})
    yield f"List all {many}.", set(rows), None
    yield f"Which {many} are {word}?", are, None
    yield f"List all {word} {many}.", are, None
    yield f"How many {many} are {word}?", set(), len(are)
    yield f"Which {many} are not {word}?", set(rows) - are, None
    yield f"List all {many} that are not {word}.", set(rows) - are, None
    yield f"How many {many} are not {word}?", set(), len(rows) - len(are)
    yield f"Which {many} are {word} or {other}?", {n for n, r in rows.items() if r.word in (word, other)}, None
    yield f"Which {many} are neither {word} nor {other}?", {n for n, r in rows.items() if r.word == kind.words[2]}, None
    yield f"Which {many} are {so}?", asserted, None
    yield f"List all {so} {many}.", asserted, None
    yield f"Which {many} are not {so}?", set(rows) - asserted, None
    yield f"How many {many} are not {so}?", set(), len(rows) - len(asserted)
    yield f"Which {many} are not in Brine?", known - brine, None
    yield f"List all {many} outside Brine.", known - brine, None
    yield f"List all {many} except those in Brine.", known - brine, None
    best = (min if kind.most == "cheapest" else max)(are, key=lambda name: rows[name].figure)
    yield f"Which {word} {kind.one} is the {kind.most}?", {best}, None
    bound = sorted(r.figure for r in rows.values())[3]
    over = {n for n, r in rows.items() if r.word == word and r.figure > bound}
    measure, unit = kind.measure.rstrip(")").split(" (")
    if over:
        question = f"Which {word} {many} have a {measure.lower()} of more than {bound} {unit}?"
        yield question, over, None


async def all_are_computed(system: wiring.System, kind: Kind, rows: dict[str, Row]) -> None:
    """Each question about a table is answered by a computation over the right things."""
    for question, things, count in asked(kind, rows):
        body = await ask(system, question)
        text = body["answer"]
        assert body["outcome"] == "ANSWER" and "computed:" in str(body["citations"]), (question, text)
        assert not things or {name for name in NAMES if name in text} == things, (question, text)
        assert count is None or f" {count} {kind.one if count == 1 else kind.many} " in text, (question, text)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.one for kind in KINDS])
@pytest.mark.parametrize("seed", range(2))
async def test_groups_are_conditions(seed: int, kind: Kind, tmp_path: Path) -> None:
    rows = made(kind, seed)
    (tmp_path / f"{kind.many}.csv").write_text(csv(kind, rows))
    await ingest(tmp_path / "home", paths=[tmp_path / f"{kind.many}.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        await all_are_computed(system, kind, rows)
