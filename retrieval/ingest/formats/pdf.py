"""Text of a PDF, page by page, with the characters of each page."""

from __future__ import annotations

import re

import pypdfium2

from retrieval.errors import LoadError
from retrieval.ingest.values import About, Extracted

_BREAK = "\n\n"
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)", re.ASCII)
_NO_TITLE = re.compile(
    r"^(?:untitled|microsoft word - |document\d*$)|\.(?:docx?|pptx?|xlsx?|odt|tex|dvi|indd)$", re.IGNORECASE
)
"""Titles that programs fill in where nobody gave one."""


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
        about = _about(document)
    finally:
        document.close()
    return Extracted(_BREAK.join(parts), pages=tuple(spans), about=about)


def _about(document: pypdfium2.PdfDocument) -> About:
    said: dict[str, str] = document.get_metadata_dict(skip_empty=True)
    title = said.get("Title", "").strip()
    made = _DATE.match(said.get("CreationDate", ""))
    return About(
        title=title if title and not _NO_TITLE.search(title) else None,
        author=said.get("Author") or None,
        date="-".join(made.groups()) if made else None,
    )


def _page_text(name: str, document: pypdfium2.PdfDocument, number: int) -> str:
    try:
        page = document[number]
        text: str = page.get_textpage().get_text_range()
    except pypdfium2.PdfiumError as exc:
        raise LoadError(f"{name}: page {number + 1} cannot be read") from exc
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub("[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]", "", text)
