"""The threat model names tests that exist, and leaves no boundary and no listed risk out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| (?!boundary \||risk \||-)", line)]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", "\n".join(ROWS))))


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_named_test_exists(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert name in {each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_threat_names_a_test() -> None:
    assert len(ROWS) >= 40
    assert [row for row in ROWS if "::test_" not in row] == []


def test_every_kind_and_every_listed_risk_is_there() -> None:
    kinds = {row.split(" | ")[1] for row in ROWS if not row.startswith("| LLM")}
    assert kinds == set("STRIDE")
    assert [row[2:7] for row in ROWS if row.startswith("| LLM")] == [f"LLM{n:02}" for n in range(1, 11)]
