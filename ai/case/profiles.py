"""Profiles of the one pipeline, as data: which stages run, with which limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ai.errors import UnknownProfile
from ai.text.question_kind import QuestionKind, kind_of
from retrieval.bundle import BundleLimits, BundleRules
from retrieval.model import ChannelName
from retrieval.ranking.fusion import FusionWeights
from retrieval.ranking.links import LINKED_MILLI, SHARED_MILLI
from retrieval.ranking.rerank import RerankWeights

ALL_CHANNELS = tuple(ChannelName)


@dataclass(frozen=True, slots=True)
class Profile:
    """The stages and limits of a profile. `generates` False ends at the admitted bundle: no draft, no answer point.

    `channel_top_k` is how many hits each channel may return; deadlines are seconds. `rules` and `limits` stand in for
    those of the services where a profile brings its own. An `agentic` one searches in steps
    (`ai.agent`). `routed` lets the kind of question say how much each channel counts: as `routes` says, or `ROUTES`.
    """

    name: str
    generates: bool
    channels: tuple[ChannelName, ...] = ALL_CHANNELS
    channel_top_k: int = 24
    channel_deadlines_s: Mapping[ChannelName, float] = field(default_factory=lambda: dict.fromkeys(ALL_CHANNELS, 2.0))
    model_deadline_s: float = 60.0
    rules: BundleRules | None = None
    limits: BundleLimits | None = None
    agentic: bool = False
    routed: bool = False
    routes: Mapping[QuestionKind, Mapping[ChannelName, int]] | None = None

    def rules_for(self, question: str, default: BundleRules) -> BundleRules:
        """The ranker of this question's evidence; `default` where the profile brings no rules."""
        rules = self.rules or default
        if not self.routed:
            return rules
        return replace(rules, fusion=replace(rules.fusion, weights_milli=self.weights_by_kind[kind_of(question)]))

    @property
    def weights_by_kind(self) -> Mapping[QuestionKind, Mapping[ChannelName, int]]:
        """How much each channel counts for a kind of question, in thousandths."""
        return self.routes or ROUTES

    def ordering(self, default: BundleRules) -> object:
        """Everything that orders evidence under this profile, for the record."""
        rules = self.rules or default
        kinds = self.weights_by_kind.items()
        routes = {str(kind): {str(name): milli for name, milli in each.items()} for kind, each in kinds}
        return {"rules": rules, "routes": routes} if self.routed else rules


TEXT_WEIGHTS: Mapping[ChannelName, int] = {
    **dict.fromkeys(ChannelName, 300),
    ChannelName.FULLTEXT: 1000,
    ChannelName.VECTOR: 500,
}
_PLACES_FIRST = {**TEXT_WEIGHTS, ChannelName.SPATIAL: 1000}
ROUTES: Mapping[QuestionKind, Mapping[ChannelName, int]] = {
    QuestionKind.ATTRIBUTE: _PLACES_FIRST,
    QuestionKind.RELATION: {**_PLACES_FIRST, ChannelName.GRAPH: 1000},
    QuestionKind.AGGREGATE: _PLACES_FIRST,
    QuestionKind.SUPERLATIVE: _PLACES_FIRST,
    QuestionKind.TEXT: TEXT_WEIGHTS,
}
"""How much each channel counts for a kind of question, in thousandths; measured on relations and figures of Kansas
(docs/benchmarks.md)."""

KNEE_MILLI = 400
"""The share of a run's best under which a passage hardly counts."""

PASSAGES = BundleRules(
    fusion=FusionWeights(
        by_score=True,
        knee_milli=KNEE_MILLI,
        weights_milli=TEXT_WEIGHTS,
    ),
    rerank=RerankWeights(
        fused=1000,
        coverage=0,
        entity=0,
        time=0,
        direct=2000,
        title=200,
        names=150,
        linked=LINKED_MILLI,
        shared=SHARED_MILLI,
    ),
)
"""Order for a reader of passages rather than of answers: what the stores say, then whether the heading is asked for
or leads on from the best. Set on MuSiQue (docs/benchmarks.md)."""

WIDE = BundleLimits(max_items=1, max_tokens=10**9, max_tokens_per_source=10**9, per_source_items=10**6)
"""A result list is bounded by the number that was asked for alone."""

FOCUS = Profile(name="focus", generates=True)
BASIC = Profile(name="basic", generates=False)
AGENTIC = Profile(name="agentic", generates=True, agentic=True, rules=PASSAGES, limits=WIDE, routed=True)


def profile_named(name: str) -> Profile:
    """The profile of that name, else `UnknownProfile`."""
    for profile in (FOCUS, BASIC, AGENTIC):
        if profile.name == name:
            return profile
    raise UnknownProfile(f"unknown profile: {name!r}; there are focus, basic and agentic", field="options.profile")
