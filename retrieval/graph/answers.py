"""Answers in the graph: which answer a model gave, under which decision, resting on which sources.

Ids only; what was asked and said stands in the ledger, from which the graph of answers can be made again. It lies in a
label space of its own (`neo4j_answers.LABELS`), which no statement of retrieval names: no answer is ever evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A record that an answer cites."""

    record_id: str
    document_id: str
    source_id: str


@dataclass(frozen=True, slots=True)
class AnswerNote:
    """One released answer: its ledger entry, the commitment to its text there, and what it rests on. `tenant` is the
    ledger's pseudonym; `effect` and `reasons` are the decision's."""

    entry_id: str
    t_ms: int
    tenant: str
    commitment: str
    model: str
    model_digest: str
    bundle_digest: str
    effect: str
    reasons: tuple[str, ...]
    sources: tuple[CitedSource, ...]


class AnswerGraph(Protocol):
    """Where notes go. `log` names the ledger that they are of; each has a position, the index of its last entry that
    was taken in. Raises `ChannelError`."""

    async def position(self, log: str) -> int:
        """The position, -1 where nothing was taken in."""
        ...

    async def put(self, log: str, notes: Sequence[AnswerNote], *, erased: Collection[str], position: int) -> None:
        """Adds notes, takes out those of the entries `erased`, and moves the position on, in one transaction. The same
        again changes nothing, and a position never goes back."""
        ...

    async def aclose(self) -> None: ...
