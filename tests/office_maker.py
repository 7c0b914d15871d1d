"""Word documents and workbooks for tests, as small as they can be."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

import openpyxl

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
_RELS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Target='
    '"word/document.xml" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>'
    "</Relationships>"
)
_STYLES = "".join(
    f'<w:style w:type="paragraph" w:styleId="S{n}"><w:name w:val="{name}"/></w:style>'
    for n, name in enumerate(("Title", "heading 1", "heading 2"))
)


def paragraph(text: str, style: int | None = None) -> str:
    """One paragraph; `style` is None or the level of its heading, 0 for the title."""
    styled = "" if style is None else f'<w:pPr><w:pStyle w:val="S{style}"/></w:pPr>'
    return f'<w:p>{styled}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of one paragraph a cell."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx_of(*body: str) -> bytes:
    """A document of these paragraphs and tables."""
    return packed(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": _RELS,
            "word/document.xml": f"<w:document {_W}><w:body>{''.join(body)}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {_W}>{_STYLES}</w:styles>",
        }
    )


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """A zip file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return made.getvalue()


def xlsx_of(sheets: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    """A workbook of these sheets."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()
