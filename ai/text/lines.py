"""Lines of a text that stand alone: an entry, which says of its label what stands behind it (`Chair: Ms Orr`, `RFID —
radio-frequency identification`), a numbered heading (`4.2 Fees`), and a line of a timetable (`07:10 Meet at the gate`).

A line of a wrapped paragraph that happens to begin with a number, or to hold a colon, is neither: an entry opens a
paragraph or follows another line that stands alone, and a heading does, or follows a line that ends a sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ai.text.labels.hours import HOURS_OF_DAYS

_EMPHASIS = r"(?:\*{1,3}|_{1,2})?"
_ENTRY = re.compile(
    rf"[ \t]*+(?P<mark>[-*+•–][ \t]++)?{_EMPHASIS}[\"“]?(?P<label>[^\W_][^\n:—–=.!?;|*\"“”]{{0,59}}?)[\"”]?{_EMPHASIS}"
    rf"(?:[ \t]?:{_EMPHASIS}[ \t]|[ \t](?:—|–|-|=)[ \t])[ \t]*+(?P<value>[^\n]++)"
)
_RUN = re.compile(
    r"(?:(?<=[.;!?])|[ \t](?P<dot>[·|]))[ \t]+"
    rf"(?={_EMPHASIS}[^\W_a-z][^\n:—–=.!?;|·*]{{0,39}}{_EMPHASIS}:{_EMPHASIS}[ \t])"
)
"""The gap before each further entry of a line."""
_NUMBERED = re.compile(
    r"[ \t]*(?:(?:section|clause|article|chapter|part)[ \t]|§[ \t]?)?(?P<number>\d{1,3}(?:\.\d{1,3}){0,4})"
    r"[.):]?[ \t]{1,4}(?P<name>[^\W\d_][^\n.!?:;]{1,69})",
    re.IGNORECASE,
)
_CLOCK = r"(?:[01]?\d|2[0-3])(?P<sign>[:.])[0-5]\d(?!\d|[:.]\d)(?:[ \t]?[ap]\.?m\b\.?)?"
_TIMED = re.compile(
    rf"[ \t]*+(?:[-*+•–][ \t]++)?{_EMPHASIS}(?P<time>{_CLOCK}"
    rf"(?:[ \t]?(?:-|–|—|to|until)[ \t]?{_CLOCK.replace('<sign>', '<until>')})?)"
    rf"{_EMPHASIS}(?:[ \t]*+[:–—-])?{_EMPHASIS}[ \t]++(?P<what>\S[^\n]{{2,300}})",
    re.IGNORECASE,
)
_TOLD_CLOCK = re.compile(
    r"(?<![\d.:])(?P<hour>[01]?\d|2[0-3])(?:[:.](?P<minute>[0-5]\d)(?:[ \t]?(?P<half>[ap])\.?m\b)?"
    r"|[ \t]?(?P<half_>[ap])\.?m\b)",
    re.IGNORECASE,
)
_SET_APART = re.compile(r"[ \t]*(?:[-*+•–>|#]|\d{1,3}[.)])[ \t]?")
_MOST_LABEL_WORDS, _MOST_NAME_WORDS, _MOST_VALUE = 7, 8, 600
_MOST_WORDS_TIMED = 40
_WRAPPED, _RAGGED = 60, 8
"""The width from which lines may be of a wrapped paragraph, and by how much they may fall short of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line from `start` to `end`, with its label and what it says of it."""

    start: int
    end: int
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A line from `start` to `end` that names the section below it."""

    start: int
    end: int
    number: str
    name: str


@dataclass(frozen=True, slots=True)
class Timed:
    """A line from `start` to `end` that says what is at a time of day."""

    start: int
    end: int
    time: str
    what: str


@lru_cache(maxsize=512)
def lines_of(text: str) -> tuple[Entry | Heading | Timed, ...]:
    """The lines that stand alone, in order. Linear in the text."""
    lines = text.split("\n")
    widest = max(map(len, lines))
    found: list[Entry | Heading | Timed] = []
    start, free, ended = 0, True, True
    for line, after in zip(lines, (*lines[1:], ""), strict=True):
        end = start + len(line)
        each: Sequence[Entry | Heading | Timed] = _timed(line, start)
        each = each or (_entries(line, start) if free or _SET_APART.match(line) else ())
        each = each or (_heading(line, start, after) if ended else ())
        if each and not _goes_on(line, after, widest):
            found += each
            free = ended = True
        else:
            blank = not line.strip()
            free = blank or (ended and line.lstrip().startswith("#")) or (start == 0 and _is_title(line))
            ended = free or line.rstrip().endswith((".", "!", "?", ":"))
        start = end + 1
    return tuple(found)


def is_timed(text: str) -> bool:
    """True if a text is a line of a timetable."""
    return _TIMED.fullmatch(text) is not None


def clock_of(text: str) -> tuple[int, int] | None:
    """The first time of day in a text, as hour and minute; None where there is none."""
    found = _TOLD_CLOCK.search(text)
    if found is None:
        return None
    hour, afternoon = int(found["hour"]), (found["half"] or found["half_"] or "").casefold().startswith("p")
    return (hour % 12 + 12 if afternoon else hour), int(found["minute"] or 0)


def _timed(line: str, start: int) -> tuple[Timed, ...]:
    found = _TIMED.fullmatch(line.rstrip())
    if found is None or found["what"][0].islower() or len(found["what"].split()) > _MOST_WORDS_TIMED:
        return ()
    return (Timed(start, start + len(line), found["time"], found["what"].strip(" \t*_")),)


def _entries(line: str, start: int) -> list[Entry]:
    """The entry that a line is; or those that stand in it in a run, each from where its sentence begins to where that
    ends: `Cot: free. Extra bed: £20.`, `Mill Road · Att: 412`."""
    text = line.rstrip()
    cuts = [*_RUN.finditer(text)]
    sentences = [0, *(cut.end() for cut in cuts if cut["dot"] is None), len(text) + 1]
    parts = zip([0, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), len(text)], strict=True)
    found: list[Entry] = []
    for begin, end in parts:
        at = bisect_right(sentences, begin)
        each = _entry(text[begin:end])
        if each is not None:
            found.append(Entry(start + sentences[at - 1], start + sentences[at] - 1, *each))
    if len(found) > 1 or any(cut["dot"] for cut in cuts):
        return found
    whole = _entry(text)
    return [] if whole is None else [Entry(start, start + len(line), *whole)]


def _entry(text: str) -> tuple[str, str] | None:
    """The label and the value."""
    found = HOURS_OF_DAYS.fullmatch(text) or _ENTRY.fullmatch(text)
    if found is None or len(found["label"].split()) > _MOST_LABEL_WORDS or len(found["value"]) > _MOST_VALUE:
        return None
    return found["label"].strip(), found["value"].strip(" \t*_")


def _heading(line: str, start: int, after: str) -> tuple[Heading, ...]:
    found = _NUMBERED.fullmatch(line.rstrip())
    if found is None or len(found["name"].split()) > _MOST_NAME_WORDS or not found["name"][0].isupper():
        return ()
    opens = after.lstrip()[:1]
    if opens and not (opens.isupper() or opens.isdigit() or opens in "\"'“‘(-*•"):
        return ()
    return (Heading(start, start + len(line), found["number"], found["name"].strip()),)


def _goes_on(line: str, after: str, widest: int) -> bool:
    """True if the next line goes on with this one: it begins in the small, or would have had no room here."""
    first = after.split(maxsplit=1)
    if not first or _SET_APART.match(after) or _ENTRY.fullmatch(after.rstrip()):
        return False
    full = widest > _WRAPPED and len(line) + 1 + len(first[0]) > widest - _RAGGED
    return first[0][0].islower() or full


def _is_title(line: str) -> bool:
    return bool(line.strip()) and not line.rstrip().endswith((".", "!", "?", ",", ";"))
