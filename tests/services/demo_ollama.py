"""`make demo-ollama`: the demonstration with a trained model that picks the sentences, on an Ollama of its own.

The program is the one that `ollama.sh` finds or prepares; the model is SmolLM2-135M-Instruct, out of the wheel that
`trained.sh` pins. Both are stopped and removed at the end; nothing of them is part of the product.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.services.trained_model import MODELS, serving

TEMPLATE = "focus_select"


def main() -> int:
    """The exit code of the demonstration. Raises SystemExit where a recipe cannot prepare what it needs."""
    print("preparing Ollama and the model; the first time this takes minutes", flush=True)
    with serving(MODELS["smollm2"]) as (url, model):
        print(f"{model} picks the sentences, on Ollama at {url}", flush=True)
        variables = {"OLLAMA_API_URL": url, "FOCUS_MODE_MODEL": model, "EXHIBIT_PROMPT__TEMPLATE": TEMPLATE}
        exhibit = [sys.executable, "-m", "api.cli.main", "demo"]
        return subprocess.run(exhibit, env=os.environ | variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
