"""Text of an HTML page in reading order, with its headings."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from retrieval.errors import LoadError
from retrieval.ingest.values import Block

_SILENT = frozenset(
    ("script", "style", "noscript", "template", "head", "svg", "nav", "iframe", "object", "form", "button")
)
_BREAKING = frozenset(
    (
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "dd",
            "details",
            "div",
            "dl",
            "dt",
            "figcaption",
            "figure",
        ),
        *(
            "footer",
            "header",
            "hr",
            "li",
            "main",
            "ol",
            "p",
            "pre",
            "section",
            "summary",
            "table",
            "tbody",
            "thead",
            "tr",
        ),
        *("ul", "h1", "h2", "h3", "h4", "h5", "h6"),
    )
)


def read_html(name: str, source: str) -> tuple[str, tuple[Block, ...]]:
    """The visible text, blocks apart by a blank line, and its blocks. Raises `LoadError` where there is no text."""
    body = LexborHTMLParser(source).body
    if body is None:
        raise LoadError(f"{name}: no HTML body")
    runs: list[tuple[int, list[str]]] = [(0, [])]
    _walk(body, runs, level=0)
    text: list[str] = []
    blocks: list[Block] = []
    position = 0
    for level, words in runs:
        run = re.sub(r"\s+", " ", "".join(words)).strip()
        if not run:
            continue
        if text:
            text.append("\n\n")
            position += 2
        text.append(run)
        kind, title = ("heading", run) if level else ("prose", "")
        blocks.append(Block(position, position + len(run), kind, level, title))  # type: ignore[arg-type]
        position += len(run)
    return "".join(text), tuple(blocks)


def _walk(root: LexborNode, runs: list[tuple[int, list[str]]], level: int) -> None:
    # An explicit stack: a page may nest deeper than Python recurses. None closes a block.
    stack: list[tuple[LexborNode | None, int]] = [(root, level)]
    while stack:
        node, level = stack.pop()
        if node is None:
            runs.append((level, []))
            continue
        tag = node.tag or ""
        if tag == "-text":
            runs[-1][1].append(node.text_content or "")
        elif tag == "br":
            runs[-1][1].append(" ")
        elif tag in ("td", "th"):
            runs[-1][1].append(" ")
            stack += [(child, level) for child in reversed(list(node.iter(include_text=True)))]
        elif tag not in _SILENT:
            inside = int(tag[1]) if re.fullmatch("h[1-6]", tag) else level
            if tag in _BREAKING:
                runs.append((inside, []))
                stack.append((None, level))
            stack += [(child, inside) for child in reversed(list(node.iter(include_text=True)))]
