"""The documents that the reader was calibrated on and never trained on."""

from __future__ import annotations

import hashlib

HELD_BACK_PERCENT = 18


def is_held_back(title: str) -> bool:
    """True for the titles whose digest says so, whatever the data set."""
    return hashlib.sha256(f"0:{title.casefold()}".encode()).digest()[0] * 100 // 256 < HELD_BACK_PERCENT
