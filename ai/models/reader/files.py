"""The shipped files of the reader, and their digests: a file that is another is not read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ai.errors import ReaderUnavailable

FOLDER = Path(__file__).parent / "weights"
DIGESTS = {
    "reader.onnx": "df7abb20df0e6efa15ce957582a40373b40722ada865a4eb41b22b85b7e370a0",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "calibration.json": "bb009169043b9bb848ec82b50287b5e95ed27f547b0a166c6478b84a0d3215d7",
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
