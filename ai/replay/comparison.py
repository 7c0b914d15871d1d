"""The compared stages of a replay, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass

_BEFORE, _AFTER = 120, 360


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of the recorded text and of what came out again, from a little before their first difference on; `at` is
    where that is in both pieces, in characters."""

    recorded: str
    again: str
    at: int


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the comparison: what was compared, whether it was the same, and where not."""

    name: str
    same: bool
    detail: str = ""
    excerpt: Excerpt | None = None


def not_kept(recorded: int, now: int) -> str:
    """Why today's rules ran in the place of those of the recorded version: only those of releases are kept."""
    why = "belong to no release and are not kept" if recorded < now else "are those of later software"
    return f"version: recorded {recorded}, now {now}; the rules of version {recorded} {why}"


def compare(name: str, recorded: bytes, again: bytes) -> Stage:
    """The stage of that name, with the first bytes that differ."""
    if recorded == again:
        return Stage(name, True)
    at = next(
        (i for i, (a, b) in enumerate(zip(recorded, again, strict=False)) if a != b), min(len(recorded), len(again))
    )
    told = f"first difference at byte {at} of {len(recorded)}: {_around(recorded, at)} | {_around(again, at)}"
    return Stage(name, False, told, _excerpt(recorded.decode("utf-8", "replace"), again.decode("utf-8", "replace")))


def _excerpt(recorded: str, again: str) -> Excerpt:
    pairs = enumerate(zip(recorded, again, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(recorded), len(again)))
    start = max(0, at - _BEFORE)
    return Excerpt(recorded[start : at + _AFTER], again[start : at + _AFTER], at - start)


def _around(data: bytes, at: int) -> str:
    return repr(data[max(0, at - 24) : at + 24].decode("utf-8", "replace"))
