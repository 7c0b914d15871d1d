"""The import contracts hold, and each is broken by a planted violation: a contract that nothing can break proves
nothing."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "ai", "retrieval", "policy", "ledger", "prompt_templates")

PLANTED = {
    "layers": ("ledger/planted.py", "import retrieval.model\n"),
    "rooms-of-ai": ("ai/text/planted.py", "import ai.record.recording\n"),
    "rooms-of-api": ("api/home/planted.py", "import api.http.app\n"),
    "backends": ("ai/planted.py", "import retrieval.vector.numpy\n"),
    "frameworks": ("policy/planted.py", "import fastapi\n"),
    "channels": ("retrieval/graph/planted.py", "import retrieval.fulltext.terms\n"),
    "acyclic": ("ai/planted.py", "import ai.focus_pipeline\nimport ai.model\n"),
}


def lint(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        str(Path(sys.executable).parent / "lint-imports"),
        "--config",
        str(folder / "pyproject.toml"),
        "--no-cache",
        *options,
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


def rooms(package: str) -> dict[str, int]:
    """The folders of a package, each with the number of modules that are its own."""
    folders = [
        ROOT / package,
        *(folder for folder in (ROOT / package).rglob("*") if (folder / "__init__.py").is_file()),
    ]
    return {
        str(folder.relative_to(ROOT)): sum(file.name != "__init__.py" for file in folder.glob("*.py"))
        for folder in folders
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_no_room_has_more_than_fifteen_modules(package: str) -> None:
    assert {room: modules for room, modules in rooms(package).items() if modules > 15} == {}


@pytest.mark.parametrize(("package", "most"), [("ai", 20), ("api", 12)])
def test_the_root_of_a_package_can_be_read_at_a_glance(package: str, most: int) -> None:
    entries = sorted(path.name for path in (ROOT / package).iterdir() if path.name != "__pycache__")
    assert len(entries) <= most, entries


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
        found = lint(tree, "--contract", contract)
    finally:
        planted.unlink()
        cycle.write_text(original, encoding="utf-8")
    assert found.returncode == 1
    assert "1 broken" in found.stdout


ALL_OF_AI = """
import importlib, pkgutil, sys
import ai
for module in pkgutil.walk_packages(ai.__path__, "ai."):
    if not module.name.startswith("ai.models.reader.training."):  # needs the dependency group `train`
        importlib.import_module(module.name)
from ai.agent.graph import build_graph, create_initial_state
build_graph().get_graph()
create_initial_state("How long is the river?")
print(sorted(name for name in sys.modules if name.partition(".")[0] == "api"))
"""


def test_nothing_of_api_is_loaded_by_ai() -> None:
    found = subprocess.run([sys.executable, "-c", ALL_OF_AI], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "[]\n"), found.stderr


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "api"])
def test_no_lower_package_names_a_module_of_api_in_a_string(package: str) -> None:
    named = [
        (path.relative_to(ROOT).as_posix(), node.value)
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value == "api" or (node.value.startswith("api.") and node.value.replace(".", "").isidentifier())
    ]
    assert named == []
