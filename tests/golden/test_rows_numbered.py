"""Rows that a question names by a number; beside each the number of another column, or of no row."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_lines_asked import said_of

TABLES = (
    ("Plot", "Holder", "Rent", "holds", ("Ruth Ains", "Dai Crewe", "Helga Brandt")),
    ("Room", "Teacher", "Seats", "teaches in", ("Ivo Stern", "Vera Lund", "Una Dale")),
    ("Berth", "Owner", "Length", "owns", ("Piers Hanway", "Kit Marsh", "Ada Lunt")),
    ("Hive", "Keeper", "Frames", "keeps", ("Edda Voss", "Jan Orr", "Tom Beer")),
    ("Bus", "Driver", "Seats", "drives", ("Max Orme", "Clara Voss", "Edgar Nunn")),
)
NUMBERS = ((3, 41), (14, 35), (17, 14))


@pytest.mark.parametrize("kind", ["csv", "md"])
@pytest.mark.parametrize(("thing", "doer", "other", "does", "people"), TABLES)
async def test_a_number_names_the_row_of_its_header(
    tmp_path: Path, kind: str, thing: str, doer: str, other: str, does: str, people: tuple[str, ...]
) -> None:
    rows = [(str(n), name, str(m)) for (n, m), name in zip(NUMBERS, people, strict=True)]
    if kind == "csv":
        text = "\n".join(",".join(each) for each in ((thing, doer, other), *rows)) + "\n"
    else:
        lines = ((thing, doer, other), ("---",) * 3, *rows)
        text = f"# All {other.lower()}\n\n" + "\n".join(f"| {' | '.join(each)} |" for each in lines) + "\n"
    named = thing.lower()
    questions: dict[str, str | None] = {f"Who {does} {named} {row[0]}?": row[1] for row in rows}
    questions |= {f"Who {does} {named} {n}?": None for n in (4, 41, 35, 170)}
    await said_of(tmp_path, {f"table.{kind}": text}, questions)
