"""Text of presentations (PPTX): a page for each slide, under its title, then what the speaker notes say."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from retrieval.errors import LoadError
from retrieval.ingest.parsing.extras import extra
from retrieval.ingest.parsing.packed import unpacked
from retrieval.ingest.parsing.runs import Run, pages_of, rows_as_runs
from retrieval.ingest.values import About, Extracted

_LARGEST_TEXT = 24 * 2**20
_MOST_SHAPES = 100_000


def read_slides(name: str, data: bytes) -> Extracted:
    """The text of a presentation: titles are headings, a row of a table is one run. Pictures, charts and drawings are
    left out. Raises `LoadError`, `ReaderMissing`."""
    pptx = extra(name, "pptx", "office")
    unpacked(name, data, "presentation", largest=_LARGEST_TEXT)
    try:
        show = pptx.Presentation(io.BytesIO(data))
        pages = [_page(name, slide) for slide in show.slides]
        about = _about(show.core_properties)
    except (LoadError, MemoryError):
        raise
    except Exception as exc:  # the parser raises whatever it meets in a file that is not what it says
        raise LoadError(f"{name}: not a readable presentation ({type(exc).__name__})") from exc
    return replace(pages_of(pages), about=about)


def _about(stated: Any) -> About:
    made = stated.created
    return About(stated.title or None, stated.author or None, made.date().isoformat() if made else None)


def _page(name: str, slide: Any) -> list[Run]:
    """The runs of a slide; one that holds a title alone says it as a text, so that it is found."""
    runs = [run for run in _slide(name, slide) if run.words.strip()]
    return [replace(run, level=0) for run in runs] if len(runs) == 1 else runs


def _slide(name: str, slide: Any) -> Iterator[Run]:
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        yield Run(title.text_frame.text, 1)
    for shape in _shapes(name, slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if shape.has_text_frame:
            yield from (Run(paragraph.text) for paragraph in shape.text_frame.paragraphs)
        elif getattr(shape, "has_table", False) and shape.has_table:
            rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
            yield from rows_as_runs(rows, headed=bool(shape.table.first_row))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield from (Run(paragraph.text) for paragraph in slide.notes_slide.notes_text_frame.paragraphs)


def _shapes(name: str, shapes: Iterable[Any]) -> Iterator[Any]:
    """The shapes in reading order of the file, those of groups in their place."""
    stack, count = list(shapes)[::-1], 0
    while stack:
        shape = stack.pop()
        count += 1
        if count > _MOST_SHAPES:
            raise LoadError(f"{name}: a slide with more than {_MOST_SHAPES} shapes")
        if hasattr(shape, "shapes"):
            stack += list(shape.shapes)[::-1]
        else:
            yield shape
