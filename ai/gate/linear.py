"""Patterns matched in time linear in the text (RE2), whatever the text is, with every character searched counted.

Rules are written in the syntax of Python's `re`, and words are those of Unicode. RE2 knows word ends of ASCII only, so
a text that is not ASCII is spelled in ASCII first: each letter outside it becomes `Z` and four capitals, which RE2
reads as letters and folded text never holds; any other character outside it becomes a blank or a sign. Patterns are
rewritten in the same way.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

import re2

from ai.gate.errors import PatternInvalid, WorkLimitExceeded

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXY"  # 25 to the power of 4 covers every letter of Unicode
_LETTER = "Z" + "[A-Y]" * 4  # not counted: RE2 multiplies counts that are nested, and takes no more than 1000
_LETTER_CHARS = 5
_BLANKS = r"\t-\r\x1c-\x20"  # what Python calls blank in ASCII; RE2's \s leaves out five
_CODE_POINT = re.compile(r"\\(?:U([0-9a-fA-F]{8})|u([0-9a-fA-F]{4}))")
_PART = re.compile(r"\\.|\[\^?(?:\\.|[^\]\\])++\]|(?P<open>\[.*+)|.", re.DOTALL)
_CLASS_PART = re.compile(r"\\.|.", re.DOTALL)


class Work:
    """The work that one text may still cost, in characters searched: counted, never timed, so that the same text always
    ends in the same way."""

    __slots__ = ("left",)

    def __init__(self, limit: int) -> None:
        self.left = limit

    def spend(self, chars: int) -> None:
        """Raises WorkLimitExceeded when `chars` more are more than is left."""
        self.left -= chars
        if self.left < 0:
            raise WorkLimitExceeded


@dataclass(frozen=True, slots=True)
class Spelled:
    """A text as RE2 searches it. `starts` holds where each code point (and the end) lies in `data`, None when one to
    one; `wide`: letters outside ASCII are spelled."""

    data: bytes
    starts: tuple[int, ...] | None = None
    wide: bool = False

    def at(self, place: int) -> int:
        """Where a code point of the text begins in `data`."""
        return place if self.starts is None else self.starts[min(place, len(self.starts) - 1)]

    def place(self, at: int) -> int:
        """The code point of the text that begins at `at`."""
        return at if self.starts is None else bisect_left(self.starts, at)


def spelled(text: str) -> Spelled:
    """Folded text in ASCII, with the way back."""
    if text.isascii():
        return Spelled(text.encode("ascii"))
    table = {ord(char): _spelled_char(char) for char in set(text) if not char.isascii()}
    sizes = (len(table.get(ord(char), "_")) for char in text)
    return Spelled(text.translate(table).encode("ascii"), tuple(accumulate(sizes, initial=0)), wide=True)


def as_given(text: str) -> Spelled:
    """Any text for patterns that look for single code points; lone surrogates are read as question marks."""
    chars = [char.encode("utf-8", "replace") for char in text]
    return Spelled(b"".join(chars), tuple(accumulate(map(len, chars), initial=0)))


class Pattern:
    """One pattern of a rule. Raises PatternInvalid for what cannot be matched in linear time (lookarounds,
    references to groups)."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._plain = _compile(_rewritten(source, wide=False))

    def spans(self, text: Spelled, start: int = 0, end: int | None = None, *, work: Work) -> Iterator[tuple[int, int]]:
        """The matches that do not overlap, left to right, in code points of the text; what lies behind `end` is not
        looked at."""
        regexp = self._wide if text.wide else self._plain
        data = text.data if end is None else text.data[: text.at(end)]
        at = text.at(start)
        while at <= len(data):
            work.spend(len(data) - at + 1)
            match = regexp.search(data, at)
            if match is None:
                return
            first, last = match.span()
            yield text.place(first), text.place(last)
            at = last if last > first else last + 1

    def widen(self) -> None:
        """Compile what texts outside ASCII need, too."""
        _ = self._wide

    @cached_property
    def _wide(self) -> re2._Regexp:
        return _compile(_rewritten(self.source, wide=True))


def union(patterns: Iterable[Pattern]) -> Pattern:
    """The pattern that matches where one of them does."""
    return Pattern("|".join(f"(?:{pattern.source})" for pattern in patterns))


@lru_cache(maxsize=4096)
def _spelled_char(char: str) -> str:
    if not char.isalnum():
        return " " if char.isspace() else "~"
    code, letters = ord(char), ""
    for _ in range(_LETTER_CHARS - 1):
        code, digit = divmod(code, len(_DIGITS))
        letters = _DIGITS[digit] + letters
    return "Z" + letters


def _compile(source: str) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(f"(?m){source}", options)
    except (re2.error, UnicodeEncodeError) as exc:
        raise PatternInvalid(str(exc)) from exc


def _rewritten(source: str, *, wide: bool) -> str:
    """The pattern in RE2's syntax; `wide` for text that holds spelled letters."""
    source = _CODE_POINT.sub(lambda match: re.escape(chr(int(match[1] or match[2], 16))), source)
    parts = list(_PART.finditer(source))
    if parts and parts[-1]["open"] is not None:
        raise PatternInvalid(f"{parts[-1]['open']}: a class is not closed")
    return "".join(_part(part.group(), wide) for part in parts)


def _part(part: str, wide: bool) -> str:
    if part[0] == "[" and len(part) > 1:
        return _class(part, wide)
    match part:
        case r"\s":
            return f"[{_BLANKS}]"
        case r"\S":
            return _class(r"[^\s]", wide)
        case r"\w" if wide:
            return _class(r"[\w]", wide)
        case "." if wide:
            return _class(r"[^\n]", wide)
    return part if part.isascii() or not wide else f"(?:{_spelled_char(part)})"


def _class(part: str, wide: bool) -> str:
    """A character class. In wide text a letter outside ASCII takes five characters, so it is read beside the class;
    there are no other characters outside ASCII."""
    negated = part[1] == "^"
    members = [match.group() for match in _CLASS_PART.finditer(part[1 + negated : -1])]
    others = [member for member in members if member.isalnum() and not member.isascii()]
    kept = "".join(_BLANKS if m == r"\s" else m for m in members if not wide or m.isascii())
    if not wide:
        return f"[{'^' * negated}{kept}]"
    if others and (negated or "-" in members):
        raise PatternInvalid(f"{part}: neither a range nor what a class leaves out may hold letters outside ASCII")
    if negated:
        return f"[^{kept}]" if r"\w" in members else f"(?:[^{kept}A-Z]|{_LETTER})"
    letters = [_LETTER] if r"\w" in members else [_spelled_char(char) for char in others]
    singles = kept.replace(r"\w", "0-9_a-z")
    return f"(?:{'|'.join([f'[{singles}]'] * bool(singles) + letters)})"
