"""The shipped files of the reader, and their digests: a file that is another is not read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ai.errors import ReaderUnavailable

FOLDER = Path(__file__).parent / "weights"
DIGESTS = {
    "reader.onnx": "f300769a147e879b9ab62f8cba0a76d26837145bd45580516fa4adb9edadaf0a",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "calibration.json": "f42924a7f71b0541f476eb3cf6ede8b8a9a1117bc877afe1bfe33fcdc6ca470e",
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
