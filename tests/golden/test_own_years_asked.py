"""Tables that name each thing once, beside a year that is the thing's own: no series of figures, and none of a place
where that is not sure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

ROWS = (("Marl", "1932", "320"), ("Ness", "1978", "1200"), ("Orford", "1890", "540"), ("Pell", "1849", "90"))
SHAPES: Mapping[str, tuple[str, str, bool]] = {
    "bridges.csv": ("Bridge,Year,Length (m)", "bridge", True),
    "films.csv": ("Name,Year,Length (min)", "film", True),
    "list-of-caves.csv": ("No,Cave,Year,Length (m)", "cave", True),
    "rivers.csv": ("River,Year,Length (km)", "river", False),
    "towns.csv": ("Name,Year,Length (km)", "town", False),
    "lakes.csv": ("1,Lake,Year,Length (km)", "lake", False),
}


@pytest.mark.parametrize("name", SHAPES)
async def test_a_year_of_its_own_is_no_time_of_figures(name: str, tmp_path: Path) -> None:
    header, kind, told = SHAPES[name]
    numbered = header.count(",") == 3
    lines = [",".join((str(n), *row) if numbered else row) for n, row in enumerate(ROWS, 1)]
    (tmp_path / name).write_text("\n".join((header, *lines, "")))
    await ingest(tmp_path / "home", paths=[tmp_path / name], label="public")
    async with opened(tmp_path / "home") as system:
        for question, said in {
            f"Which {kind} is the longest?": "Ness has the largest length, 1,200",
            f"Which {kind}s are longer than 300?": "3 ",
            "What is the total length?": "2,150",
        }.items():
            body = await ask(system, question)
            assert (body["outcome"] == "ANSWER") is told, (question, body["answer"])
            assert not told or said in body["answer"], (question, body["answer"])
        for question in (
            f"Which {kind} was built first?",
            f"How many {kind}s were built before 1900?",
            "How many were built before 1900?",
            "What was the total length in 1932?",
            f"Which {kind} was the longest in 1932?",
            "How did the length of Marl change?",
            "Which year has the largest length?",
        ):
            body = await ask(system, question)
            assert body["outcome"] == "ABSTAIN", (question, body["answer"])


async def test_a_shared_year_is_the_time_of_figures(tmp_path: Path) -> None:
    rows = "Name,Year,Population\nMarl,1930,320\nNess,1930,1200\nOrford,1930,540\nPell,1920,90\n"
    (tmp_path / "towns.csv").write_text(rows)
    await ingest(tmp_path / "home", paths=[tmp_path / "towns.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        body = await ask(system, "Which town had the largest population in 1930?")
        assert body["answer"].startswith("Ness had the largest population in 1930, 1,200 inhabitants, of 3 towns")
