"""Figures of small tables as people write them: amounts below nothing, shares of workbooks, and rows with a cell too
many, whose cells are those of other columns."""

from __future__ import annotations

import io
import random

import openpyxl
import pytest

from retrieval.ingest.formats.office import read_workbook
from retrieval.ingest.records.recognise import figure_of
from tests.unit.test_ingest_undated import told

NAMES = ("Ash", "Birch", "Cedar", "Elm")


@pytest.mark.parametrize("sign", ["$", "£", "€", "%"])
@pytest.mark.parametrize("minus", ["-", "\u2212"])
@pytest.mark.parametrize("amount", ["350.00", "2,100.75", "7"])
def test_an_amount_below_nothing_is_a_figure(sign: str, minus: str, amount: str) -> None:
    value = "-" + amount.replace(",", "")
    forms = [f"{minus}{amount}{sign}", f"{minus}{amount} {sign}"]
    forms += [f"{minus}{sign}{amount}", f"{sign}{minus}{amount}"] if sign != "%" else []
    assert [figure_of(form) for form in forms] == [(value, sign)] * len(forms)
    assert figure_of(f"{minus}{sign}{minus}{amount}") is None and figure_of(f"{minus}{sign}") is None


@pytest.mark.parametrize("seed", range(6))
def test_a_row_with_a_cell_too_many_says_nothing(seed: int) -> None:
    chance = random.Random(seed)
    rows = [[name, str(chance.randint(40, 60)), str(10**n + 1), "note", ""] for n, name in enumerate(NAMES)]
    table = "Tree,Height (m),Branches,Note,Kept\n"
    assert len(told(table + "".join(",".join(row) + "\n" for row in rows), "trees")) == 2 * len(NAMES)
    wrong = rows[chance.randrange(len(rows))]
    wrong.insert(chance.randint(1, 2), "")
    assert told(table + "".join(",".join(row) + "\n" for row in rows), "trees") == []


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [(0.2, "0%", "20%"), (0.075, "0.0%", "7.5%"), (0, "0%", "0%"), (1.5, "0%", "150%"), (-0.03, "0.00%", "-3%"),
     (0.2, "0.0", "0.2"), (20, '0"%"', "20"), (20, r"0\%", "20"), (0.2, "General", "0.2"), ("a", "0%", "a"),
     (True, "0%", "TRUE"), (None, "0%", "")],
)  # fmt: skip
def test_a_share_of_a_workbook_is_told_as_it_is_shown(value: object, form: str, text: str) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Product", "Discount", "Stock"])
    for n, name in enumerate(NAMES):
        sheet.append([name, value, n + 1])
        sheet.cell(n + 2, 2).number_format = form
    data = io.BytesIO()
    book.save(data)
    found = read_workbook("p.xlsx", data.getvalue()).text.splitlines()
    assert found[1:] == [f"{name},{text},{n}" for n, name in enumerate(NAMES, 1)] if text else len(found) == 5
