"""Sentences shortened by writers who saw neither code nor tests, half of them so that they say more than their source:
the words bear out most of the true ones and few of the false. The last set was never looked at when the checks were made.

`python -m tests.golden.test_shortened` counts for each set.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ai.answer.claims.prose import compare
from ai.answer.claims.tokens import read_tokens

FOLDER = Path(__file__).parent / "shortened"
BOUNDS = {"history": (83, 6), "manuals": (99, 5), "news": (99, 6), "notices": (90, 5), "reports": (78, 14)}
"""At least so many true ones, and at most so many false ones, of 110 each."""


def pairs(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def counted(name: str) -> tuple[int, int]:
    """How many of the true and of the false ones are borne out."""
    found = [(each["true"], borne_out(each)) for each in pairs(name)]
    return found.count((True, True)), found.count((False, True))


def borne_out(each: dict[str, Any]) -> bool:
    return compare(read_tokens(each["claim"]), each["source"], frozenset()).verdict == "borne_out"


@pytest.mark.parametrize("name", BOUNDS)
def test_a_shortened_sentence_says_no_more_than_its_source(name: str) -> None:
    true, false = counted(name)
    least, most = BOUNDS[name]
    assert true >= least and false <= most, (true, false)


@pytest.mark.parametrize("name", BOUNDS)
def test_every_source_bears_itself_out(name: str) -> None:
    said = [each["source"] for each in pairs(name)]
    lost = [each for each in said if not borne_out({"claim": each, "source": each})]
    assert not lost


def main() -> None:
    """Print the counts."""
    for name in BOUNDS:
        true, false = counted(name)
        print(f"{name}: {true} of 110 true, {false} of 110 false")


if __name__ == "__main__":
    main()
