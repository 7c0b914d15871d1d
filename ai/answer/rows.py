"""The rows that a computed sentence quotes: the first of those that it was computed from, each put to the evidence
point by itself.

A figure may be open where the rows behind it are not: what the evidence point does not admit by itself is not quoted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ai.answer.core import CoreResult
from ai.answer.draft.citations import best_quote
from ai.case.case import Case
from ai.model import AdmittedItem, Quote
from retrieval.model import ChannelName, ChannelRank, Evidence, SourcedRecord

ROW = "row:"
"""The prefix of the ids of such rows where the evidence point is asked about them."""
MOST_ROWS = 3
"""Of one computation; the others are behind its link."""
_RANK = ChannelRank(ChannelName.SPATIAL, "record", 1, 0.0)


def quotable_rows(case: Case, core: CoreResult) -> tuple[SourcedRecord, ...]:
    """The rows behind the cited computed items, those that their results name before others; none for release 0.1.0,
    which quoted the statement instead."""
    if not case.draft_checked or core.gathered is None:
        return ()
    cited = {quoted.index for sentence in core.release.sentences for quoted in sentence.quotes}
    ids = dict.fromkeys(id for item in core.items if item.index in cited for id in first_rows(item))
    return tuple(core.gathered.records[id] for id in ids if id in core.gathered.records)


def first_rows(item: AdmittedItem) -> tuple[str, ...]:
    """The ids of the rows that a citation of the item would quote; none for one that was not computed."""
    return () if item.evidence.computed is None else item.evidence.computed.inputs[:MOST_ROWS]


def row_evidence(index: int, sourced: SourcedRecord) -> Evidence:
    """A row as the evidence point is asked about it; its fact is told from that of the same record as evidence."""
    return Evidence(index, f"{ROW}{sourced.record.record_id}", (sourced,), (_RANK,), 0.0)


def row_quotes(item: AdmittedItem, rows: Mapping[str, AdmittedItem]) -> Iterable[tuple[AdmittedItem, Quote]]:
    """The quotes of the rows that may be shown, in the order of the computation."""
    for row in (rows[id] for id in first_rows(item) if id in rows):
        yield row, best_quote(item.statement or "", row)
