"""From stored classes to the scope: the facts that the query point decides over, and what its decision admits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ai.case.case import Case
from ai.governance.shapes import shaped_scope
from ai.model import Ask
from policy.data import PolicyData
from policy.model import ClassFacts, Decision, PromptClass, PromptFacts, RequestFacts
from retrieval.registry.store import KnowledgeBase
from retrieval.scope import Scope, VisibilityClass


def class_facts(classes: Iterable[VisibilityClass]) -> tuple[ClassFacts, ...]:
    """Visibility classes as policy facts."""
    return tuple(
        ClassFacts(
            id=c.class_id,
            tenant=c.tenant,
            collection=c.collection,
            label=c.label,
            handling=c.handling,
            groups=c.groups,
            owner_group=c.owner_group,
            allow_list=c.allow_list,
        )
        for c in classes
    )


def request_facts(case: Case, known: Iterable[KnowledgeBase]) -> RequestFacts:
    """The request as policy facts. Collections asked for by id go by their name; what is unknown stays as the caller
    wrote it."""
    ask = case.ask
    return RequestFacts(
        id=ask.request_id,
        purpose=ask.purpose,
        profile=case.profile.name,
        collections=collection_names(ask.options.collections, known),
    )


def collection_names(wanted: Iterable[str], known: Iterable[KnowledgeBase]) -> tuple[str, ...]:
    """Names for the ids among `wanted`, in order, without repeats."""
    names = {each.collection_id: each.name for each in known}
    return tuple(dict.fromkeys(names.get(each, each) for each in wanted))


NO_PROMPT = PromptFacts(chars=0, verdict="ALLOW", risk=0)
"""The facts about a prompt for a reading of evidence, which has no prompt."""


def prompt_facts(case: Case) -> PromptFacts:
    """The gate's result as policy facts."""
    gate = case.checked
    classes = tuple(PromptClass(c.name, c.score_milli, c.rules) for c in gate.classes)
    return PromptFacts(chars=gate.chars, verdict=str(gate.verdict), risk=gate.risk, classes=classes)


def admitted_scope(
    ask: Ask,
    decision: Decision,
    classes: Sequence[VisibilityClass],
    known: Iterable[KnowledgeBase],
    *,
    data: PolicyData,
) -> Scope:
    """The classes that the decision admits, cut to the collections that the caller named, each in the form in which the
    subject may see it. A denial gives the empty scope."""
    if not decision.allowed:
        return Scope(ask.subject.tenant, frozenset())
    wanted = set(collection_names(ask.options.collections, known))
    admitted = set(decision.classes)
    kept = (c for c in classes if c.class_id in admitted and (not wanted or c.collection in wanted))
    return shaped_scope(kept, subject=ask.subject, data=data)
