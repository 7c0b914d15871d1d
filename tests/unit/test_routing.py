"""The router: the kind of a question says how much each channel counts, in hybrid search and for the agent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ai.case.profiles import AGENTIC, BASIC, FOCUS, PASSAGES, ROUTES
from ai.search.surface import retrieval_profile
from ai.text.question_kind import QuestionKind
from retrieval.bundle import BundleRules
from retrieval.model import ChannelName

TREATIES = "Which nations signed treaties in 1854?"
STORY = "What did the settlers eat in winter?"
HYBRID = retrieval_profile(BASIC, "hybrid", 10)


def weights(question: str) -> dict[ChannelName, int]:
    return dict(HYBRID.rules_for(question, BundleRules()).fusion.weights_milli)


def test_a_relation_counts_what_is_related_in_full() -> None:
    assert weights(TREATIES)[ChannelName.GRAPH] == 1000
    assert weights(STORY)[ChannelName.GRAPH] == 300
    assert weights(STORY) == dict(PASSAGES.fusion.weights_milli)


def test_every_kind_has_a_weight_for_every_channel_and_text_never_counts_less() -> None:
    assert set(ROUTES) == set(QuestionKind)
    for kind, each in ROUTES.items():
        assert set(each) == set(ChannelName), kind
        for name in (ChannelName.FULLTEXT, ChannelName.VECTOR):
            assert each[name] == ROUTES[QuestionKind.TEXT][name]


def test_nothing_but_the_weights_is_routed() -> None:
    rules = HYBRID.rules_for(TREATIES, BundleRules())
    assert replace(rules, fusion=PASSAGES.fusion) == PASSAGES


@pytest.mark.parametrize(
    "profile", [retrieval_profile(BASIC, "keyword", 10), retrieval_profile(BASIC, "vector", 10), FOCUS]
)
def test_one_channel_and_the_answers_keep_their_own_order(profile: object) -> None:
    assert profile.rules_for(TREATIES, BundleRules()) == profile.rules_for(STORY, BundleRules())  # type: ignore[attr-defined]


def test_a_profile_with_rules_of_its_own_is_not_routed() -> None:
    assert not retrieval_profile(replace(BASIC, rules=PASSAGES), "hybrid", 10).routed
    assert AGENTIC.routed


def test_the_routes_are_on_record_where_they_order() -> None:
    default = BundleRules()
    assert HYBRID.ordering(default) != retrieval_profile(BASIC, "keyword", 10).ordering(default) == PASSAGES
    assert FOCUS.ordering(default) == default
