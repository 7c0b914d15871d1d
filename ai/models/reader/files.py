"""The shipped files of the reader, and their digests: a file that is another is not read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ai.errors import ReaderUnavailable

FOLDER = Path(__file__).parent / "weights"
DIGESTS = {
    "reader.onnx": "2f2cecb384236dab02d30b23a5cc576f55613a982370bbaf0254df265c376142",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "calibration.json": "101c2a622e88f57ca312e75a615197e72f1029898ac7ed36d53dd3742965e4b8",
}


def checked(folder: Path, name: str) -> bytes:
    """The bytes of a shipped file. Raises `ReaderUnavailable` where it is missing or is another."""
    try:
        body = (folder / name).read_bytes()
    except OSError as exc:
        raise ReaderUnavailable(f"the reader's file {name} cannot be read") from exc
    if hashlib.sha256(body).hexdigest() != DIGESTS[name]:
        raise ReaderUnavailable(f"the reader's file {name} is not the one that was shipped")
    return body
