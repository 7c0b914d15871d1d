"""The weights of an exported network, read back from its file: what a further training begins with.

Each matrix comes back as its 8-bit integers say, so that the network says almost what it said before the export.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor

from ai.models.reader.training.network import ReaderNetwork


def weights_of(file: Path, published: ReaderNetwork) -> dict[str, Tensor]:
    """The state of the network in `file` (`reader.onnx`); word and place embeddings are those of `published`, which
    no training changes."""
    graph = onnx.load(str(file)).graph
    told = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    made = dict(published.state_dict())
    for node in graph.node:
        part = node.name.strip("/").removesuffix("/MatMul_quant").replace("/", ".")
        if node.op_type == "MatMulInteger":
            made[f"{part}.weight"] = torch.from_numpy(_whole(told, node.input[1].removesuffix("_quantized")).T.copy())
        elif node.name == "/head/MatMul":
            made["head.weight"] = torch.from_numpy(told[node.input[1]].T.copy())
        elif node.name in {"/Mul", "/Add"}:  # the kind of a piece: how the second differs, and the first
            (name,) = (each for each in node.input if each in told)
            made["kinds.second" if node.name == "/Mul" else "kinds.first"] = torch.from_numpy(told[name].copy())
    made |= {name: torch.from_numpy(told[name].copy()) for name in made if name in told}
    first = made.pop("kinds.first")
    made["kinds.weight"] = torch.stack([first, first + made.pop("kinds.second")])
    return made


def _whole(told: dict[str, NDArray[np.float32]], name: str) -> NDArray[np.float32]:
    """A matrix by its integers, a scale and a zero of each column."""
    integers = told[f"{name}_quantized"].astype(np.float32)
    whole: NDArray[np.float32] = (integers - told[f"{name}_zero_point"].astype(np.float32)) * told[f"{name}_scale"]
    return whole
