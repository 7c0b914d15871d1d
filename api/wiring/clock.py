"""Time and ids, as the system takes them."""

from __future__ import annotations

import time


def clock_ms() -> int:
    """UTC milliseconds."""
    return time.time_ns() // 1_000_000


def new_id() -> str:
    """A UUID of version 7."""
    import uuid_utils  # noqa: PLC0415

    return str(uuid_utils.uuid7())
