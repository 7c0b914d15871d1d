"""CLAPNQ (Rosenthal et al. 2024): retrieval of the annotated passage, and abstention on questions without an answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ai.model import Mode
from ai.models.candidates import PARAMETERS
from api.home.stores import Extractive
from api.http.ablation.measures import figure, recall
from api.measure.eval.asking import Text, answer_of, by_mode, make_home, open_patiently, outcome_of
from api.measure.eval.tables import Part, goal, share, told
from api.wiring import System, open_chat

FILES = ("clapnq_dev_answerable.jsonl", "clapnq_dev_unanswerable.jsonl")
THRESHOLDS = (300, 400, 500, PARAMETERS.min_coverage, 650, 750, 900)
JUDGES = {"words alone": None, "reader, stated rate 0.10": 100}
ASKED = 100
RECALL_GOAL = 0.97
_MEASURES = ("precision", "recall", "answered_of_answerable")
_WORD, _MARKER = re.compile(r"\w+"), re.compile(r"\[\d+\]")
_ARTICLES = ("a", "an", "the")
MODES: tuple[Mode, ...] = ("keyword", "vector", "hybrid")


@dataclass(frozen=True)
class Question:
    """A question, the key of its passage, and the answers that were written for it; none where the passage has none."""

    text: str
    key: str
    answers: tuple[str, ...]


def read(folder: Path) -> tuple[list[Text], list[Question], list[str]]:
    """The pool of all passages, answerable questions, and unanswerable ones."""
    texts: dict[tuple[str, str], Text] = {}
    asked: list[list[Question]] = []
    for name in FILES:
        asked.append([])
        for line in (folder / name).read_text("utf-8").splitlines():
            each = json.loads(line)
            passage = each["passages"][0]
            identity = passage["title"], passage["text"]
            text = texts.setdefault(identity, Text(f"q{len(texts):05d}", *identity))
            answers = tuple(output["answer"] for output in each["output"] if output.get("answer"))
            asked[-1].append(Question(each["input"], text.key, answers))
    return list(texts.values()), asked[0], [question.text for question in asked[1]]


async def run(folder: Path, work: Path) -> Part:
    """Recall@5 per mode over all answerable questions, and the curve of abstention over the first hundred of each
    kind."""
    texts, answerable, unanswerable = read(folder)
    home = await make_home(work / "clapnq", texts)
    found: dict[str, Any] = {}
    async with open_patiently(home) as system:
        for mode in MODES:
            values = [recall((await by_mode(system, each.text, mode)).ranked, {each.key}, 5) for each in answerable]
            found[mode] = {"recall_5": told(figure(values))}
        answered = {name: await _answered(system, rate, answerable, unanswerable) for name, rate in JUDGES.items()}
        curve = [
            await _abstention(system, threshold, [each.text for each in answerable[:ASKED]], unanswerable[:ASKED])
            for threshold in sorted(set(THRESHOLDS))
        ]
    columns = ["least coverage", "precision of abstaining", "recall", "answered of answerable"]
    judged = [[name, *(f"{each['mean']}" for each in told.values())] for name, told in answered.items()]
    rows = [
        [f"{c['threshold']}{' (shipped)' if c['shipped'] else ''}", *(c[name] for name in _MEASURES)] for c in curve
    ]
    return {
        "name": "CLAPNQ",
        "questions": len(answerable) + len(unanswerable),
        "passages": len(texts),
        "ways": found,
        "answered": answered,
        "abstention": curve,
        "tables": [
            {
                "title": "Answered",
                "columns": ["by", "of the answerable", "of the others", "token F1 where answered"],
                "rows": judged,
            },
            {"title": "Abstention", "columns": columns, "rows": rows},
        ],
        "goals": {"hybrid recall@5": goal(RECALL_GOAL, found["hybrid"]["recall_5"]["mean"])},
    }


async def _answered(
    system: System, rate_milli: int | None, answerable: list[Question], unanswerable: list[str]
) -> dict[str, Any]:
    """The share of each kind of question that the whole product answers, with the reader at that rate, or by words
    alone; and of the answerable ones that it answers, how far its words are those of an answer that was written."""
    async with AsyncExitStack() as stack:
        model = open_chat(Extractive(PARAMETERS.min_coverage, PARAMETERS.max_sentences, rate_milli), stack)
        other = replace(system, services=replace(system.services, model=model))
        said = [await answer_of(other, each.text) for each in answerable]
        shared = [
            max((token_f1(answer, written) for written in each.answers), default=0.0)
            for each, (outcome, answer) in zip(answerable, said, strict=True)
            if outcome != "ABSTAIN"
        ]
        return {
            "of the answerable": share([outcome != "ABSTAIN" for outcome, _ in said]),
            "of the others": share([await outcome_of(other, question) != "ABSTAIN" for question in unanswerable]),
            "token F1 where answered": told(figure(shared)) if shared else {"mean": 0.0},
        }


def token_f1(said: str, written: str) -> float:
    """The harmonic mean of how many of each text's words the other has, as SQuAD counts them (Rajpurkar et al. 2016):
    without punctuation, articles and markers, in any case; from 0 to 1."""
    one, other = _tokens(said), _tokens(written)
    held = (one & other).total()
    return 2 * held / (one.total() + other.total()) if held else 0.0


def _tokens(text: str) -> Counter[str]:
    words = _WORD.findall(_MARKER.sub(" ", text).casefold())
    return Counter(word for word in words if word not in _ARTICLES)


async def _abstention(
    system: System, threshold: int, answerable: list[str], unanswerable: list[str]
) -> dict[str, float | int | bool]:
    """Precision and recall of abstaining: it is right where there is no answer in the pool."""
    async with AsyncExitStack() as stack:
        model = open_chat(Extractive(min_coverage_milli=threshold, max_sentences=PARAMETERS.max_sentences), stack)
        other = replace(system, services=replace(system.services, model=model))
        wrong = sum([await outcome_of(other, question) == "ABSTAIN" for question in answerable])
        right = sum([await outcome_of(other, question) == "ABSTAIN" for question in unanswerable])
    return {
        "threshold": threshold,
        "shipped": threshold == PARAMETERS.min_coverage,
        "precision": round(right / (right + wrong), 3) if right + wrong else 0.0,
        "recall": round(right / len(unanswerable), 3),
        "answered_of_answerable": round(1 - wrong / len(answerable), 3),
    }
