"""What the service tests need is prepared though an archive is away for a while, and what cannot be had is said with its code."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "services" / "prepare.sh"

# Counts its runs in a file of its own and ends with the codes that are given, the last of them again and again.
RECIPE = """#!/bin/sh
echo run >>"$0.runs"
set -- {codes}
n=$(wc -l <"$0.runs")
while [ "$n" -gt 1 ] && [ "$#" -gt 1 ]; do shift; n=$((n - 1)); done
exit "$1"
"""


def prepared(folder: Path, ci: bool, **recipes: str) -> tuple[int, dict[str, int]]:
    """The exit code of `prepare.sh` beside recipes that end with these codes, and how often each of them ran."""
    shutil.copy(SCRIPT, folder)
    for name, codes in recipes.items():
        recipe = folder / f"{name}.sh"
        recipe.write_text(RECIPE.format(codes=codes))
        recipe.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if key != "CI"} | {"PREPARE_PAUSES": "0 0 0"}
    done = subprocess.run([folder / SCRIPT.name], env=environment | ({"CI": "true"} if ci else {}), check=False)
    runs = {name: folder / f"{name}.sh.runs" for name in recipes}
    return done.returncode, {name: len(file.read_text().split()) if file.exists() else 0 for name, file in runs.items()}


@pytest.mark.parametrize("code", ["1", "8", "100"])
def test_what_fails_for_a_while_is_prepared(tmp_path: Path, code: str) -> None:
    assert prepared(tmp_path, True, opa="0", postgres=f"{code} {code} 0", ollama="0") == (
        0,
        {"opa": 1, "postgres": 3, "ollama": 1},
    )


@pytest.mark.parametrize("code", [1, 8, 100])
def test_what_fails_for_good_stops_the_run_with_its_code(tmp_path: Path, code: int) -> None:
    assert prepared(tmp_path, True, opa="0", postgres=str(code), ollama="0") == (
        code,
        {"opa": 1, "postgres": 4, "ollama": 0},
    )


def test_outside_ci_a_tool_that_is_missing_is_not_waited_for(tmp_path: Path) -> None:
    assert prepared(tmp_path, False, opa="8", postgres="0") == (0, {"opa": 1, "postgres": 1})


def test_outside_ci_a_download_that_fails_is_tried_again(tmp_path: Path) -> None:
    assert prepared(tmp_path, False, opa="1 0", postgres="1") == (1, {"opa": 2, "postgres": 4})
