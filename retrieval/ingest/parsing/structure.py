"""Where headings and prose stand in a text, as character spans into it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval.ingest.parsing.runs import is_quotable
from retrieval.ingest.parsing.statements import statements
from retrieval.ingest.values import Block

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE = re.compile(r"[^\n]*\n?")
_PARAGRAPH = re.compile(r"(?:^[^\S\n]*+\S[^\n]*+(?:\n|\Z))+", re.MULTILINE)
_MARKERS = re.compile(r"[>\s]*(?:[-*+]\s+|\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?")
_FOOTNOTE = re.compile(r"\[\^[^\]]+\]:")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\]]{1,40}\]")
_IMAGES = re.compile(r"(?:\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?\s*)+")
_LINK = re.compile(r"!?\[(?P<words>[^\]]*+)(?:\](?:\([^)]*+(?:(?P<end>\))|\Z))?|\Z)")
"""A link or image, or what only begins like one and reaches to where no other can begin."""
_TABLE_RULE = re.compile(r"[\s|:>-]+")
_CONTENTS = re.compile(r"(?:table of )?contents|index", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:CHAPTER|BOOK|PART|SECTION|VOLUME)\s+(?:[IVXLC]+|\d+)\b.{0,60}", re.IGNORECASE)
_FRONT = re.compile(r"---[ \t]*\n(?P<lines>(?:(?!---)[^\n]*+\n)*+)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_STATED = re.compile(r"^(?P<name>[A-Za-z][A-Za-z_-]{0,40}):[ \t]+(?P<value>[^\n]+)$", re.MULTILINE)
_RECURS = 20
_DEEPEST = 99
_ROMAN = re.compile(r"[IVXLC]+\.?")


def blocks_of(text: str, media_type: str, skip: Sequence[str] = ()) -> tuple[Block, ...]:
    """Blocks in order, without overlap. `skip` are regular expressions: a block whose words begin with one is left
    out, a heading that does so takes its section with it."""
    found = markdown_blocks(text) if media_type == "text/markdown" else text_blocks(text)
    return tuple(_unskipped(text, found, skip))


def _unskipped(text: str, blocks: Iterator[Block], skip: Sequence[str]) -> Iterator[Block]:
    patterns = [re.compile(pattern) for pattern in skip]

    def left_out(block: Block) -> bool:
        words = block.title if block.kind == "heading" else bare(text[block.start_char : block.end_char])
        return any(pattern.match(words) for pattern in patterns)

    silent: int | None = None
    for block in blocks:
        matched = bool(patterns) and left_out(block)
        if block.kind == "heading":
            if silent is not None and block.level <= silent:
                silent = None
            if silent is None and (matched or _CONTENTS.fullmatch(block.title)):
                silent = block.level
        if silent is None and not matched:
            yield block


def front_matter(text: str) -> Mapping[str, str]:
    """The plain values of the YAML block that a Markdown text may open with, by their names in small letters."""
    front = _FRONT.match(text)
    found: dict[str, str] = {}
    for match in _STATED.finditer(front["lines"]) if front else ():
        found.setdefault(match["name"].lower(), match["value"].strip("\"' \t"))
    return {name: value for name, value in found.items() if value}


def bare(words: str) -> str:
    """Words without Markdown's emphasis, code marks, footnote marks, links and leading symbols: for headings and
    matching."""
    words = re.sub(r"^[^\w(\"'“‘]+", "", re.sub(r"\s+", " ", _unmarked(words)))
    return re.sub(r"(?<![^\w)\"'”’.,;:!?%])[^\w)\"'”’.,;:!?%]+$", "", words)


def _unmarked(words: str) -> str:
    words = re.sub(r"\[\^[^\]]+\]|`|\*\*|__|(?<!\w)[*_]|[*_](?!\w)", "", words)
    return _LINK.sub(lambda link: link["words"] if link["end"] else link[0], words)


def text_blocks(text: str) -> Iterator[Block]:
    """Paragraphs between blank lines; a short one in capitals, or one that is numbered as a chapter, is a heading. One
    that recurs often (a signature, a running head) parts passages but names no section."""
    spans = [_stripped(text, match.start(), match.end()) for match in _PARAGRAPH.finditer(text)]
    levels = [_heading_level(text[start:end]) for start, end in spans]
    titles = [_heading_title(text[a:b]) if level else "" for (a, b), level in zip(spans, levels, strict=True)]
    times = Counter(titles)
    for (start, end), level, title in zip(spans, levels, titles, strict=True):
        if not level:
            yield Block(start, end, "prose")
        elif times[title] > _RECURS:
            yield Block(start, end, "heading", _DEEPEST)
        else:
            yield Block(start, end, "heading", level, title)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return start, start + len(inner.strip())


def _heading_level(words: str) -> int:
    if len(words) > 120 or words.count("\n") > 2 or not any(c.isalpha() for c in words):
        return 0
    if _NUMBERED.fullmatch(words.replace("\n", " ")):
        return 1
    letters = [c for c in words if c.isalpha()]
    if len(letters) < 3 or _ROMAN.fullmatch(words) or any(c.islower() for c in letters) or words[-1] in ",;:":
        return 0
    return 2


def _heading_title(words: str) -> str:
    return re.sub(r"\s+", " ", words).strip(" _*=-")


def markdown_blocks(text: str) -> Iterator[Block]:
    """Headings, paragraphs, list items, quotes, table rows and code between fences. Front matter, long code, HTML (and
    what it encloses in `details`), badges and definitions of footnotes are no blocks."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  the parser is loaded for Markdown only

    lines = [0, *(match.end() for match in _LINE.finditer(text))]
    hidden, said = 0, dict[int, str | None]()
    front = _FRONT.match(text)
    body = "\n" * text.count("\n", 0, front.end()) + text[front.end() :] if front else text
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    for i, token in enumerate(tokens):
        if token.type == "html_block":
            hidden = max(0, hidden + token.content.count("<details") - token.content.count("</details"))
        if hidden or token.map is None:
            continue
        start, end = lines[token.map[0]], lines[min(token.map[1], len(lines) - 1)]
        if token.type == "heading_open":
            yield _trimmed(text, start, end, heading=int(token.tag[1]), title=bare(tokens[i + 1].content))
        elif token.type == "paragraph_open":
            yield from _paragraph(text, start, end)
        elif token.type in ("fence", "code_block") and is_quotable(token.content):
            yield replace(_trimmed(text, start, end), kind="code", start_char=start)
        elif token.type == "table_open":
            said = _rows_said(tokens[i:])
        elif token.type == "tr_open" and not _TABLE_RULE.fullmatch(text[start:end]):
            yield replace(_trimmed(text, start, end), statement=said.get(token.map[0]))


def _rows_said(tokens: Sequence[Token]) -> dict[int, str | None]:
    """The statements of the rows of the table that opens here, by their lines."""
    rows: dict[int, list[str]] = {}
    row: list[str] = []
    for i, token in enumerate(tokens):
        if token.type == "table_close":
            break
        if token.type == "tr_open" and token.map is not None:
            row = rows.setdefault(token.map[0], [])
        elif token.type in ("th_open", "td_open"):
            row.append(_shown(tokens[i + 1]))
    return dict(zip(rows, statements(list(rows.values()), headed=True), strict=True))


def _shown(cell: Token) -> str:
    """The words of a cell as a page shows them: code keeps its own signs (`__init__.py`, `*.log`)."""
    words: list[str] = []
    for each in cell.children or ():
        if each.type == "text":
            words.append(_FOOTNOTE_MARK.sub("", each.content))
        elif each.type in ("code_inline", "image"):
            words.append(each.content)
        elif each.type == "html_inline":
            words.append(" ")
    return "".join(words)


def _paragraph(text: str, start: int, end: int) -> Iterator[Block]:
    block = _trimmed(text, start, end)
    words = text[block.start_char : block.end_char]
    if words and not _FOOTNOTE.match(words) and not _IMAGES.fullmatch(words):
        yield block


def _trimmed(text: str, start: int, end: int, *, heading: int = 0, title: str = "") -> Block:
    if not heading:
        match = _MARKERS.match(text, start, end)
        start = match.end() if match else start
    while start < end and text[end - 1].isspace():
        end -= 1
    return Block(start, end, "heading" if heading else "prose", heading, title)
