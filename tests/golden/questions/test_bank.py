"""The bank is whole, and its questions are answered rightly or not at all."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.golden.questions.asking import Result, listed, results, table
from tests.golden.questions.bank import Corpus
from tests.golden.questions.generate import FORMS, generated
from tests.golden.questions.judge import Verdict
from tests.golden.questions.metamorphic import KINDS, Unmoved, unmoved
from tests.harness import ingest, opened

CORPORA = ("kansas", "skerrow")
BANKS = [(name, group) for name in CORPORA for group in sorted({q.group for q in Corpus(name).questions})]
CROSSED = [(name, form.__name__) for name in CORPORA for form in FORMS]
CHANGED = [(name, how) for name in CORPORA for how in KINDS]
SEED = 20
CHANGED_EVERY = 6


@pytest.mark.parametrize("name", CORPORA)
def test_every_question_has_gold(name: str) -> None:
    corpus = Corpus(name)
    for question in corpus.questions:
        assert question.golds(corpus.world), question.id
        assert "abstain" not in question.gold or (question.abstains and not question.may_abstain), question.id


def test_the_bank_is_as_large_as_it_says() -> None:
    questions = Corpus("kansas").questions
    assert len(questions) >= 400
    assert sum(q.trap is not None for q in questions) >= 120
    assert sum(q.abstains for q in questions) >= 60
    assert sum(q.may_abstain is not None for q in questions) <= len(questions) // 8
    assert all(count == 1 for count in Counter((q.text.lower(), str(q.context)) for q in questions).values())


@dataclass(frozen=True)
class Asked:
    """What a corpus answered: its bank, random questions, and some of the right answers with one word changed."""

    bank: list[Result]
    random: list[Result]
    unmoved: list[Unmoved]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Asked]:
    """Takes a corpus in and asks it everything, the first time that a test wants it."""

    async def run(corpus: Corpus, home: Path) -> Asked:
        world = corpus.world
        await ingest(home, manifest=corpus.manifest)
        async with opened(home) as system:
            bank = await results(system, corpus.questions, world)
            crossed = await results(system, list(generated(corpus.name, world, SEED, 64)), world)
            right = [r for r in bank[::CHANGED_EVERY] if r.judgement.verdict is Verdict.RIGHT]
            changed = [fault for r in right for fault in await unmoved(system, r, world)]
            return Asked(bank, crossed, changed)

    @cache
    def of(name: str) -> Asked:
        return asyncio.run(run(Corpus(name), tmp_path_factory.mktemp(name) / "home"))

    return of


@pytest.fixture
def answered(request: pytest.FixtureRequest, once: Callable[[str], Asked]) -> Asked:
    """What the corpus of that name answered."""
    return once(request.param)


@pytest.mark.parametrize(("answered", "group"), BANKS, indirect=["answered"])
def test_no_answer_is_false(answered: Asked, group: str) -> None:
    false = listed([r for r in answered.bank if r.question.group == group], Verdict.FALSE)
    assert not false, false


@pytest.mark.parametrize("answered", CORPORA, indirect=True)
def test_nearly_all_are_right_or_rightly_abstained(answered: Asked) -> None:
    good = sum(r.judgement.good for r in answered.bank)
    assert good >= 0.97 * len(answered.bank), table(answered.bank)


@pytest.mark.parametrize(("answered", "form"), CROSSED, indirect=["answered"])
def test_no_answer_to_a_random_question_is_false(answered: Asked, form: str) -> None:
    false = listed([r for r in answered.random if r.question.group == f"random {form}"], Verdict.FALSE)
    assert not false, false


@pytest.mark.parametrize(("answered", "how"), CHANGED, indirect=["answered"])
def test_a_changed_question_is_not_answered_as_before(answered: Asked, how: str) -> None:
    same = [str(fault) for fault in answered.unmoved if fault.changed.how == how]
    assert not same, "\n".join(same)
