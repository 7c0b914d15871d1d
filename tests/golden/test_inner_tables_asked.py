"""One table as a file and inside documents of several kinds: computed answers are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

import pytest

from tests.golden.test_groups_asked import KINDS, Kind, all_are_computed, csv, made
from tests.harness import ask, ingest, opened

Lines = Sequence[Sequence[str]]


def markdown(kind: Kind, lines: Lines) -> str:
    head, *rows = [f"| {' | '.join(line)} |" for line in lines]
    rule = "|-" * len(lines[0]) + "|"
    return "\n".join(
        (f"# {kind.many.title()}", "", "What there is:", "", head, rule, *rows, "", "Ask at the desk.", "")
    )


def page(kind: Kind, lines: Lines) -> str:
    head, *rows = lines
    told = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    header = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    return f"<h1>{kind.many}</h1><p>What there is.</p><table><tr>{header}</tr>{told}</table><p>Ask at the desk.</p>"


WRITTEN: Mapping[str, Callable[[Kind, Lines], str]] = {"md": markdown, "html": page}


@pytest.mark.parametrize("kind", KINDS, ids=[kind.one for kind in KINDS])
@pytest.mark.parametrize("form", WRITTEN)
async def test_a_table_in_a_document_says_what_it_says_as_a_file(form: str, kind: Kind, tmp_path: Path) -> None:
    rows = made(kind, 0)
    lines = [line.split(",") for line in csv(kind, rows).splitlines()]
    (tmp_path / f"{kind.many}.{form}").write_text(WRITTEN[form](kind, lines))
    await ingest(tmp_path / "home", paths=[tmp_path / f"{kind.many}.{form}"], label="public")
    best = max(rows, key=lambda name: rows[name].figure)
    measure = kind.measure.split(" (", maxsplit=1)[0].lower()
    async with opened(tmp_path / "home") as system:
        await all_are_computed(system, kind, rows)
        told = (await ask(system, f"Which {kind.one} has the largest {measure}?"))["answer"]
        assert told.startswith(f"{best} has the largest {measure}, {rows[best].figure}"), told
        told = (await ask(system, f"What is the total {measure} of the {kind.many}?"))["answer"]
        assert f"{sum(row.figure for row in rows.values()):,}" in told, told


UNSURE = {
    "a year stands above": "# Fares 2021\n\n{}\n",
    "a year stands before": "# Fares\n\nAs they were in 1998:\n\n{}\n",
    "a year stands behind": "# Fares\n\n{}\n\nCounted in 1998.\n",
    "another part of it": "# Fares\n\n{}\n\nThe others:\n\n{}\n",
}
FARES = "| Route | Fare (EUR) |\n|-|-|\n| North | 4 |\n| Quay | 9 |\n| Mill | 6 |"


@pytest.mark.parametrize("case", UNSURE)
async def test_what_is_not_sure_stays_text(case: str, tmp_path: Path) -> None:
    other = FARES.replace("North", "Dell").replace("Quay", "Inch").replace("Mill", "Cove")
    (tmp_path / "fares.md").write_text(UNSURE[case].format(FARES, other))
    await ingest(tmp_path / "home", paths=[tmp_path / "fares.md"], label="public")
    async with opened(tmp_path / "home") as system:
        for question in ("Which route has the largest fare?", "What is the total fare of the routes?"):
            assert (await ask(system, question))["outcome"] == "ABSTAIN", question
        assert "9" in (await ask(system, "What is the fare of the Quay route?"))["answer"]
