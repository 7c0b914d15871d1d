"""The ledger's vectors. `python -m tests.ledger_vectors` writes them to `tests/vectors/ledger/`.

`golden.json` defines bytes that must never change, so a difference after a run is a break of the format, not a vector to
refresh. Every other file holds `positive` and `negative` vectors of one form; `verdict` is `ok`, `malformed` for what
cannot be read, else the step at which it fails to verify.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ledger.model import TreeHead
from ledger.notes.note import SigningKey

FOLDER = Path(__file__).parents[1] / "vectors" / "ledger"
FORMS = ("proofs", "vkeys", "notes", "checkpoints", "cosignatures", "leaves", "receipts")
OK, MALFORMED = "ok", "malformed"
KEY = SigningKey.from_seed("exhibit.example/log", bytes(range(32)))
OTHER = SigningKey.from_seed("other.example", b"o" * 32)
SAME_NAME = SigningKey.from_seed("exhibit.example/log", b"s" * 32)
HEAD = TreeHead(3, b"\x5a" * 32)

Vector = dict[str, Any]


def vectors(field: str, positive: Mapping[str, str], negative: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """The two lists of a form whose input is one text; `negative` goes by verdict."""
    return {
        "positive": [{"name": name, "verdict": OK, field: text} for name, text in positive.items()],
        "negative": [
            {"name": name, "verdict": verdict, field: text}
            for verdict, texts in negative.items()
            for name, text in texts.items()
        ],
    }
