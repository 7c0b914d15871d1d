"""The import contracts hold, and each is broken by a planted violation: a contract that nothing can break proves
nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "ai", "retrieval", "policy", "ledger", "prompt_templates")

PLANTED = {
    "layers": ("ledger/planted.py", "import retrieval.model\n"),
    "backends": ("ai/planted.py", "import retrieval.vector.numpy\n"),
    "frameworks": ("policy/planted.py", "import fastapi\n"),
    "channels": ("retrieval/graph/planted.py", "import retrieval.fulltext.terms\n"),
    "acyclic": ("ai/planted.py", "import ai.focus_pipeline\nimport ai.model\n"),
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        str(Path(sys.executable).parent / "lint-imports"),
        "--config",
        str(folder / "pyproject.toml"),
        "--no-cache",
    ]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(folder), "PATH": ""}
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.wasm"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_contracts_hold(tree: Path) -> None:
    found = lint(tree)
    assert found.returncode == 0, found.stdout
    assert "0 broken" in found.stdout


@pytest.mark.parametrize("contract", PLANTED)
def test_each_contract_can_break(tree: Path, contract: str) -> None:
    where, source = PLANTED[contract]
    planted = tree / where
    planted.write_text(source, encoding="utf-8")
    cycle = tree / "ai" / "model.py"
    original = cycle.read_text(encoding="utf-8")
    if contract == "acyclic":
        cycle.write_text(original + "\nimport ai.planted\n", encoding="utf-8")
    try:
        found = lint(tree)
    finally:
        planted.unlink()
        cycle.write_text(original, encoding="utf-8")
    assert found.returncode == 1
    assert "1 broken" in found.stdout or "broken" in found.stdout
