"""The number of a card is shown nowhere, in whatever groups a source writes it: not in answers and what they are computed
from, titles, features of the map, suggestions, pages of the corpus or exports."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest

from tests.unit.test_ingest_codes import digits, with_luhn
from tests.withheld import OPEN, Call, SourceFile, World, calls, fill, forts, told

ASKED = (
    "What is the number of the card of Esther Long?",
    "Which card did Esther Long pay the ferry with?",
    "Where is the fort of the card?",
    "Which county had the largest population in 1930?",
    "What was the population of Dogwood County in 1930?",
    "What is the total population of the counties in 1930?",
)
GAPS = {"thousands": ",", "points": ".", "hard blanks": "\u00a0", "thin blanks": "\u2009", "lines": "\n", "wide": " "}


def world(number: str) -> World:
    """The open documents, and the number in the text, heading, title, feature and figure of others."""
    line = " ".join(number.split())
    ferry = f"# The card {line}\n\nEsther Long paid the ferry with a card. The card of Esther Long has the number\n{number}\n"
    county = io.StringIO()
    told = f"{int(''.join(str(int(each)) for each in number if each.isdecimal())):,}"
    csv.writer(county).writerows((("fips", "name", "1900", "1930"), ("4", "Dogwood County", told, told)))
    return World((
        *OPEN,
        SourceFile("card.md", ferry, title=f"The card {line}"),
        SourceFile("fort-cards.geojson", forts([("f7", f"Fort of the card {line}", "1850", (-96.3, 39.2))]), title=f"Cards {line}"),
        SourceFile("paid.csv", county.getvalue()),
    ))  # fmt: skip


@pytest.mark.parametrize("name", GAPS)
async def test_a_card_in_groups_is_shown_by_no_surface(name: str, tmp_path: Path) -> None:
    chance = random.Random(len(name))
    card = with_luhn("4" + digits(chance, 14))
    sizes = (4, 4, 4, 4) if name in ("lines", "wide") else (1, 3, 3, 3, 3, 3)
    left = iter(card)
    number = GAPS[name].join("".join(next(left) for _ in range(size)) for size in sizes)
    if name == "wide":
        number = number.translate({ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789"})
    home = await fill(tmp_path, world(number))
    asked = (
        *(Call("POST", "/api/v1/ai/query", {"question": question}) for question in ASKED),
        *(Call("GET", f"/api/v1/layers/fort-cards{part}") for part in ("", "/features", "/tiles/0/0/0")),
        *(Call("GET", f"/api/v1/places?q={start}") for start in ("fort", "card", card[0], card[:4], card)),
        *calls(110),
    )
    replies = await told(home, asked, versions_alike=False)
    answers = replies[: len(ASKED)]
    assert all(reply.startswith("200") for reply in answers) and any("\\u2588" in reply for reply in answers)
    for call, reply in zip(asked, replies, strict=True):
        assert card not in "".join(str(int(c)) for c in reply if c.isdecimal()), (call.path, call.body)
