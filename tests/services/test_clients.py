"""Generators of clients read the description as it is, without flags, and what they make compiles."""

from __future__ import annotations

import compileall
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from api.home.configuration import load
from api.http.app import create_app
from api.schemas.description.client import client_files

pytestmark = pytest.mark.services
LOCKED = Path(__file__).parent / "clients"
PATIENCE_S = 400


def run(command: list[str], folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=os.environ | {"PATH": path},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The description, beside the generators from their lock."""
    made = tmp_path_factory.mktemp("clients")
    for name in ("package.json", "package-lock.json", "tsconfig.json"):
        shutil.copy(LOCKED / name, made)
    (made / "openapi.json").write_text(json.dumps(create_app(load({})).openapi()), "utf-8")
    return made


@pytest.fixture(scope="module")
def node(folder: Path) -> Path:
    if shutil.which("npm") is None:
        if "CI" in os.environ:
            pytest.fail("npm is not there")
        pytest.skip("npm is not there")
    run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], folder)
    return folder


@pytest.mark.parametrize(
    ("command", "made", "types"),
    [
        (["openapi-typescript", "openapi.json", "-o", "types.ts"], "types.ts", "types.ts"),
        (["openapi-ts", "-i", "openapi.json", "-o", "hey"], "hey/index.ts", "hey/types.gen.ts"),
    ],
    ids=["openapi-typescript", "hey-api"],
)
def test_typescript_clients_compile(node: Path, command: list[str], made: str, types: str) -> None:
    run([f"node_modules/.bin/{command[0]}", *command[1:]], node)
    config = json.loads((node / "tsconfig.json").read_text("utf-8")) | {"files": [made]}
    (node / "tsconfig.made.json").write_text(json.dumps(config), "utf-8")
    run(["node_modules/.bin/tsc", "-p", "tsconfig.made.json"], node)
    told = (node / types).read_text("utf-8")
    assert "QueryResponse" in told
    for word in (
        "INSUFFICIENT_EVIDENCE",
        "NO_OBSERVATION",
        "allow_with_obligations",
        "superseded",
        "VALIDATION_FAILED",
    ):
        assert re.search(rf"['\"]{word}['\"]\s*[|;\[)>]", told), word


def test_a_python_client_compiles(folder: Path) -> None:
    # In an environment of its own: it wants an older command-line library than the product.
    run(["uv", "venv", "--quiet", "generator"], folder)
    python = str(folder / "generator" / "bin" / "python")
    lock = str(LOCKED / "requirements.lock")
    run(["uv", "pip", "install", "--quiet", "--python", python, "--require-hashes", "-r", lock], folder)
    told = run(
        [
            "generator/bin/openapi-python-client",
            "generate",
            "--path",
            "openapi.json",
            "--output-path",
            "made",
            "--fail-on-warning",
        ],
        folder,
    )
    assert "WARNING" not in told
    assert compileall.compile_dir(folder / "made", quiet=1)
    made = {path.stem for path in (folder / "made").rglob("*.py")}
    assert {"limitation_code", "error_code", "policy_decision_effect"} <= made  # the closed vocabularies
    assert {"ask_question", "list_features", "find_places", "query_passages", "citation"} <= made


USE = """
import { ExhibitClient, ExhibitError } from "./client.js";
const client = new ExhibitClient({ origin: "http://127.0.0.1" });
async function used(): Promise<string | null> {
  const body = await client.askQuestion({ question: "What is held?" });
  if (body.outcome === "ANSWER") return body.sentences[0]?.text ?? null;
  const page: number = (await client.listFeatures("counties", { limit: 2 })).features.length;
  // @ts-expect-error: there is no such field
  await client.askQuestion({ questions: "?" });
  try { await client.getEntry("x"); } catch (error) { if (error instanceof ExhibitError) return error.code; }
  return String(page);
}
void used();
"""


def test_our_own_client_compiles_and_holds_its_types(node: Path) -> None:
    made = node / "own"
    made.mkdir()
    for name, text in client_files(json.loads((node / "openapi.json").read_text("utf-8"))).items():
        (made / name).write_text(text, "utf-8")
    (made / "use.ts").write_text(USE, "utf-8")
    config = json.loads((node / "tsconfig.json").read_text("utf-8")) | {"files": ["own/use.ts"]}
    (node / "tsconfig.own.json").write_text(json.dumps(config), "utf-8")
    run(["node_modules/.bin/tsc", "-p", "tsconfig.own.json"], node)
