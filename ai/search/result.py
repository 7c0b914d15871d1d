"""The outcome of a search without an answer: admitted items with calibrated scores, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ai.case.case import Case
from ai.governance.admission import Admission
from ai.model import AdmittedItem, Outcome
from retrieval.bundle import GatheredRuns
from retrieval.filters import Metadata
from retrieval.model import ChannelName, Limitation
from retrieval.ranking.calibration import FULL_MILLI, Scale


@dataclass(frozen=True, slots=True)
class Result:
    """An admitted item with its calibrated relevance, the highest of its channels, and what each store scored."""

    item: AdmittedItem
    score_milli: int
    raw_scores: Mapping[str, float]
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The outcome of a search. A denied one has no results, and `reason_codes`."""

    case: Case
    results: tuple[Result, ...] = ()
    gathered: GatheredRuns | None = None
    admission: Admission | None = None

    @property
    def reason_codes(self) -> tuple[str, ...]:
        """Why the query point refused; empty where it did not."""
        refused = () if self.case.decided.allowed else self.case.decided.reasons
        return tuple(dict.fromkeys(reason.code for reason in refused))

    @property
    def outcome(self) -> Outcome:
        """How it ended: an empty list is an abstention."""
        if self.reason_codes:
            return Outcome.DENY
        return Outcome.ANSWER if self.results else Outcome.ABSTAIN

    @property
    def limitations(self) -> tuple[Limitation, ...]:
        """Limitations for the reader: of the question, then of the channels."""
        found = () if self.gathered is None else self.gathered.limitations
        if self.admission is not None and self.gathered is not None and self.gathered.runs:
            found = self.admission.bundle.limitations
        return (*self.case.limitations, *found)

    @property
    def asked(self) -> tuple[ChannelName, ...]:
        """The channels that had something to look for: structured ones need a place, a time or a relation."""
        structured = bool(self.case.intent.mentions or self.case.intent.times or self.case.intent.operations)
        text = (ChannelName.FULLTEXT, ChannelName.VECTOR)
        return tuple(name for name in self.case.profile.channels if structured or name in text)


def results_of(
    case: Case, gathered: GatheredRuns, items: tuple[AdmittedItem, ...], metadata: Mapping[str, Metadata], *, model: str
) -> tuple[Result, ...]:
    """The items with their scores, read on the scale of the embedding model `model`, and the metadata of their
    documents; only those that reach the request's threshold."""
    scale = Scale.of(model, gathered.runs)
    scored = (
        Result(
            item=item,
            score_milli=relevance_milli(case, item, scale),
            raw_scores={str(rank.channel): rank.score for rank in item.evidence.ranks},
            metadata=metadata.get(item.evidence.first.record.document_id, {}),
        )
        for item in items
    )
    return tuple(result for result in scored if result.score_milli >= case.ask.options.search.threshold_milli)


def relevance_milli(case: Case, item: AdmittedItem, scale: Scale) -> int:
    """The item's calibrated relevance: the highest of its channels; a computed result or the very cell that was asked
    for is relevant as such."""
    from ai.models.context import is_direct  # noqa: PLC0415 - the prompt's machinery; a text search needs none of it

    if case.intent.operations and is_direct(item, case.intent):
        return FULL_MILLI
    return max((scale.relevance_milli(rank) for rank in item.evidence.ranks), default=0)
