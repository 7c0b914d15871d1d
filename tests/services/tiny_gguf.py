"""GGUF files, version 3, written by hand: what the tiny models of these tests are stored in.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Little-endian; a tensor's first dimension is its
innermost, so numpy's shape is written backwards; data is aligned to 32 bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Value = bool | int | float | str | Sequence[str] | Sequence[float] | Sequence[int]
Tensor = NDArray[np.float32]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""Kinds of tokens in `tokenizer.ggml.token_type`."""

_ALIGNMENT = 32
_U32, _I32, _F32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9
_F32_TENSOR = 0


def write_gguf(path: Path, architecture: str, values: Mapping[str, Value], tensors: Mapping[str, Tensor]) -> None:
    """Writes a model. Keys of `values` that begin with a dot belong to the architecture."""
    named: dict[str, Value] = {"general.architecture": architecture, "general.file_type": 0}
    named |= {f"{architecture}{key}" if key.startswith(".") else key: value for key, value in values.items()}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(named))
    head += b"".join(_string(key) + _value(value) for key, value in named.items())
    data = bytearray()
    for name, tensor in tensors.items():
        head += _string(name) + struct.pack("<I", tensor.ndim) + struct.pack(f"<{tensor.ndim}Q", *tensor.shape[::-1])
        head += struct.pack("<IQ", _F32_TENSOR, len(data))
        data += tensor.tobytes()
        data += bytes(-len(data) % _ALIGNMENT)
    path.write_bytes(head + bytes(-len(head) % _ALIGNMENT) + data)


def single(array: NDArray[np.floating]) -> NDArray[np.float32]:
    return np.ascontiguousarray(array, np.float32)


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _value(value: Value) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", _BOOL, value)
        case int():
            return struct.pack("<II", _U32, value)
        case float():
            return struct.pack("<If", _F32, value)
        case str():
            return struct.pack("<I", _STRING) + _string(value)
        case _:
            return struct.pack("<I", _ARRAY) + _array(value)


def _array(values: Sequence[str] | Sequence[float] | Sequence[int]) -> bytes:
    match values:
        case [str(), *_]:
            return struct.pack("<IQ", _STRING, len(values)) + b"".join(_string(str(each)) for each in values)
        case [float(), *_]:
            return struct.pack(f"<IQ{len(values)}f", _F32, len(values), *values)
        case _:
            return struct.pack(f"<IQ{len(values)}i", _I32, len(values), *values)
