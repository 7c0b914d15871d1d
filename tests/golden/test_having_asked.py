"""What things have is more than nought, or for a measure that may be below it another figure; a nought is none."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

NAMES = ("Ardnish", "Bellmore", "Corvane", "Dunlarg", "Eskwith", "Farrowby", "Glenmarle")
KINDS = (("river", "rivers", "dams"), ("house", "houses", "rooms"), ("ship", "ships", "masts"))


@pytest.mark.parametrize(("one", "many", "measure"), KINDS)
@pytest.mark.parametrize("seed", range(2))
async def test_to_have_is_no_nought(seed: int, one: str, many: str, measure: str, tmp_path: Path) -> None:
    chance = random.Random(seed)
    counts = {name: chance.choice((0, 0, chance.randint(1, 9))) for name in NAMES} | {NAMES[0]: 3, NAMES[1]: 0}
    moved = {name: chance.choice((0, -7, 12, 5)) for name in NAMES} | {NAMES[2]: -4, NAMES[3]: 0}
    rows = [f"{name},{counts[name]},{moved[name]}" for name in NAMES]
    (tmp_path / f"{many}.csv").write_text("\n".join((f"{one.title()},{measure.title()},Level change (cm)", *rows, "")))
    await ingest(tmp_path / "home", paths=[tmp_path / f"{many}.csv"], label="public")
    having = {name for name, n in counts.items() if n}
    async with opened(tmp_path / "home") as system:
        for question, things in (
            (f"Which {many} have {measure}?", having),
            (f"Which {many} have any {measure}?", having),
            (f"List all {many} with {measure}.", having),
            (f"How many {many} have {measure}?", having),
            (f"Which {many} have no {measure}?", set(NAMES) - having),
            (f"How many {many} have no {measure}?", set(NAMES) - having),
            (f"Which {many} have a level change?", {name for name, n in moved.items() if n}),
            (f"Which {many} have no level change?", {name for name, n in moved.items() if not n}),
        ):
            body = await ask(system, question)
            assert body["outcome"] == "ANSWER", question
            assert {name for name in NAMES if name in body["answer"]} == things, (question, body["answer"])
        text = (await ask(system, f"How many {measure} does {NAMES[1]} have?"))["answer"]
        assert text.startswith(f"{NAMES[1]} has 0 {measure}"), text
        text = (await ask(system, f"Which {many} have more than 2 {measure}?"))["answer"]
        assert {name for name in NAMES if name in text} == {name for name, n in counts.items() if n > 2}, text
