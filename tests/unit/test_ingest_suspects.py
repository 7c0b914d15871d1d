"""A sentence that reads like an instruction is a passage of its own: it is withheld, and what stands beside it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.wiring.policy import suspicion
from policy.bundles.bundle import load_bundle
from retrieval.ingest.records.chunk import ChunkSize, chunk
from retrieval.ingest.values import LoadedFile, Owner
from tests.command_line import command_line
from tests.golden.test_attack import POISON, TOPICS

SUSPECT = suspicion(load_bundle().data)
ORDERS = tuple(order for order in POISON if SUSPECT(order))
OWNER = Owner("d@1", "d", "c")


def passages(text: str) -> list[str]:
    loaded = LoadedFile(text=text, media_type="text/markdown", sha256="")
    records = chunk(loaded, OWNER, ChunkSize(), suspect=SUSPECT)
    assert [record.ordinal for record in records] == list(range(len(records)))
    for record in records:
        at = record.locator
        assert text[at.start_char : at.end_char] == record.text
        assert text.encode()[at.start_byte : at.end_byte].decode() == record.text
    return [record.text for record in records]


def test_there_are_orders_to_try() -> None:
    assert len(ORDERS) >= 4


@pytest.mark.parametrize("order", ORDERS)
def test_what_stands_beside_an_order_is_searched(order: str) -> None:
    found = passages(f"{TOPICS[0]} {order} {TOPICS[1]}\n")
    clean = [text for text in found if not SUSPECT(text)]
    assert TOPICS[0] in clean
    assert (TOPICS[1] in " ".join(clean)) == order.endswith(".")  # a bracket ends no sentence
    assert order not in " ".join(clean)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*ORDERS, *TOPICS]), min_size=1, max_size=12))
def test_every_word_is_in_one_passage(told: list[str]) -> None:
    text = " ".join(told) + "\n"
    assert " ".join(passages(text)).split() == text.split()


@given(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=12))
def test_a_text_without_orders_is_cut_as_before(told: list[str]) -> None:
    loaded = LoadedFile(text=" ".join(told) + "\n", media_type="text/markdown", sha256="")
    assert chunk(loaded, OWNER, ChunkSize(), suspect=SUSPECT) == chunk(loaded, OWNER, ChunkSize())


def test_a_heading_that_orders_keeps_its_passages_whole() -> None:
    assert len(passages(f"# {ORDERS[0]}\n\n{TOPICS[0]} {ORDERS[1]}\n")) == 1


def test_the_operator_sees_what_is_withheld_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    exhibit = command_line(capsys, monkeypatch, "--home", tmp_path / "home")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.md").write_text(f"# Letters\n\n{TOPICS[0]} {ORDERS[0]} {TOPICS[1]}\n", "utf-8")
    (tmp_path / "letters" / "two.md").write_text(f"# More\n\n{TOPICS[2]}\n", "utf-8")
    assert exhibit("ingest", tmp_path / "letters", "--label", "public")[0] == 0
    told = json.loads(exhibit("source", "suspects", "--json")[1])
    assert [each["text"] for each in told] == [ORDERS[0]]
    assert told[0]["start_char"] > 0
