"""Text as runs of words, a blank line between them: how documents that are no plain text are told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from retrieval.ingest.parsing.statements import statements
from retrieval.ingest.values import Block, Extracted

_BREAK = "\n\n"
_MOST_CODE_LINES, _MOST_CODE = 10, 600
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Run:
    """Words that belong together: a heading of that level, or prose (0), which may be a row that says something, or
    code, whose lines are kept."""

    words: str
    level: int = 0
    statement: str | None = None
    code: bool = False


def is_quotable(code: str) -> bool:
    """True if a block of code is short enough to be quoted whole."""
    lines = [line for line in code.split("\n") if line.strip()]
    return 0 < len(lines) <= _MOST_CODE_LINES and len(code) <= _MOST_CODE


def fenced(code: str) -> str:
    """A block of code as Markdown has it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    lines = [line.rstrip() for line in code.replace("\r", "").split("\n")]
    return "\n".join((fence, *(line for line in lines if line), fence))


def rows_as_runs(rows: Sequence[Sequence[str]], *, headed: bool = False) -> list[Run]:
    """The rows of a table, each a run; `headed` as for `statements`."""
    told = statements(rows, headed=headed)
    return [Run(" ".join(row), statement=said) for row, said in zip(rows, told, strict=True)]


def text_of(runs: Iterable[Run]) -> Extracted:
    """The runs that hold words, with spaces as single ones."""
    text, blocks, _ = _joined([runs])
    return Extracted(text, blocks=blocks)


def pages_of(pages: Iterable[Sequence[Run]]) -> Extracted:
    """The same, with the characters of each page; one without words is a page too."""
    text, blocks, spans = _joined(pages)
    return Extracted(text, pages=spans, blocks=blocks)


def _joined(pages: Iterable[Iterable[Run]]) -> tuple[str, tuple[Block, ...], tuple[tuple[int, int], ...]]:
    parts: list[str] = []
    blocks: list[Block] = []
    spans: list[tuple[int, int]] = []
    position = 0
    for page in pages:
        held = len(blocks)
        for run in page:
            words = _CONTROL.sub(" ", run.words)
            words = fenced(words) if run.code else re.sub(r"\s+", " ", words).strip()
            if not words:
                continue
            if parts:
                parts.append(_BREAK)
                position += len(_BREAK)
            kind, title = ("code", "") if run.code else ("heading", words) if run.level else ("prose", "")
            blocks.append(Block(position, position + len(words), kind, run.level, title, run.statement))  # type: ignore[arg-type]
            parts.append(words)
            position += len(words)
        spans.append((blocks[held].start_char if held < len(blocks) else position, position))
    return "".join(parts), tuple(blocks), tuple(spans)
