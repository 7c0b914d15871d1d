"""What the repository says of itself: one version, one number for each decision."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from api.home.version import VERSION

ROOT = Path(__file__).parents[2]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("*.md"))


def test_the_version_is_said_once() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", VERSION)
    assert version("exhibit") == VERSION
    released = VERSION.removesuffix(".dev0")
    assert re.search(
        rf"^## (Unreleased \({re.escape(released)}\)|{re.escape(released)}\b)", _text("CHANGELOG.md"), re.M
    )
    assert f"image: exhibit:{VERSION}" in _text("compose.yaml")
    assert not re.search(r'^version = "', _text("pyproject.toml"), re.M)


def test_every_decision_has_a_number_of_its_own() -> None:
    numbers = Counter(path.name[:4] for path in DECISIONS)
    assert [number for number, count in numbers.items() if count > 1] == []
    assert [path.name for path in DECISIONS if not path.read_text("utf-8").startswith(f"# {path.name[:4]} ")] == []


def test_every_decision_that_is_named_exists() -> None:
    known = {path.name[:4] for path in DECISIONS}
    listed = subprocess.run(["git", "ls-files", "*.md", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    named = {(name, n) for name in listed.stdout.split() for n in re.findall(r"\bADR (\d{4})\b", _text(name))}
    assert sorted((name, number) for name, number in named if number not in known) == []


def test_unit_tests_open_no_whole_home() -> None:
    opening = re.compile(r"\b(open_system|open_ingest|open_log|open_indexes|make_world|tests\.harness|create_app)\b")
    paths = sorted((ROOT / "tests" / "unit").glob("*.py"))
    assert [path.name for path in paths if opening.search(path.read_text("utf-8"))] == []


def _text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")
