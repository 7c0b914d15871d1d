"""Text of a PDF, page by page, with the characters of each page."""

from __future__ import annotations

import re

import pypdfium2

from retrieval.errors import LoadError
from retrieval.ingest.values import Extracted

_BREAK = "\n\n"


def read_pdf(name: str, data: bytes) -> Extracted:
    """The text of all pages, one blank line between them. Raises `LoadError`."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as exc:
        raise LoadError(f"{name}: not a readable PDF (truncated, damaged or encrypted)") from exc
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    position = 0
    try:
        for number in range(len(document)):
            text = _page_text(name, document, number)
            parts.append(text)
            spans.append((position, position + len(text)))
            position += len(text) + len(_BREAK)
    finally:
        document.close()
    return Extracted(_BREAK.join(parts), pages=tuple(spans))


def _page_text(name: str, document: pypdfium2.PdfDocument, number: int) -> str:
    try:
        page = document[number]
        text: str = page.get_textpage().get_text_range()
    except pypdfium2.PdfiumError as exc:
        raise LoadError(f"{name}: page {number + 1} cannot be read") from exc
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub("[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]", "", text)
