"""Export the bi-encoder: `python -m ai.models.reader.training.export --base FOLDER --out FOLDER`.

`FOLDER` of the base is that of `all_minilm_l6_v2/model.zip`, unpacked. Writes `reader.onnx` (matrices and embeddings as
8-bit integers) and `tokenizer.json`, and says their digests.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

import torch

from ai.models.reader.training.network import BiEncoder, from_published

BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def main() -> None:
    """Parse the command line, export, and say what was written."""
    parser = argparse.ArgumentParser()
    for name in ("--base", "--out"):
        parser.add_argument(name, type=Path, required=True)
    arguments = parser.parse_args()
    published = arguments.base / "model.safetensors"
    if hashlib.sha256(published.read_bytes()).hexdigest() != BASE_SHA256:
        raise SystemExit(f"{published} is not the published file")
    arguments.out.mkdir(parents=True, exist_ok=True)
    export(from_published(published), arguments.out / "reader.onnx")
    shutil.copy(arguments.base / "tokenizer.json", arguments.out / "tokenizer.json")
    for name in ("reader.onnx", "tokenizer.json"):
        body = (arguments.out / name).read_bytes()
        sys.stdout.write(f"{name} {len(body)} bytes sha256 {hashlib.sha256(body).hexdigest()}\n")


def export(made: BiEncoder, file: Path) -> None:
    """The network as ONNX for any number of texts and pieces, its large matrices quantised."""
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415  (only the export needs it)

    given = torch.ones((2, 24), dtype=torch.long), torch.ones((2, 24))
    axes = {0: "texts", 1: "pieces"}
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        torch.onnx.export(
            made, given, str(whole), input_names=["ids", "mask"], output_names=["vectors"],
            dynamic_axes={"ids": axes, "mask": axes}, dynamo=False, opset_version=17,
        )  # fmt: skip
        quantize_dynamic(
            whole, file, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul", "Gather"]
        )


if __name__ == "__main__":
    main()
