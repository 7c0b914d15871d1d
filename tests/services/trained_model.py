"""Trained models on an Ollama server, small and often wrong: SmolLM2-135M-Instruct, and Gemma 3 270M, which is a base
model. `trained.sh` prepares their files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.services.ollama_server import CACHE, MISSING, RUNS, OllamaServer, create, discard, is_of
from tests.services.ollama_server import RECIPE as OLLAMA
from tests.services.run_folders import new_run

RECIPE = Path(__file__).with_name("trained.sh")


@dataclass(frozen=True)
class Trained:
    """One of the models: what the recipe calls it, and what it is called on the server. `template` is how the server puts
    a conversation for a model whose file says nothing of that."""

    key: str
    served: str
    template: str | None = None


MODELS = {
    each.key: each
    for each in (
        Trained("smollm2", "exhibit-smollm2"),
        Trained(
            "gemma3", "exhibit-gemma3-base", "{{ if .System }}{{ .System }}\n\n{{ end }}{{ .Prompt }}\n{{ .Response }}"
        ),
    )
}


def prepared(model: Trained) -> Path:
    """Its file; skips the test where it cannot be had, and fails where CI is set."""
    done = _recipe(RECIPE, model.key)
    if done.returncode == MISSING and not os.environ.get("CI"):
        pytest.skip(done.stderr.strip()[-500:])
    assert not done.returncode, done.stderr
    return Path(done.stdout.strip())


@contextmanager
def serving(model: Trained) -> Iterator[tuple[str, str]]:
    """An Ollama of its own that serves the model, stopped and removed at the end: its address and the model's name
    there. Raises SystemExit with the words of the recipe that fails."""
    program, file = _made(OLLAMA), _made(RECIPE, model.key)
    server = OllamaServer(program, new_run(RUNS, ours=is_of))
    try:
        server.start()
        yield server.url, make_trained(server.url, model, file)
    finally:
        discard(server)


def make_trained(url: str, model: Trained, file: Path) -> str:
    """Makes the model on that server and returns its name."""
    more = {} if model.template is None else {"template": model.template}
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        create(client, model.served, file.read_bytes(), **more)
    return model.served


def _made(program: Path, *arguments: str) -> Path:
    done = _recipe(program, *arguments)
    if done.returncode:
        raise SystemExit(done.stderr.strip() or f"{program.name} prepared nothing")
    return Path(done.stdout.strip())


def _recipe(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A recipe, run to its end over the cache folder of these tests, whatever server the environment names."""
    environment = {**os.environ, "EXHIBIT_CACHE": str(CACHE), "EXHIBIT_TEST_OLLAMA_URL": ""}
    return subprocess.run(
        [program, "prepare", *arguments], env=environment, capture_output=True, text=True, check=False
    )
