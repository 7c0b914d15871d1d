"""Means and medians at every scale keep the digits that count; those recorded in tenths say so again."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from statistics import mean, median

import pytest

from retrieval.model import EntityRef
from retrieval.spatial.computing.compute import compute, finely_rounded
from retrieval.spatial.facts import Fact
from tests.harness import ask, ingest, opened

NAMES = ("Arm", "Bolt", "Cam", "Disc", "Edge", "Foil")


def made(scale: int, seed: int) -> list[Decimal]:
    chance = random.Random(seed)
    return [Decimal(chance.randint(11, 97)).scaleb(scale) for _ in NAMES]


@pytest.mark.parametrize("scale", range(-5, 3))
async def test_a_mean_keeps_the_digits_that_count(scale: int, tmp_path: Path) -> None:
    cells, others = made(scale, 1), [1900 + 7 * at for at in range(len(NAMES))]
    rows = [f"{n},{cell:f},{other}" for n, cell, other in zip(NAMES, cells, others, strict=True)]
    (tmp_path / "parts.csv").write_text("\n".join(("Part,Thickness (mm),Launched", *rows, "")))
    await ingest(tmp_path / "home", paths=[tmp_path / "parts.csv"], label="public")
    some = [cell for cell, other in zip(cells, others, strict=True) if other < 1925]
    async with opened(tmp_path / "home") as system:
        for question, exact in (
            ("What is the average thickness?", mean(cells)),
            ("What is the median thickness?", median(cells)),
            ("What is the average thickness of the parts launched before 1925?", mean(some)),
        ):
            text = (await ask(system, question))["answer"]
            said = Decimal(text.split(" is ")[1].split(" mm")[0].replace(",", ""))
            assert abs(said - exact) <= max(Decimal("0.5").scaleb(min(scale, -1)), Decimal(0)), (question, exact, text)
            assert abs(said - exact) <= abs(exact) * Decimal("0.015"), (question, exact, text)


def test_what_was_recorded_in_tenths_says_so_again() -> None:
    facts = [
        Fact(f"r{n}", "s", EntityRef(f"listed:part:{n}", n, "part"), measure="price", value=f"{v:f}", unit="EUR")
        for n, v in zip(NAMES, made(-3, 3), strict=True)
    ]
    parameters = {"function": "mean", "measure": "price", "place_type": "part", "year": None}
    before = compute("aggregate", parameters, facts)
    assert before.statement.endswith(" is 0.") or before.statement.endswith(" is 0.1.")
    fine = finely_rounded("aggregate", parameters, facts)
    after = compute("aggregate", fine, facts)
    assert fine != parameters and after.record_id != before.record_id
    assert compute("aggregate", before.parameters, facts) == before and compute("aggregate", fine, facts) == after
    whole = [Fact(f.record_id, f.source_id, f.place, measure="price", value="7", unit="EUR") for f in facts]
    assert finely_rounded("aggregate", parameters, whole) == parameters
