"""SmolLM2-135M-Instruct on an Ollama server: a trained model, small and often wrong. `smollm2.sh` prepares its file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.services.ollama_server import CACHE, MISSING, create

RECIPE = Path(__file__).with_name("smollm2.sh")
SMOLLM2 = "exhibit-smollm2"


def prepared() -> Path:
    """Its file; skips the test where it cannot be had, and fails where CI is set."""
    done = subprocess.run(
        [RECIPE, "prepare"],
        env={**os.environ, "EXHIBIT_CACHE": str(CACHE)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == MISSING and not os.environ.get("CI"):
        pytest.skip(done.stderr.strip()[-500:])
    assert not done.returncode, done.stderr
    return Path(done.stdout.strip())


def make_trained(url: str, file: Path) -> str:
    """Makes the model on that server and returns its name."""
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        create(client, SMOLLM2, file.read_bytes())
    return SMOLLM2
