"""Presentations, OpenDocument files, EPUBs and e-mail for tests, as small as they can be."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.office_maker import packed

_OFFICE = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table", "meta")
)
_DUBLIN = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
Slide = tuple[str, Sequence[str], Sequence[Sequence[str]], str]
"""Title, paragraphs, rows of a table, notes."""


def pptx_of(*slides: Slide, title: str = "", author: str = "") -> bytes:
    """A presentation of these slides."""
    import pptx
    from pptx.util import Inches

    show = pptx.Presentation()
    show.core_properties.title, show.core_properties.author = title, author
    for heading, paragraphs, rows, notes in slides:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = heading
        slide.placeholders[1].text_frame.text = "\n".join(paragraphs)
        if rows:
            made = slide.shapes.add_table(len(rows), len(rows[0]), Inches(1), Inches(1), Inches(5), Inches(2)).table
            for y, row in enumerate(rows):
                for x, cell in enumerate(row):
                    made.cell(y, x).text = cell
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    file = io.BytesIO()
    show.save(file)
    return file.getvalue()


def odt_of(body: str, meta: str = "") -> bytes:
    """A text document of this XML below `office:text` and `office:meta`."""
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {_OFFICE}><office:body><office:text>{body}</office:text>"
            "</office:body></office:document-content>",
            "meta.xml": f"<office:document-meta {_OFFICE} {_DUBLIN}><office:meta>{meta}</office:meta></office:document-meta>",
        }
    )


def odt_heading(text: str, level: int) -> str:
    """A heading of a text document."""
    return f'<text:h text:outline-level="{level}">{escape(text)}</text:h>'


def odt_paragraph(text: str) -> str:
    """A paragraph of a text document."""
    return f"<text:p>{escape(text)}</text:p>"


def ods_of(sheets: Mapping[str, Sequence[Sequence[object]]], more: str = "") -> bytes:
    """A spreadsheet of these sheets; `more` is XML of rows that follow in the last one."""

    def cell(value: object) -> str:
        if isinstance(value, int | float):
            return f'<table:table-cell office:value-type="float" office:value="{value}"><text:p>{value}</text:p></table:table-cell>'
        if value is None:
            return "<table:table-cell/>"
        return f'<table:table-cell office:value-type="string"><text:p>{escape(str(value))}</text:p></table:table-cell>'

    tables = [
        f'<table:table table:name="{escape(title)}">'
        + "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        for title, rows in sheets.items()
    ]
    body = "</table:table>".join(tables) + more + "</table:table>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return packed(
        {
            "mimetype": kind,
            "content.xml": f"<office:document-content {_OFFICE}><office:body><office:spreadsheet>{body}</office:spreadsheet>"
            "</office:body></office:document-content>",
            "META-INF/manifest.xml": '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>',
        }
    )


def epub_of(chapters: Mapping[str, str], *, spine: Sequence[str] | None = None, about: str = "") -> bytes:
    """An EPUB of these chapters (XHTML below `body`) by the names of their files; `about` is Dublin Core."""
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    refs = "".join(f'<itemref idref="{name}"/>' for name in (chapters if spine is None else spine))
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>{}</body></html>'
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": f'<package xmlns="http://www.idpf.org/2007/opf"><metadata {_DUBLIN}>{about}</metadata>'
            f"<manifest>{items}</manifest><spine>{refs}</spine></package>",
            **{f"OEBPS/{name}": page.format(body) for name, body in chapters.items()},
        }
    )
