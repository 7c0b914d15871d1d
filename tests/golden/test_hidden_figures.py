"""What redaction hides where it stands comes back as no figure: not looked up, ranked, summed up or counted, however
it is written and whatever its column is called."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened
from tests.unit.test_ingest_codes import NAMES, digits, with_luhn

HEADERS = ("Amount", "Score", "Quantity")


def cards(chance: random.Random) -> list[str]:
    """One card among figures: a column that nothing tells from one of amounts."""
    found = [str(chance.randint(10, 9_999)) for _ in NAMES]
    found[chance.randrange(len(NAMES))] = with_luhn(digits(chance, 15, "3456"))
    return found


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seed", range(3))
async def test_a_figure_that_rests_on_a_redacted_cell_is_withheld(
    seed: int, grouped: bool, dated: bool, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    header, cells = HEADERS[seed], cards(chance)
    card = max(cells, key=len)
    holder = NAMES[cells.index(card)]
    told = [f'"{int(cell):,}"' if grouped else cell for cell in cells]
    year, when = (",2019", " in 2019") if dated else ("", "")
    rows = [f"{name}{year},{cell},{at + 3}" for at, (name, cell) in enumerate(zip(NAMES, told, strict=True))]
    head = f"Town{',Year' if dated else ''},{header},Visits"
    (tmp_path / "towns.csv").write_text("\n".join((head, *rows, "")))
    await ingest(tmp_path / "home", paths=[tmp_path / "towns.csv"], label="public")
    measure = header.lower()
    async with opened(tmp_path / "home") as system:
        for question in (
            f"What {'was' if dated else 'is'} the {measure} of {holder}{when}?",
            f"Which town has the largest {measure}{when}?",
            f"What is the total {measure} of the towns{when}?",
            f"What is the average {measure} of the towns{when}?",
            f"Which towns have a {measure} of more than 100{when}?",
            f"How much larger is the {measure} of {holder} than that of {NAMES[cells.index(min(cells, key=len))]}?",
        ):
            body = await ask(system, question)
            said = "".join(filter(str.isdigit, str(body)))
            assert grouped or card not in said, question
            assert not any(each["computed"] for each in body["citations"].values()), (question, body["answer"])
        body = await ask(system, f"What is the total number of visits of the towns{when}?")
        assert body["outcome"] == "ANSWER" and "25" in body["answer"], body["answer"]


async def test_who_may_see_personal_data_sees_its_figures(tmp_path: Path) -> None:
    cells = cards(random.Random(1))
    rows = [f"{name},{cell}" for name, cell in zip(NAMES, cells, strict=True)]
    (tmp_path / "customers.csv").write_text("\n".join(("Customer,Amount", *rows, "")))
    await ingest(tmp_path / "home", paths=[tmp_path / "customers.csv"], label="public")
    holder = NAMES[cells.index(max(cells, key=len))]
    async with opened(tmp_path / "home") as system:
        question = "Which customer has the largest amount?"
        assert (await ask(system, question))["outcome"] == "ABSTAIN"
        body = await ask(system, question, role="admin")
        assert body["answer"].startswith(f"{holder} has the largest amount"), body
