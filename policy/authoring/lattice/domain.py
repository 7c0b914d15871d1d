"""The finite domain that a bundle's data speak of, and inputs over it: who may ask, what there may be to see.

Everything is read from the data, so a bundle with other roles, labels or tags is examined over its own. Wherever the
data close a set, the domain has one value more that lies outside it, because what is unknown must be refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from policy import facts
from policy.bundles.bundle import Bundle
from policy.data import PolicyData
from policy.model import (
    AnswerFacts,
    AppealFacts,
    ClaimFacts,
    ClassFacts,
    EvidenceFacts,
    Injection,
    Point,
    PromptFacts,
    RequestFacts,
    SentenceFacts,
    Subject,
)

LIFECYCLES = ("draft", "active", "withdrawn", "superseded", "erased")
UNKNOWN = "unknown"
TENANT, OTHER_TENANT = "t1", "t2"
SUBJECT_ID = "u1"
GROUP, OTHER_GROUP = "g1", "g2"
NOW_MS = 1_000

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Domain:
    """`labels` ascend. `tag_groups` are those that satisfy a handling tag; `GROUP` and `OTHER_GROUP` mean nothing to
    any tag."""

    data: PolicyData
    labels: tuple[str, ...]
    roles: tuple[str, ...]
    tags: tuple[str, ...]
    tag_groups: tuple[str, ...]
    purposes: tuple[str, ...]

    @classmethod
    def of(cls, bundle: Bundle) -> Domain:
        """The domain of the bundle's data."""
        data = bundle.data
        groups = {handling.group for handling in data.handling.values()}
        return cls(
            data=data,
            labels=data.ascending,
            roles=tuple(sorted(data.roles)),
            tags=tuple(sorted(data.handling)),
            tag_groups=tuple(sorted(group for group in groups if group is not None)),
            purposes=tuple(sorted(data.purposes)),
        )

    def asker(self, role: str, groups: Sequence[str] = ()) -> Subject:
        """A subject of the home tenant with that role, as the credential would make it."""
        return Subject.of(id=SUBJECT_ID, tenant=TENANT, roles=(role,), groups=tuple(groups), data=self.data)

    @property
    def asking_role(self) -> str:
        """A role that may ask, whose clearance is neither the lowest nor the highest where there is one: so that labels
        lie below, at and one step above it."""
        ranks = {name: self.data.labels[role.clearance] for name, role in self.data.roles.items()}
        asking = [name for name in self.roles if "ai.query" in self.data.roles[name].permissions]
        middle = [name for name in asking if 0 < ranks[name] < len(self.labels) - 1]
        return min(middle or asking or self.roles, key=lambda name: (ranks[name], name))


def a_class(id: str, **changes: Any) -> ClassFacts:
    """An open class of the home tenant, but for `changes`."""
    given = {"tenant": TENANT, "collection": "census", "label": "public"} | changes
    return ClassFacts(id=id, **given)


def an_item(id: str, of: ClassFacts, **changes: Any) -> EvidenceFacts:
    """A sound item of the class, but for `changes`."""
    given: Document = {
        "tenant": of.tenant,
        "label": of.label,
        "handling": of.handling,
        "groups": of.groups,
        "lifecycle": "active",
        "valid_until_ms": None,
        "sha256": "aa",
        "indexed_sha256": "aa",
        "injection": Injection(0),
    }
    return EvidenceFacts(id=id, class_id=of.id, **(given | changes))


def allowed(point: Point, domain: Domain) -> Document:
    """An input that a sound bundle allows whole: four classes (open, at the clearance, one step above it by ownership,
    of a group), an item of each, and a draft that cites two of them."""
    subject = domain.asker(domain.asking_role, (GROUP,))
    rank = domain.data.labels[subject.clearance]
    above = domain.labels[min(rank + 1, len(domain.labels) - 1)]
    lowest = domain.labels[0]
    classes = (
        a_class("k-open", label=lowest),
        a_class("k-level", collection="notes", label=subject.clearance),
        a_class("k-owned", collection="files", label=above, owner_group=GROUP),
        a_class("k-group", collection="club", label=lowest, groups=(GROUP,)),
    )
    items = tuple(an_item(f"e{n}", each) for n, each in enumerate(classes, start=1))
    document = facts.head(point, NOW_MS, RequestFacts(id="r1"), subject)
    if point is not Point.ANSWER:
        document["prompt"] = facts.prompt_wire(PromptFacts(chars=20, verdict="ALLOW", risk=0))
        document["classes"] = facts.classes_wire(classes)
    if point is Point.EVIDENCE:
        document |= {"evidence": facts.evidence_wire(items)}
        document["prior"] = {"query": "sha256:q", "admit": [each.id for each in classes]}
    if point is Point.ANSWER:
        cited = (items[0], items[3])
        document |= {"evidence": facts.evidence_wire(cited), "answer": facts.answer_wire(_draft(cited))}
        document["prior"] = {"query": "sha256:q", "evidence": "sha256:e", "admit": [each.id for each in items]}
    return document


def _draft(cited: Sequence[EvidenceFacts]) -> AnswerFacts:
    sentences = tuple(
        SentenceFacts(
            i, None, (each.id,), 900, claims=(ClaimFacts("figure", "borne_out"),), answers=True, appeals=AppealFacts()
        )
        for i, each in enumerate(cited)
    )
    closing = SentenceFacts(len(sentences), "ABSTAIN", (), 0, claims=(), appeals=AppealFacts())
    return AnswerFacts("m", tuple(range(1, len(sentences) + 1)), (*sentences, closing))
