"""The shipped files of the reader, and their digests: a file that is another is not read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ai.errors import ReaderUnavailable

FOLDER = Path(__file__).parent / "weights"
DIGESTS = {
    "reader.onnx": "d2d92c6b352255fb3e51a0e93394385d618c7a475109379f11fbb75b082b1c40",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "calibration.json": "3fb120246f27e179da9ec0343e977edeceb64446145237e780053be8e59851e9",
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
