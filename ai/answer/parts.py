"""Parts that a released answer leaves: questions, of several in one, and rows, of a list."""

from __future__ import annotations

from collections.abc import Sequence

from ai.case.case import Case
from ai.model import DEFAULT_MODEL, AdmittedItem, Draft, Sentence
from ai.models.candidates import PARAMETERS
from ai.text.catalogue import PARTIAL
from ai.text.parts import parts_of
from retrieval.model import Limitation

PART_NOT_ANSWERED = "PART_NOT_ANSWERED"
LIST_CUT = "LIST_CUT"
_TWO = 2


def parts_left(case: Case, draft: Draft, sentences: Sequence[Sentence]) -> tuple[Limitation, ...]:
    """The questions of a request of which no released sentence says anything, as a limitation. The default model says
    itself when it leaves one, in its place, so that nothing is left where it does not and nothing of its draft fell."""
    if not case.draft_checked or case.intent.operations:
        return ()
    parts = parts_of(case.question)
    stated = any(each.catalogue == PARTIAL for each in sentences)
    by_default = draft.completion.model.name == DEFAULT_MODEL
    if not parts or (by_default and not stated and len(sentences) == len(draft.sentences)):
        return ()
    if by_default and stated and len(parts) == _TWO:
        left = [parts[0 if draft.sentences[0].catalogue == PARTIAL else 1].said]
    else:
        told = {number for each in sentences for number in each.parts}
        left = [part.said for number, part in enumerate(parts) if number not in told]
    if not left and not stated:
        return ()
    named = " and ".join(f"“{each}”" for each in left) if 0 < len(left) < len(parts) else "A part of the question"
    verb = "are" if named.count("“") > 1 else "is"
    return (Limitation(PART_NOT_ANSWERED, f"{named} {verb} not answered here."),)


def rows_left(case: Case, items: Sequence[AdmittedItem], sentences: Sequence[Sentence]) -> tuple[Limitation, ...]:
    """A limitation where the answer is a list of rows and as many were read, or are told, as may be: how many others
    there are nobody counted."""
    rows = {item.index for item in items if item.statement is not None and item.evidence.computed is None}
    listing = len(sentences) > PARAMETERS.max_sentences and all(
        each.markers and rows.issuperset(each.markers) for each in sentences
    )
    full = len(items) >= case.ask.options.top_k or len(sentences) >= PARAMETERS.max_rows
    if not (case.draft_checked and listing and full):
        return ()
    return (Limitation(LIST_CUT, f"{len(sentences)} rows are shown, and there may be others."),)
