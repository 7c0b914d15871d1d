"""`make demo-ollama`: the demonstration with a trained model that picks the sentences, on an Ollama of its own.

The program is an `ollama` on the PATH, else the one that `ollama.sh` prepares; the model is SmolLM2-135M-Instruct, out of
the wheel that `smollm2.sh` pins. Both are stopped and removed at the end; nothing of them is part of the product.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.services.ollama_server import CACHE, RECIPE, RUNS, OllamaServer, discard, is_of
from tests.services.run_folders import new_run
from tests.services.trained_model import RECIPE as MODEL_RECIPE
from tests.services.trained_model import make_trained

TEMPLATE = "focus_select/v1"


def main() -> int:
    """The exit code of the demonstration; that of a recipe where it cannot be prepared."""
    found = shutil.which("ollama")
    program, file = Path(found) if found else _prepared(RECIPE), _prepared(MODEL_RECIPE)
    server = OllamaServer(program, new_run(RUNS, ours=is_of))
    try:
        server.start()
        model = make_trained(server.url, file)
        print(f"{model} picks the sentences, on {program}", flush=True)
        variables = {
            "OLLAMA_API_URL": server.url,
            "FOCUS_MODE_MODEL": model,
            "EXHIBIT_PROMPT__TEMPLATE": TEMPLATE,
        }
        exhibit = [sys.executable, "-m", "api.cli.main", "demo"]
        return subprocess.run(exhibit, env=os.environ | variables, check=False).returncode
    finally:
        discard(server)


def _prepared(recipe: Path) -> Path:
    done = subprocess.run(
        [recipe, "prepare"], env=os.environ | {"EXHIBIT_CACHE": str(CACHE)}, stdout=subprocess.PIPE, check=False
    )
    if done.returncode:
        raise SystemExit(done.returncode)
    return Path(done.stdout.decode().strip())


if __name__ == "__main__":
    sys.exit(main())
