"""A number beside a measure is what the figure is: it is found in no other column and inside no other number."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

NAMES = ("Ardnish", "Bellmore", "Corvane", "Dunlarg", "Eskwith", "Farrowby", "Glenmarle")
FORMS = (
    ("tower", "Height (m)", "Which tower is {n} m high?", "Which towers have a height of {n} m?"),
    ("statue", "Weight (kg)", "Which statue weighs {n} kg?", "How many statues have a weight of {n} kg?"),
    ("cottage", "Age", "Which cottage is {n} years old?", "How many cottages are {n} years old?"),
    ("product", "Price (EUR)", "Which products cost {n} EUR?", "Which product has a price of {n} EUR?"),
    ("boat", "Cabins", "Which boats have {n} cabins?", "How many boats have {n} cabins?"),
)


@pytest.mark.parametrize(("kind", "header", "one", "other"), FORMS)
@pytest.mark.parametrize("seed", range(2))
async def test_a_number_is_that_of_its_column(
    seed: int, kind: str, header: str, one: str, other: str, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    figures = dict(zip(NAMES, (chance.randint(12, 49) for _ in NAMES), strict=True))
    figures[NAMES[1]] = figures[NAMES[0]]
    points = dict(zip(NAMES, chance.sample(range(51, 99), len(NAMES)), strict=True))
    rows = [f"{name},{figures[name]},{points[name]},{points[name] / 10 + 100}" for name in NAMES]
    (tmp_path / f"{kind}s.csv").write_text("\n".join((f"{kind.title()},{header},Points,Score", *rows, "")))
    await ingest(tmp_path / "home", paths=[tmp_path / f"{kind}s.csv"], label="public")
    asked = [figures[NAMES[0]], figures[NAMES[3]], points[NAMES[2]], points[NAMES[4]], figures[NAMES[0]] // 10]
    async with opened(tmp_path / "home") as system:
        for n in asked:
            for question in (one.format(n=n), other.format(n=n)):
                text = (await ask(system, question))["answer"]
                things = {name for name, figure in figures.items() if figure == n}
                assert {name for name in NAMES if name in text} == things, (question, text)
                assert things or text.startswith((f"No {kind} ", f"There are 0 {kind}s ")), (question, text)
