"""The title that stands above a plain text: one or two short lines without a stop, set off by a blank line."""

from __future__ import annotations

import re
from itertools import islice

_LONGEST, _MOST_WORDS, _MOST_LINES = 120, 18, 2
_OPENS = re.compile(r"[\"'“‘(]?[^\W_]")
_NO_TITLE = re.compile(
    r"(?:from|to|cc|date|dated|sent|subject|re|present|chair|apologies|venue|tel|fax|phone|e-?mail|page|draft|copyright"
    r"|q|a)\b\s?[:.]|(?:dear|hello|hi)\b|©|[^\s@]{1,60}@[^\s@]{1,60}|https?:",
    re.IGNORECASE,
)
"""The head of a letter or a form names no text."""
_ENDED = (".", "!", ",", ";", ":", "-", "—", "…")


def title_line(text: str) -> str:
    """The title in one line; empty where the text opens otherwise. Two lines are set side by side."""
    lines: list[str] = []
    for line in islice((line.strip() for line in text.lstrip("\ufeff \t\r\n").splitlines()), _MOST_LINES + 1):
        if not line:
            break
        lines.append(line)
    else:
        return ""
    return " – ".join(lines) if lines and all(map(_may_be_title, lines)) else ""


def _may_be_title(line: str) -> bool:
    fits = 3 <= len(line) <= _LONGEST and line.count(" ") < _MOST_WORDS and not line.endswith(_ENDED)
    opens = _OPENS.match(line)
    return fits and opens is not None and not opens[0][-1].islower() and not _NO_TITLE.match(line) and ". " not in line
