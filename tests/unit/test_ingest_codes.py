"""Numbers that name something are no figures, in tables with years and without; amounts beside them are."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from tests.unit.test_ingest_undated import read

NAMES = ("Ada Lind", "Bo Falk", "Cy Marsh", "Di Rook", "Ed Voss")


def with_luhn(body: str) -> str:
    total = sum(d if at % 2 else d * 2 - 9 * (d > 4) for at, d in enumerate(map(int, reversed(body))))
    return body + str(-total % 10)


def with_gtin(body: str) -> str:
    return body + str(-sum(int(d) * (3 if at % 2 == 0 else 1) for at, d in enumerate(reversed(body))) % 10)


def digits(chance: random.Random, n: int, first: str = "123456789") -> str:
    return chance.choice(first) + "".join(chance.choice("0123456789") for _ in range(n - 1))


HEADED = ("Card", "Bank card", "Account (main)", "Passport", "Driving licence", "Mobile", "Tel", "IBAN", "card_account",
          "Card number", "CardNo", "Serial", "SSN", "Zip", "ISBN", "Telephone, home", "Passport of holder")  # fmt: skip
MADE: dict[str, Callable[[random.Random, int], str]] = {
    "Tax": lambda chance, _: digits(chance, 11),
    "Chip": lambda chance, _: digits(chance, 15),
    "Payment": lambda chance, at: with_luhn(digits(chance, 15 - at % 2, "3456")),
    "Article": lambda chance, at: with_gtin(digits(chance, 12 - at % 2)),
    "Home phones": lambda chance, _: digits(chance, 7),
    "Membership": lambda chance, _: "0" + digits(chance, 5),
}
AMOUNTS: dict[str, Callable[[random.Random, int], str]] = {
    "Points": lambda chance, _: str(chance.randint(10, 999)),
    "Card payments": lambda chance, at: str(chance.randint(10, 99) * 10 ** (at % 3)),
    "Account balance": lambda chance, _: f"{chance.randint(1_000, 9_000)}.5",
    "Number of visits": lambda chance, _: str(chance.randint(1, 90)),
    "Turnover (EUR)": lambda chance, _: str(chance.randint(10**9, 9 * 10**9)),
    "Stars": lambda chance, at: str(chance.randint(10**9, 9 * 10**9) * 10**at + 7),
}


def measured(header: str, cells: Sequence[str], *, dated: bool) -> int:
    """How many figures a table says of a column, beside one that is a figure."""
    year = ",Year" if dated else ""
    lines = [
        f"{name}{',2019' if dated else ''},{cell},{at + 3}"
        for at, (name, cell) in enumerate(zip(NAMES, cells, strict=True))
    ]
    header = f'"{header}"' if "," in header else header
    table = "\n".join((f"Name{year},{header},Visits", *lines, ""))
    records = read(table, "customers", "Customers").parts.records
    found = [figure.measure for each in records if (figure := each.attribute or each.measurement) is not None]
    assert found.count("visits") == len(NAMES), found
    return len(found) - len(NAMES)


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("header", HEADED)
def test_a_column_that_is_called_as_one_of_codes_has_no_figures(header: str, dated: bool) -> None:
    for n in (3, 5, 8, 16):
        chance = random.Random(n)
        assert measured(header, [digits(chance, n) for _ in NAMES], dated=dated) == 0


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("header", MADE)
@pytest.mark.parametrize("seed", range(5))
def test_a_column_that_looks_as_one_of_codes_has_no_figures(header: str, dated: bool, seed: int) -> None:
    chance = random.Random(seed)
    assert measured(header, [MADE[header](chance, at) for at in range(len(NAMES))], dated=dated) == 0


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("header", AMOUNTS)
@pytest.mark.parametrize("seed", range(5))
def test_a_column_of_amounts_has_figures(header: str, dated: bool, seed: int) -> None:
    chance = random.Random(seed)
    assert measured(header, [AMOUNTS[header](chance, at) for at in range(len(NAMES))], dated=dated) == len(NAMES)


def test_long_figures_of_several_years_are_no_codes() -> None:
    rows = [f"{name},{year},{331_002_651 + at * 1_000_003 + year * 77}" for at, name in enumerate(NAMES)
            for year in (2019, 2020)]  # fmt: skip
    records = read("\n".join(("Country,Year,Population", *rows, "")), "countries", "Countries").parts.records
    assert sum(each.measurement is not None for each in records) == len(rows)
    rows = [f"{name},{331_002_651 + at * 1_000_003},{335_002_651 + at * 1_000_003}" for at, name in enumerate(NAMES)]
    records = read("\n".join(("Country,Population 2019,Population 2020", *rows, "")), "countries").parts.records
    assert sum(each.measurement is not None for each in records) == 2 * len(rows)
