"""The cost of checking a draft: reading eight sentences and holding each to the admitted items, by itself."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ai.answer.draft.generate import read_draft
from ai.focus_pipeline import answer
from ai.model import AdmittedItem, Ask, Completion, ModelIdentity, Options, PromptSource
from ai.models.chat_model import ChatRequest
from ai.text.sentences import split_sentences
from api.home.configuration import load
from api.home.identity.principal import public_subject
from api.measure.bench.goals import Verdict
from api.measure.bench.statistics import Percentiles, settled
from api.measure.demonstration import sample_corpus
from api.wiring import System, new_id, open_ingest, open_system

SENTENCES, DRAFTS = 8, 30
"""Of one draft, and drafts for each kind of question in a round."""
GOAL_MS = 5.0
_ITEMS = 12
_MODEL = ModelIdentity("bench", "sha256:" + "0" * 64)
_DIGIT = re.compile(r"\d")
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "figures": (
        "What was the population of Ness County in 1910?",
        "Which was larger in 1930, Shawnee County or Sedgwick County?",
        "How did the population of Sedgwick County change between 1920 and 1950?",
        "What was the population of Topeka in 1900?",
        "Which was the largest county in Kansas by population in 1930?",
    ),
    "prose": (
        "What did the Lecompton constitution provide about slavery?",
        "What caused the Dust Bowl?",
        "What happened on April 14, 1935?",
        "What was said about the troops in Kansas?",
        "Why did the Dust Bowl end?",
    ),
}


class _Watching:
    """A `ChatModel` that keeps the request and abstains."""

    def __init__(self) -> None:
        self.request: ChatRequest | None = None

    async def identity(self) -> ModelIdentity:
        """See `ChatModel`."""
        return _MODEL

    async def complete(self, request: ChatRequest) -> Completion:
        """See `ChatModel`."""
        self.request = request
        return Completion("The sources do not answer this question.", _MODEL, 0, 0)

    async def aclose(self) -> None:
        """See `ChatModel`."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A draft with what it was written from."""

    request: ChatRequest
    items: tuple[AdmittedItem, ...]
    text: str


async def measure_claims(folder: Path, *, rounds: int) -> dict[str, Percentiles]:
    """Milliseconds of processor time for one draft, by kind of question, over the sample corpus. No draft is read
    twice; what depends on the question and its items alone is read once for all its drafts, as in a server."""
    configuration = load({}, home=folder / "home")
    async with open_ingest(configuration) as ingest:
        await ingest.run([], tenant="default", manifest=sample_corpus() / "manifest.toml")
    async with open_system(configuration) as system:
        asked = {kind: [await _asked(system, each) for each in questions] for kind, questions in QUESTIONS.items()}
    found: dict[str, Percentiles] = {}
    for kind, seen in asked.items():
        drafts = [list(_drafts(seen, f"{kind} {n}")) for n in range(rounds + 1)]
        found[kind] = settled([[_taken(each) for each in one] for one in drafts][1:])  # the first warms up
    return found


def claims_goals(figures: Mapping[str, Percentiles]) -> tuple[Verdict, ...]:
    """The goals, and whether they are met."""
    return tuple(
        Verdict(f"checking {SENTENCES} sentences, {kind}, p50", "ms", GOAL_MS, each.p50)
        for kind, each in figures.items()
    )


def claims_json(figures: Mapping[str, Percentiles]) -> dict[str, Any]:
    """The figures and their goals as one document."""
    goals = [asdict(each) | {"met": each.met} for each in claims_goals(figures)]
    return {kind: asdict(each) for kind, each in figures.items()} | {"goals": goals}


async def _asked(system: System, question: str) -> tuple[ChatRequest, tuple[AdmittedItem, ...]]:
    model = _Watching()
    services = replace(system.services, model=model, fallback=None)
    ask = Ask(new_id(), question, public_subject(system.data), options=Options(top_k=_ITEMS))
    done = await answer(ask, services=services, profile=system.profile("focus"))
    if model.request is None:
        raise AssertionError(f"nothing was admitted for: {question}")
    return model.request, done.items


def _drafts(seen: Sequence[tuple[ChatRequest, tuple[AdmittedItem, ...]]], seed: str) -> Iterator[_Draft]:
    """Drafts of sentences of the sources: half of them turned, half of them wrongly cited or not at all."""
    draw = random.Random(seed)  # noqa: S311  a sample, no secret
    for n in range(DRAFTS):
        request, items = seen[n % len(seen)]
        said = [(source.index, text) for source in request.prompt.sources for text in _sentences(source)]
        lines = []
        for index, text in draw.choices(said, k=SENTENCES):
            told = _turned(text, draw) if draw.random() < 0.5 else text
            cited = draw.choice((index, index, draw.choice(items).index, None))
            lines.append(told if cited is None else f"{told} [{cited}]")
        yield _Draft(request, items, "\n".join(lines))


def _sentences(source: PromptSource) -> Iterator[str]:
    if source.statement:
        yield source.statement
        return
    for span in split_sentences(source.text):
        yield " ".join(source.text[span.start : span.end].split())


def _turned(text: str, draw: random.Random) -> str:
    """Another digit, or two words exchanged."""
    digits = [match.start() for match in _DIGIT.finditer(text)]
    if digits:
        at = draw.choice(digits)
        return f"{text[:at]}{(int(text[at]) + draw.randint(1, 9)) % 10}{text[at + 1 :]}"
    words = text.split()
    one, other = draw.randrange(len(words)), draw.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def _taken(draft: _Draft) -> float:
    said = Completion(draft.text, _MODEL, 0, 0)
    request = draft.request
    began = time.thread_time()
    read_draft(
        said,
        prompt=request.prompt,
        items=draft.items,
        canaries=(),
        intent=request.intent,
        question=request.question,
    )
    return (time.thread_time() - began) * 1e3
