"""Text of an HTML page in reading order, with its headings."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from retrieval.errors import LoadError
from retrieval.ingest.parsing.runs import Run, is_quotable, text_of
from retrieval.ingest.parsing.statements import statements
from retrieval.ingest.values import About, Extracted

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

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,20})")
_UNNESTED = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"),
        *("p", "li", "dt", "dd", "td", "th", "tr", "tbody", "thead", "tfoot", "colgroup", "option", "optgroup"),
    )
)
_LAYS_OUT = "table table, [colspan]:not([colspan='1']), [rowspan]:not([rowspan='1']), h1, h2, h3, h4, h5, h6, li, pre"
_HOLDS_BLOCKS = "table, tr, dl, dt, dd, li, pre, p + p, h1, h2, h3, h4, h5, h6"
_CODE_CLASS = re.compile(r"code|highlight|language|shell|console|terminal", re.IGNORECASE)
_LABEL = re.compile(r"[^\W_][^\n.:;!?=—–]{0,59}")
_DEEPEST = 1_000
"""Open elements at once; the parser looks at all of them for each tag. Browsers stop at 512."""


def read_html(name: str, source: str) -> Extracted:
    """The visible text, blocks apart by a blank line. Raises `LoadError` where there is no text, and where a page nests
    deeper than any that is meant to be read."""
    return replace(text_of(html_runs(name, source)), about=_about(source))


def _about(source: str) -> About:
    page = LexborHTMLParser(source)
    title = page.css_first("head > title")
    said: dict[str, str] = {}
    for each in page.css("meta[content]"):
        name = (each.attributes.get("name") or each.attributes.get("property") or "").lower()
        said.setdefault(name, (each.attributes.get("content") or "").strip())
    link = page.css_first("link[rel=license][href], a[rel=license][href]")

    def first(*names: str) -> str | None:
        return next((said[name] for name in names if said.get(name)), None)

    return About(
        title=(title.text().strip() if title else "") or first("dcterms.title", "dc.title", "og:title"),
        author=first("author", "dcterms.creator", "dc.creator", "article:author"),
        date=first("dcterms.date", "dc.date", "date", "article:published_time", "dcterms.created"),
        license=first("dcterms.license", "dcterms.rights", "dc.rights", "license", "copyright")
        or (link.attributes.get("href") if link else None),
    )


def html_runs(name: str, source: str) -> list[Run]:
    """The visible text as runs. Raises `LoadError` as `read_html`."""
    if _nests_too_deep(source):
        raise LoadError(f"{name}: more than {_DEEPEST} elements are open at once")
    body = LexborHTMLParser(source).body
    if body is None:
        raise LoadError(f"{name}: no HTML body")
    return _runs(body)


def _nests_too_deep(source: str) -> bool:
    """True if more elements are open than the parser can be given; tags without an end and with an implied one do not
    nest."""
    open_tags: Counter[str] = Counter()
    depth = 0
    for closing, name in _TAG.findall(source):
        tag = name.lower()
        if tag in _UNNESTED or (closing and not open_tags[tag]):
            continue
        step = -1 if closing else 1
        open_tags[tag] += step
        depth += step
        if depth > _DEEPEST:
            return True
    return False


@dataclass(slots=True)
class _Open:
    """A run to which words are still added."""

    level: int
    words: list[str] = field(default_factory=list)
    statement: str | None = None
    code: bool = False


def _runs(root: LexborNode) -> list[Run]:
    runs = [_Open(0)]
    said, paired = dict[int, str](), set[int]()
    # An explicit stack: a page may nest deeper than Python recurses. None closes a block.
    stack: list[tuple[LexborNode | None, int]] = [(root, 0)]
    while stack:
        node, level = stack.pop()
        if node is None:
            runs.append(_Open(level))
            continue
        tag = node.tag or ""
        if tag == "table":
            said |= _rows_said(node)
        if node.mem_id in said:
            words = " ".join(_words(cell) for cell in _cells(node))
            runs += [_Open(level, [words], said[node.mem_id]), _Open(level)]
            continue
        if node.mem_id in paired:
            continue
        if tag in ("tr", "dt") and node.mem_id != root.mem_id and (pair := _pair(node)):
            runs += [_Open(level, [f"{_label(pair[0])}: {_words(pair[1])}"]), _Open(level)]
            paired.add(pair[1].mem_id)
            continue
        if tag == "pre" and _is_code(node):
            runs += [_Open(level, [node.text()], code=True), _Open(level)]
            continue
        if tag == "-text":
            runs[-1].words.append(node.text_content or "")
        elif tag == "br":
            runs[-1].words.append(" ")
        elif tag in ("td", "th"):
            runs[-1].words.append(" ")
            stack += [(child, level) for child in reversed(list(node.iter(include_text=True)))]
        elif tag not in _SILENT:
            inside = int(tag[1]) if re.fullmatch("h[1-6]", tag) else level
            if tag in _BREAKING:
                runs.append(_Open(inside))
                stack.append((None, level))
            stack += [(child, inside) for child in reversed(list(node.iter(include_text=True)))]
    return [Run("".join(run.words), run.level, run.statement, run.code) for run in runs]


def _is_code(pre: LexborNode) -> bool:
    """True if lines as they stand are code, and few; a page may set any text so."""
    marked = pre.css_first("code, samp, kbd") is not None or _CODE_CLASS.search(pre.attributes.get("class") or "")
    return bool(marked) and is_quotable(pre.text())


def _rows_said(table: LexborNode) -> dict[int, str]:
    """The statements of a table's rows, by their nodes; nothing for one that spans cells, or that holds blocks and
    other tables: it lays out a page."""
    rows = [row for part in (table, *_parts(table)) for row in part.iter() if row.tag == "tr"]
    cells = [_cells(row) for row in rows]
    if table.css_first(_LAYS_OUT) is not None or not rows:
        return {}
    in_head = rows[0].parent is not None and rows[0].parent.tag == "thead"
    headed = in_head or all(cell.tag == "th" or _is_bold(cell) for cell in cells[0])
    told = statements([[_words(cell) for cell in row] for row in cells], headed=headed)
    return {row.mem_id: said for row, said in zip(rows, told, strict=True) if said is not None}


def _pair(node: LexborNode) -> tuple[LexborNode, LexborNode] | None:
    """The label and what it says, of a row that has its own header or of a term with its description; None where the
    first is no label, or the second holds more than words."""
    cells = _cells(node) if node.tag == "tr" else [node, *_behind(node)]
    if [cell.tag for cell in cells] not in (["th", "td"], ["dt", "dd"]):
        return None
    if any(child.css_first(_HOLDS_BLOCKS) for cell in cells for child in cell.iter()):
        return None
    return (cells[0], cells[1]) if _LABEL.fullmatch(_label(cells[0])) and _words(cells[1]) else None


def _label(cell: LexborNode) -> str:
    return _words(cell).rstrip(" :")


def _behind(node: LexborNode) -> list[LexborNode]:
    """The element that comes next, if any."""
    found = node.next
    while found is not None and (found.tag or "-")[0] in "-!":
        found = found.next
    return [] if found is None else [found]


def _parts(table: LexborNode) -> list[LexborNode]:
    return [part for tag in ("thead", "tbody", "tfoot") for part in table.iter() if part.tag == tag]


def _cells(row: LexborNode) -> list[LexborNode]:
    return [cell for cell in row.iter() if cell.tag in ("td", "th")]


def _words(cell: LexborNode) -> str:
    return " ".join(" ".join(run.words.split()) for run in _runs(cell) if run.words.strip())


def _is_bold(cell: LexborNode) -> bool:
    words = _words(cell)
    return words == " ".join(" ".join(_words(each) for each in cell.css("b, strong")).split())
