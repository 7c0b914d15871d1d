"""The shipped files of the reader, and their digests: a file that is another is not read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ai.errors import ReaderUnavailable

FOLDER = Path(__file__).parent / "weights"
DIGESTS = {
    "reader.onnx": "500bc3a99bceaf77989283100b8afcc5266345c762dc45106a47805ba6374160",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "calibration.json": "3dd215a308c89fa57a87698b8e2ff85bbc3337531e287dd8fd8d1d05f8d4524e",
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
