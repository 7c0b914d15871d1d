"""A small sample of `exhibit eval drafting`: nothing false leaves, right drafts are kept, and a checker that lets
everything pass is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from api import wiring
from api.home.configuration import load
from api.measure.eval.drafting import figures, prose
from api.measure.eval.drafting.corpus import figures_of, records_of, sentences_of
from api.measure.eval.drafting.model import Result, Trial
from api.measure.eval.drafting.run import part_of, rate, released, tried


async def sample(home: Path, per_kind: int) -> list[Trial]:
    async with wiring.open_indexes(load({}, home=home)) as (store, _, _):
        records = await records_of(store, "default")
    made = list(figures.trials(figures_of(records), per_kind=per_kind, seed=5))
    return [*made, *prose.trials(sentences_of(records, most=400), per_kind=per_kind, seed=5)]


async def test_a_sample_of_every_kind(kansas: wiring.System, kansas_home: Path) -> None:
    trials = [t for t in await sample(kansas_home, 1) if (t.family, t.kind) != ("prose", "beside the point")]
    assert len({(t.family, t.kind) for t in trials if not t.right}) >= 50
    results = await tried(kansas, trials, lambda _: None)
    released = [r for r in results if r.released and not r.trial.right]
    assert released == []
    right = [r for r in results if r.trial.right]
    assert sum(r.released for r in right) >= 0.9 * len(right), [r.draft for r in right if not r.released]
    assert part_of("sample", results)["ways"]["all wrong drafts"]["released_false"]["mean"] == 0


async def test_the_same_seed_makes_the_same_drafts(kansas_home: Path) -> None:
    one, other = [await sample(kansas_home, 1) for _ in range(2)]
    assert [(t.kind, t.question) for t in one] == [(t.kind, t.question) for t in other]


@pytest.mark.parametrize("family", ["figure", "prose"])
async def test_a_release_of_everything_is_measured_as_such(kansas_home: Path, family: str) -> None:
    trials = [t for t in await sample(kansas_home, 1) if t.family == family and not t.right]
    part = part_of("lie", [Result(t, t.question, True, "ANSWER", t.question) for t in trials])
    assert part["ways"]["all wrong drafts"]["released_false"]["mean"] == 1
    assert not part["goals"]["not released, of all wrong drafts"]["met"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["The mill burned.", "It was built again."], True),
        (["He said: The mill burned.", "It was built again."], True),  # who splits a text may split it elsewhere
        (["It was built again."], False),
        (["The mill burned.", "The school is new.", "It was built again."], False),
        (["It was built again.", "The mill burned."], False),
    ],
)
def test_a_sentence_that_leans_is_released_only_right_behind_the_one_before_it(said: list[str], expected: bool) -> None:
    trial = Trial("prose", "leaning", "What burned?", lambda _: None, adjoining=True)
    body = {"sentences": [{"text": text, "citations": [1]} for text in said]}
    assert bool(released(body, trial, ("The mill burned.", "It was built again."))) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["It became a town in 1413.", "14th-century trade was poor."], True),  # cut where the generator does not
        (["It became a town in 1413.", "14th-century trade was rich."], False),
        (["It became a town in 1413."], False),
        (["14th-century trade was poor.", "It became a town in 1413."], False),
        (["It became a town in 1413. No trade.", "14th-century trade was poor."], False),
    ],
)
def test_a_draft_that_the_product_cuts_in_two_is_released_whole(said: list[str], expected: bool) -> None:
    trial = Trial("prose", "verbatim", "When?", lambda _: None)
    body = {"sentences": [{"text": text, "citations": [1]} for text in said]}
    draft = "It became a town in 1413. 14th-century trade was poor."
    assert bool(released(body, trial, (draft,))) == expected


def test_what_is_released_without_a_citation_does_not_count() -> None:
    trial = Trial("prose", "verbatim", "What burned?", lambda _: None)
    body = {
        "sentences": [{"text": "The mill burned.", "citations": []}, {"text": "The barn burned.", "citations": [1]}]
    }
    assert released(body, trial, ("The mill burned.",)) == []
    assert released(body, trial, ("The barn burned.",)) == ["the barn burned"]


def test_a_rate_without_a_single_case_has_an_upper_bound() -> None:
    assert rate([False] * 60) == {"mean": 0.0, "low": 0.0, "high": 0.0602}
    assert rate([True, False])["low"] > 0.09
    assert rate([True] * 60)["low"] == 0.9398
    with pytest.raises(ValueError, match="no cases"):
        rate([])
