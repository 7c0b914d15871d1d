"""Output of commands: data on stdout, the rest on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from api.errors import HomeUnusable
from api.home.configuration import Configuration, load


def configuration(home: Path | None, **overrides: object) -> Configuration:
    """The settings as this process sees them."""
    return load(os.environ, home=home, overrides=overrides)


def kept_home(home: Path | None) -> Configuration:
    """The settings of a home that is there: a command that reads or changes one never makes it. Raises HomeUnusable."""
    configured = configuration(home)
    if not configured.home.is_dir():
        raise HomeUnusable(f"there is no home in {configured.home}")
    return configured


def emit(document: Any, *, as_json: bool, render: Callable[[], str]) -> None:
    """Print the document as JSON, or as text for people."""
    print(json.dumps(document, ensure_ascii=False, indent=2) if as_json else render())


def note(text: str) -> None:
    """Something beside the data, for a person."""
    print(text, file=sys.stderr)


def colours(stream: TextIO) -> bool:
    """True if to use colours: a terminal, and NO_COLOR not set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def styled(text: str, code: str, *, stream: TextIO | None = None) -> str:
    """The text in an SGR style where the stream shows it."""
    return f"\x1b[{code}m{text}\x1b[0m" if colours(stream or sys.stdout) else text


def bold(text: str) -> str:
    """Bold."""
    return styled(text, "1")


def dim(text: str) -> str:
    """Faint."""
    return styled(text, "2")


def counted(count: int, noun: str) -> str:
    """A count with its noun, in the singular for one: `1 document`, `8 documents`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their content; numbers to the right."""
    cells = [[("" if cell is None else str(cell)) for cell in row] for row in rows]
    widths = [max(len(line[n]) for line in [list(headings), *cells]) for n in range(len(headings))]
    right = [
        all(row[n].replace(",", "").lstrip("-").isdigit() for row in cells) and bool(cells)
        for n in range(len(headings))
    ]
    lines = [
        "  ".join(
            bold(h.rjust(w) if r else h.ljust(w)) for h, w, r in zip(headings, widths, right, strict=True)
        ).rstrip()
    ]
    for row in cells:
        lines.append(
            "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)).rstrip()
        )
    return "\n".join(lines)
