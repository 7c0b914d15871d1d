"""A row does not say that it is the first, the last or the most of its table unless a cell or a header does."""

from __future__ import annotations

from pathlib import Path

import pytest

from ai.text.tables.held import rows_beside
from tests.harness import ask, ingest, opened

INNS = {
    1: ("Inns", {"Inn": "Adler", "City": "Bruck", "Price (EUR)": "88", "Founded": "1902", "Rooms": "34"}),
    2: ("Inns", {"Inn": "Krone", "City": "Bruck", "Price (EUR)": "95", "Founded": "1788", "Rooms": "18"}),
    3: ("Inns", {"Inn": "Lamm", "City": "Laun", "Price (EUR)": "72", "Founded": "1955", "Rooms": "26"}),
}
RANKED = (
    "Which inn was founded first?",
    "Which inn was founded last?",
    "Which inn costs the most?",
    "Which inn in Bruck costs the least?",
    "Which is the oldest inn?",
    "Which inn is the second largest?",
    "Which inn has the fewest rooms?",
    "When was the oldest inn founded?",
)
PLAIN = (
    "Which inn is in Laun?",
    "Which inn was founded in 1788?",
    "When was the Krone founded?",
    "How many rooms does the Adler have?",
    "At most how much is the Adler?",
    "How many rooms does the Adler have at least?",
    "Which inns of the west are in Bruck?",
)
SHOW = {
    1: ("Show", {"Dog": "Rex", "Prize": "First", "Longest run (m)": "40"}),
    2: ("Show", {"Dog": "Bella", "Prize": "Second", "Longest run (m)": "55"}),
}


@pytest.mark.parametrize("question", RANKED)
def test_no_row_tells_which_is_first_or_most(question: str) -> None:
    assert rows_beside(question, INNS) == frozenset(INNS)


@pytest.mark.parametrize("question", PLAIN)
def test_rows_answer_what_ranks_nothing(question: str) -> None:
    assert rows_beside(question, INNS) != frozenset(INNS)


def test_a_row_that_says_the_rank_tells_it() -> None:
    assert 1 not in rows_beside("Which dog won the first prize?", SHOW)
    assert 2 in rows_beside("Which dog won the first prize?", SHOW)
    assert 2 not in rows_beside("What was the longest run of Bella?", SHOW)


FOREMOST = {
    "Which inn was founded first?": "Krone has the earliest year founded, 1788",
    "Which inn was founded last?": "Lamm has the latest year founded, 1955",
    "Which inn costs the most?": "Krone has the largest price, 95 EUR",
    "Which inn in Bruck costs the least?": "Adler has the smallest price, 88 EUR, of 2 inns in Bruck",
    "Which is the oldest inn?": "Krone has the earliest year founded, 1788",
    "Which inn has the fewest rooms?": "Krone has the fewest rooms, 18",
}
"""Those of which the columns say what is compared."""


async def test_a_table_without_years_is_not_listed_for_who_asks_which_is_first(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    header = ",".join(INNS[1][1])
    (files / "inns.csv").write_text("\n".join([header, *(",".join(row.values()) for _, row in INNS.values()), ""]))
    await ingest(tmp_path / "home", paths=[files], label="public")
    async with opened(tmp_path / "home") as system:
        for question in RANKED:
            body = await ask(system, question)
            told = FOREMOST.get(question)
            assert body["outcome"] == ("ABSTAIN" if told is None else "ANSWER"), (question, body["answer"])
            assert told is None or body["answer"].startswith(told), (question, body["answer"])
        for question, said in (("Which inn was founded in 1788?", "Krone"), ("When was the Lamm founded?", "1955")):
            body = await ask(system, question)
            assert said in body["answer"], (question, body["answer"])
