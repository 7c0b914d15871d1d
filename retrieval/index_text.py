"""Which words of a record the text and vector indexes hold."""

from __future__ import annotations

from retrieval.model import Record, RecordKind


def index_text(record: Record) -> str | None:
    """Heading and statement, or heading and text where the record is prose; None for an observation, and for one
    without a word.

    A cell is found by place, measure and time; its words are those of the row's passage, and a second copy per cell
    would only crowd the runs.
    """
    if record.kind is RecordKind.OBSERVATION:
        return None
    words = record.statement or record.text
    told = f"{record.heading}\n{words}" if record.heading else words
    return told if told.strip() else None
