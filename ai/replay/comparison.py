"""The compared stages of a replay, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the comparison: what was compared, whether it was the same, and where not."""

    name: str
    same: bool
    detail: str = ""


def compare(name: str, recorded: bytes, again: bytes) -> Stage:
    """The stage of that name, with the first bytes that differ."""
    if recorded == again:
        return Stage(name, True)
    at = next(
        (i for i, (a, b) in enumerate(zip(recorded, again, strict=False)) if a != b), min(len(recorded), len(again))
    )
    return Stage(
        name, False, f"first difference at byte {at} of {len(recorded)}: {_around(recorded, at)} | {_around(again, at)}"
    )


def _around(data: bytes, at: int) -> str:
    return repr(data[max(0, at - 24) : at + 24].decode("utf-8", "replace"))
