"""Which of many items the evidence point admits.

A total counts only what the caller may see, so everything that matches is decided over, not only the page that is
shown. Items that differ in nothing that a rule may read but their id and their digest are alike: the point is asked
about one of each kind, and its answer after all obligations holds for the kind. What is shown is decided one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ai.governance.enforcement import evidence_facts
from ai.model import AdmittedItem
from api.audit.reauthorise import Reading
from policy.model import Decision, EvidenceFacts
from retrieval.model import Evidence

_ASKED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Decided:
    """Items after their obligations, by the id of their evidence, and every decision that led there."""

    items: Mapping[str, AdmittedItem]
    decisions: tuple[Decision, ...]


async def admitted_ids(items: Sequence[Evidence], reading: Reading) -> frozenset[str]:
    """The ids of those items that may be shown. Raises PolicyUnavailable."""
    data = reading.services.points(reading.access.now_ms).data
    kinds: dict[tuple[EvidenceFacts, ...], list[Evidence]] = {}
    for item in items:
        facts = evidence_facts(item, rules=reading.services.rules, data=data)
        kinds.setdefault(tuple(map(_kind, facts)), []).append(item)
    shown = (await decided_one_by_one([alike[0] for alike in kinds.values()], reading)).items
    return frozenset(item.record_id for alike in kinds.values() if alike[0].record_id in shown for item in alike)


def _kind(fact: EvidenceFacts) -> EvidenceFacts:
    """The fact without what tells one item from another: its id, and its digest but for whether it has changed."""
    same = "" if fact.sha256 == fact.indexed_sha256 else "changed"
    return replace(fact, id="", sha256=same, indexed_sha256="")


async def decided_one_by_one(items: Sequence[Evidence], reading: Reading) -> Decided:
    """The items as they may be shown. Raises PolicyUnavailable."""
    shown: dict[str, AdmittedItem] = {}
    decisions: list[Decision] = []
    for start in range(0, len(items), _ASKED_AT_ONCE):
        admission = await reading.admit(items[start : start + _ASKED_AT_ONCE])
        shown |= {item.evidence.record_id: item for item in admission.items}
        decisions += admission.decisions
    return Decided(shown, tuple(decisions))
